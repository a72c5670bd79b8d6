// Changes that people and the merchant's backend ask for on one invoice: decided and written down in one transaction,
// carried out by the workers.
import {
  type Commanded,
  type Refusal,
  refuse,
  type RefundRequest,
  requestRefund,
  resolveReview,
} from './rules/apply-command.js';
import { idTaken, identifyPayment } from '../renewals/rules/identify-payment.js';
import { type Ctx, emptyLane } from '../domain/lane/change.js';
import { type Completion, completeSignup } from '../signups/rules/complete-signup.js';
import { type LaneState, type PaymentRow, type RefundRow, type Resolution, type ReviewRow } from '../domain/model.js';
import { type Books } from '../domain/ports/books.js';
import { type LaneStore, NotUnique } from '../domain/ports/lane-store.js';
import { type ReviewDesk } from '../domain/ports/review-desk.js';
import { type NamedRequest } from '../domain/ports/signups.js';
import { changeLane, type Done, type LaneParts } from './change-lane.js';
import { type FlowContext } from './flow-context.js';
import { type Wake } from './wake.js';

/** PostgreSQL's own name of `payment.payment_id unique`. */
const PAYMENT_ID_UNIQUE = 'payment_payment_id_key';

export class CommandFlow {
  private readonly lanes: LaneParts;

  constructor(
    store: LaneStore,
    private readonly books: Books,
    private readonly context: FlowContext,
    wake: Wake,
    private readonly desk: ReviewDesk,
  ) {
    this.lanes = { store, context, wake };
  }

  /**
   * `id`: `pay_…` or our own; both are one scope of names. The refund is written down with its key; the MoR has not been asked yet. Under
   * a `name` that was used before it gives the refund that was made then, as it is now: two requests at once wait for each other at the
   * lane's lock.
   */
  async requestRefund(
    id: string,
    request: RefundRequest,
    name: Omit<NamedRequest, 'method' | 'path'> | null,
  ): Promise<Done<RefundRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    const scope = name === null ? null : ['caller', name.apiKey, name.idempotencyKey];
    const act = (s: LaneState, ctx: Ctx): Commanded<RefundRow> => requestRefund(s, rowId, request, ctx, scope);
    if (name === null) return changeLane(this.lanes, invoiceId, act);
    const path = `/v1/payments/${found.payment.paymentId ?? rowId}/refunds`;
    return changeLane(this.lanes, invoiceId, act, { name: { ...name, method: 'POST', path }, find: refundOf });
  }

  async completeSignup(invoiceId: string, completion: Completion): Promise<Done<PaymentRow>> {
    try {
      return await changeLane(this.lanes, invoiceId, (s, ctx) => completeSignup(s, completion, ctx));
    } catch (e) {
      const taken = completion.paymentId ? await this.taken(e, completion.paymentId) : null;
      if (taken !== null) return taken;
      if (e instanceof NotUnique) {
        return refuse(
          409,
          'charge_already_used',
          'This charge is already the payment of another invoice.',
          'charge_id',
        );
      }
      throw e;
    }
  }

  /** `id`: our own, or `pay_…` of one that has its name. Unique over all invoices: a clash is refused with the name of the other. */
  async identify(id: string, paymentId: string, by: string): Promise<Done<PaymentRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    try {
      return await changeLane(this.lanes, invoiceId, (s, ctx) => identifyPayment(s, rowId, paymentId, by, ctx));
    } catch (e) {
      const taken = await this.taken(e, paymentId);
      if (taken === null) throw e;
      return taken;
    }
  }

  /** The database refused an id that a payment of another invoice holds: which one. */
  private async taken(e: unknown, paymentId: string): Promise<Refusal | null> {
    if (!(e instanceof NotUnique) || e.constraint !== PAYMENT_ID_UNIQUE) return null;
    const holder = await this.books.payment(paymentId);
    return holder === null ? null : idTaken(paymentId, holder.payment);
  }

  async resolveReview(
    id: string,
    choice: { readonly resolution: Resolution; readonly note: string | null; readonly by: string },
  ): Promise<Done<ReviewRow>> {
    const review = await this.books.review(id);
    if (review === null) return refuse(404, 'not_found', 'There is no such review item.');
    if (review.invoiceId === null) return this.resolveLoose(review, choice);
    try {
      return await changeLane(this.lanes, review.invoiceId, (s, ctx) => resolveReview(s, id, choice, ctx));
    } catch (e) {
      if (e instanceof NotUnique) {
        return refuse(
          409,
          'charge_already_used',
          'The charge of this payment is already the payment of another invoice.',
        );
      }
      throw e;
    }
  }

  /** An item without an invoice: no lane's lock orders two people, so who comes second is told what the first chose. */
  private async resolveLoose(
    review: ReviewRow,
    choice: { readonly resolution: Resolution; readonly note: string | null; readonly by: string },
  ): Promise<Done<ReviewRow>> {
    const alone = { ...emptyLane(review.subject), reviews: [review] };
    const done = resolveReview(alone, review.id, choice, this.context.now());
    if (!done.ok || review.status !== 'open') return done;
    if (await this.desk.close(done.value)) return done;
    const now = await this.books.review(review.id);
    if (now === null || now.status === 'open') return refuse(404, 'not_found', 'There is no such review item.');
    return this.resolveLoose(now, choice);
  }
}

function refundOf(s: LaneState, id: string): RefundRow | undefined {
  return s.refunds.find((r) => r.id === id);
}

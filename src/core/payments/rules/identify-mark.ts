// Stripe shows the invoice as paid: searches Stripe for our own mark.
import { type Mutable } from '../../../shared/domain/row.js';
import { type CallOutcome, LIST_TOO_LONG } from '../../../shared/domain/ports/call.js';
import { type BillingReply, type BillingCall } from '../../../shared/domain/ports/billing-platform.js';
import { type Lookup } from '../../../engine/lookup.js';
import { findToLookUp } from './mark.js';
import { isFresh } from '../../books/rules/invoice-facts.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { moveMark, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type Money } from '../../../shared/domain/money.js';
import { type Parking, ofPaid } from './amount.js';
import { observationsOf } from '../../books/rules/open-money.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { confirm, reviewIfBeyond, findOutOfBand } from './mark-calls.js';
import { reportOf, referenceOf } from './mark-steps.js';
import { isCallOf } from '../../../engine/call.js';

type Payment = Mutable<PaymentRow>;

type Checked = CallOutcome<{ readonly done: true; readonly reply: BillingReply } | { readonly done: false }>;

/** Stripe shows the invoice as paid. This lookup searches Stripe for our own mark of the payment. */
export const identifyLookup: Lookup<{ readonly payment: string; readonly asked: BillingCall }, Checked> = {
  name: 'identify',
  wanted: (lane) => {
    const p = findToLookUp(lane);
    return p === undefined || !isFresh(lane.invoice, lane.now)
      ? null
      : { payment: p.id, asked: callToSearchFor(lane, p) };
  },
  ask: ({ asked }, { platform }) => platform.check(asked),
  apply: (lane, outcome, { payment }) => {
    const p = lane.findPayment(payment);
    const i = lane.invoice;
    if (p === undefined || i === null || p.mark !== 'waiting') return;
    // After most failures Crossbill searches again later. After two kinds of failure a later search would find no more,
    // so a person decides. 404: this Stripe account has no such list. LIST_TOO_LONG: Crossbill could search only the
    // invoice's own payments.
    if (!outcome.ok && outcome.status !== 404 && outcome.code !== LIST_TOO_LONG) {
      i.readAttempts += 1;
      i.readAt = null;
      i.readDueAt = retryAt(lane.ctx, i.readAttempts, outcome.retryAfterMs);
      return;
    }
    applyIdentified(lane, p, i, outcome.ok && outcome.value.done ? outcome.value.reply : null);
  },
};

function applyIdentified(lane: Lane, payment: Payment, invoice: InvoiceRow, reply: BillingReply | null): void {
  const taken: Money = { minor: payment.amount ?? 0n, currency: payment.currency };
  const park = (item: Parking): void => {
    moveMark(payment, 'parked');
    lane.openReview({ ...item, subject: payment.id, paymentRowId: payment.id });
  };
  if (reply === null) return park(ofPaid(invoice, taken, payment.paymentRecordId, observationsOf(lane)));
  if (reply.kind === 'set_reference') {
    payment.markMode = 'out_of_band';
    return;
  }
  if (reply.kind === 'report_payment') {
    const { paymentRecordId } = reply;
    // A payment record belongs to one payment. If two payments have the same record, the MoR reported one charge under
    // two ids.
    const twin = lane.payments.find((x) => x.id !== payment.id && x.paymentRecordId === paymentRecordId);
    if (twin !== undefined) {
      const fact = {
        code: 'named-again',
        taken,
        charge: payment.processorChargeId,
        payment: effectName(twin),
      } as const;
      return park({ kind: 'double_payment', fact });
    }
    Object.assign(payment, { paymentRecordId, markMode: 'payment_record' });
    return;
  }
  payment.markMode = reply.kind === 'attach_payment' ? 'payment_record' : 'out_of_band';
  confirm(lane, payment, 'found on Stripe');
  reviewIfBeyond(lane, payment, lane.invoice, findOutOfBand(reply));
}

/** The call that may have marked this paid invoice for us. Crossbill searches Stripe for the call's effect. */
function callToSearchFor(lane: Lane, payment: PaymentRow): BillingCall {
  const { invoiceId, paymentRecordId } = payment;
  if (paymentRecordId !== null) return { kind: 'attach_payment', invoiceId, paymentRecordId };
  // The invoice carries our reference. The search now shows if the invoice was paid out of band, or if Stripe collected
  // the money after all.
  if (payment.markMode === 'out_of_band') return { kind: 'pay_out_of_band', invoiceId };
  if (lane.settings.markMode !== 'out_of_band') return reportOf(payment, payment.amount ?? 0n, lane.now);
  // Search for the reference that Crossbill wrote: the payment may have another id by now.
  const written = lane.calls.findLast((m) => m.kind === 'set_reference' && isCallOf(m, payment))?.asked ?? null;
  return (
    written ?? { kind: 'set_reference', invoiceId, paymentId: effectName(payment), reference: referenceOf(payment) }
  );
}

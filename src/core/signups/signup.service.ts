// Makes signups and new payment methods: stores the request with its key, gets the intent from the MoR, and links the
// customer. The completion gives a signup's first invoice its payment.
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { type Refusal, refuse, type Result } from '../../engine/commanded.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { morKey } from '../../shared/domain/mor-key.js';
import { money, type Money } from '../../shared/domain/money.js';
import { ReadModel } from '../../engine/read-model.js';
import { type CallFailure } from '../../shared/domain/ports/call.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { NotUnique } from '../../engine/lane.repository.js';
import { type IntentReply, PaymentGateway } from '../../shared/domain/ports/payment-gateway.js';
import { type Remembered, type RequestName } from '../../shared/domain/request-name.js';
import { Requests } from '../../frames/store/requests.js';
import { SIGNUP, type SignupRow } from '../../shared/domain/signup.js';
import { newRow } from '../../shared/domain/row.js';
import { SignupsRepository } from './signups.repository.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { paymentIdTaken } from '../payments/payments.service.js';
import { type NoPrice, SignupPrice, type SignupRequest } from './signup-price.js';
import { type Completion, completeSignup } from './rules/signup.js';
import { BUSY_POLL_EVERY_MS, SIGNUP_BUSY_MS } from '../../shared/policy.js';

export type SignupMade =
  | { readonly outcome: 'made'; readonly signup: SignupRow; readonly intent: IntentReply }
  | NoPrice
  | { readonly outcome: 'conflict' } // another request used the idempotency key
  | { readonly outcome: 'failed'; readonly failure: CallFailure; readonly signup: SignupRow };

type Charge = {
  readonly chargeId: string;
  readonly invoiceId: string;
  readonly amount: bigint;
  readonly currency: string;
  /** The MoR's `pay_…`. Null or absent: unknown. */
  readonly paymentId?: string | null;
};
type Completed = { readonly ok: true; readonly signup: SignupRow; readonly payment: PaymentRow } | Refusal;

@Injectable()
export class SignupService {
  constructor(
    private readonly signups: SignupsRepository,
    private readonly books: ReadModel,
    private readonly gateway: PaymentGateway,
    private readonly lanes: LaneChanges,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly requests: Requests,
    private readonly price: SignupPrice,
  ) {}

  /**
   * Makes a signup. For a known idempotency key Crossbill sends the stored request again, because only the MoR's
   * replayed reply has the client secret. `body`: the caller's own bytes, to tell a repeat from a conflict. Crossbill
   * reads the named invoice and makes a requested tax calculation before it stores the signup. A repeat does neither:
   * the invoice may be paid by then.
   */
  async create(req: SignupRequest, name: RequestName | null, body: string): Promise<SignupMade> {
    const bodySha256 = createHash('sha256').update(body).digest();
    if (name !== null && (req.calculation !== null || req.invoiceId !== null)) {
      const known = await this.requests.recall(name, bodySha256);
      if (known.known) return this.again(known, req);
    }
    const priced = await this.price.sum(req);
    if ('outcome' in priced) return priced;
    const { sum } = priced;
    const bound = await this.price.bind(req, sum);
    if ('outcome' in bound) return bound;
    const { call } = bound;
    const id = this.ids.next(req.kind === 'method' ? 'met' : 'sup');
    const wire = this.gateway.encode(call);
    const row = newRow(SIGNUP, {
      id,
      kind: req.kind,
      customerId: req.customerId,
      amount: sum?.minor ?? null,
      currency: sum?.currency ?? null,
      status: 'requested',
      taxCalculationId: call.taxCalculationId,
      // If the caller gave no idempotency key, the key for the MoR contains Crossbill's own id. A restored backup may
      // lack this id, so the caller's repeat would then make another signup.
      morKey: name === null ? `crossbill:signup:${id}` : keyOf(req, name),
      path: wire.path,
      body: wire.body,
      createdBy: req.by,
      createdAt: this.clock.now(),
    });
    const remembered = await this.signups.create(row, name === null ? null : { ...name, bodySha256 });
    return remembered.known ? this.again(remembered, req) : this.send(row, req);
  }

  private async again(known: Extract<Remembered, { known: true }>, req: SignupRequest): Promise<SignupMade> {
    if (!known.sameBody) return { outcome: 'conflict' };
    const signup = await this.signups.find(known.objectId);
    return signup === null ? { outcome: 'conflict' } : this.send(signup, req);
  }

  private async send(signup: SignupRow, req: SignupRequest): Promise<SignupMade> {
    await this.takeTurn(signup.id);
    const wire = { method: 'POST', path: signup.path, body: signup.body } as const;
    const outcome = await this.gateway.createIntent(wire, signup.morKey);
    if (!outcome.ok) {
      if (outcome.code === 'tax_calculation_not_found' && mayRecalculate(signup, req))
        return this.sendAnew(signup, req);
      const status = outcome.kind === 'refused' && signup.status === 'requested' ? 'refused' : 'requested';
      await this.signups.unanswered(signup.id, status);
      return { outcome: 'failed', failure: outcome, signup };
    }
    const { intentId, morCustomerId, status } = outcome.value;
    await this.signups.answered(signup.id, { intentId, morCustomerId, status });
    const now = (await this.signups.find(signup.id)) ?? { ...signup, intentId, morCustomerId, status };
    return { outcome: 'made', signup: now, intent: outcome.value };
  }

  /**
   * Makes another calculation after an expired or used one (Document 3, `tax_calculation_not_found`), and sends a new
   * request under a new key.
   */
  private async sendAnew(signup: SignupRow, req: SignupRequest): Promise<SignupMade> {
    const bound = await this.price.bind(req, sumOf(signup));
    if ('outcome' in bound || bound.call.taxCalculationId === null) {
      await this.signups.unanswered(signup.id, 'refused');
      return 'outcome' in bound ? bound : { outcome: 'conflict' };
    }
    const { taxCalculationId } = bound.call;
    const to = { taxCalculationId, morKey: `${signup.morKey}:2`, body: this.gateway.encode(bound.call).body };
    await this.signups.rebind(signup.id, to);
    await this.signups.unanswered(signup.id, 'requested');
    return this.send({ ...signup, ...to, recalculated: true }, req);
  }

  /**
   * Waits for this signup's lock, because only one of its requests goes out at a time. The lock of a dead process
   * expires.
   */
  private async takeTurn(id: string): Promise<void> {
    while (!(await this.signups.claim(id, SIGNUP_BUSY_MS))) {
      await this.clock.sleep(BUSY_POLL_EVERY_MS);
    }
  }

  /**
   * Makes the browser's charge the payment of the first invoice. A repeat changes nothing. Refuses another charge or
   * invoice for the same signup.
   */
  async complete(id: string, charge: Charge): Promise<Completed> {
    if ((await this.signups.find(id)) === null) return refuse(404, 'not_found', 'There is no such signup.');
    await this.takeTurn(id); // of two requests with different charges only one succeeds
    try {
      return await this.completeAlone(id, charge);
    } finally {
      await this.signups.unanswered(id, 'requested'); // ends the lock; a signup with a reply keeps its status
    }
  }

  private async completeAlone(id: string, charge: Charge): Promise<Completed> {
    const signup = await this.signups.find(id);
    if (signup === null || signup.kind === 'method') return refuse(404, 'not_found', 'There is no such signup.');
    if (signup.kind === 'trial') {
      return refuse(
        409,
        'signup_has_no_payment',
        'A trial takes no money at signup, so it needs no charge: its first paid invoice is a renewal.',
      );
    }
    if (signup.intentId === null) {
      return refuse(
        409,
        'signup_not_ready',
        "The MoR has not made this signup's payment intent yet: send the signup again first.",
      );
    }
    if (signup.completedAt !== null && (signup.chargeId !== charge.chargeId || signup.invoiceId !== charge.invoiceId)) {
      return refuse(
        409,
        'signup_already_completed',
        'This signup was completed with another charge or invoice.',
        'charge_id',
      );
    }
    const elsewhere = (await this.books.invoicesOfCharge(charge.chargeId)).some(
      (invoice) => invoice !== charge.invoiceId,
    );
    if (elsewhere) return chargeUsed();
    const said = money(charge.amount, charge.currency);
    const done = await this.record(charge.invoiceId, {
      signupId: id,
      customerId: signup.customerId,
      morCustomerId: signup.morCustomerId,
      paymentIntentId: signup.intentId,
      chargeId: charge.chargeId,
      paymentId: charge.paymentId ?? null,
      asked: sumOf(signup) ?? said,
      said,
    });
    if (!done.ok) return done;
    await this.signups.completed(id, {
      invoiceId: charge.invoiceId,
      chargeId: charge.chargeId,
      paymentRowId: done.value.id,
    });
    const now = (await this.signups.find(id)) ?? signup;
    return { ok: true, signup: now, payment: done.value };
  }

  private async record(invoiceId: string, completion: Completion): Promise<Result<PaymentRow>> {
    try {
      return await this.lanes.change(invoiceId, (lane) => completeSignup(lane, completion));
    } catch (e) {
      const taken = completion.paymentId ? await paymentIdTaken(this.books, e, completion.paymentId) : null;
      if (taken !== null) return taken;
      if (e instanceof NotUnique) return chargeUsed();
      throw e;
    }
  }
}

function sumOf({ amount, currency }: SignupRow): Money | null {
  return amount === null || currency === null ? null : money(amount, currency);
}

function chargeUsed(): Refusal {
  return refuse(409, 'charge_already_used', 'This charge is already the payment of another invoice.', 'charge_id');
}

/**
 * The key for the MoR. A caller may use one Idempotency-Key for a signup and for each customer's payment method, so the
 * key also contains the kind of object.
 */
function keyOf(req: SignupRequest, { apiKey, idempotencyKey }: RequestName): string {
  return req.kind === 'method'
    ? morKey('method', [apiKey, req.customerId, idempotencyKey])
    : morKey('signup', [apiKey, idempotencyKey]);
}

/**
 * True if Crossbill may make the signup's tax calculation a second time: Crossbill made the first calculation itself,
 * and the MoR has not made the intent yet.
 */
function mayRecalculate(signup: SignupRow, req: SignupRequest): boolean {
  return req.calculation !== null && !signup.recalculated && signup.intentId === null;
}

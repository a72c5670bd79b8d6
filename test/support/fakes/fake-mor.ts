// The MoR's intents and refunds, and the relay, as fakes that keep state.
import { type CallFailure, type CallOutcome, type WireRequest } from '../../../src/shared/domain/ports/call.js';
import { type Clock } from '../../../src/shared/domain/ports/clock.js';
import {
  EventRelay,
  type ChargeState,
  type CustomerDetails,
  type IntentReply,
  type MorCall,
  PaymentGateway,
  type RefundReply,
} from '../../../src/shared/domain/ports/payment-gateway.js';
import { answered, DAY_MS, failed, fromWire, toWire, type Trouble } from './fake-platform.js';

/** The MoR's intents and refunds. Refunds are idempotent by key for a day, and never exceed the payment. */
export class FakePaymentGateway extends PaymentGateway {
  /** Every requested change, in order. */
  readonly calls: { readonly call: MorCall; readonly wire: WireRequest; readonly key: string }[] = [];
  /** The outcome of every change; null: the fake replies. */
  failWith: CallFailure | null = null;
  readonly payments = new Map<string, { minor: bigint; currency: string; refunded: bigint }>();
  readonly charges = new Set<string>();
  silent = false; // true: no replies about charges
  /** Charges the MoR knows and that have not settled. */
  readonly pendingCharges = new Set<string>();
  readonly asked: string[] = [];
  /** Refunds that moved money or will move it. */
  readonly made: RefundReply[] = [];
  readonly clashes: string[] = [];
  readonly trouble: Trouble[] = [];
  /** The status of the next refund in the reply. */
  nextStatus: RefundReply['status'] = 'succeeded';
  /** Changes a reply on its way, to play a MoR that replies to another request. */
  distort: (reply: RefundReply) => RefundReply = (a) => a;
  readonly #kept = new Map<string, { body: string | null; outcome: CallOutcome<RefundReply>; at: number }>();

  constructor(private readonly clock: Clock) {
    super();
  }

  override encode(call: MorCall): WireRequest {
    return toWire(call, `/fake/${call.kind}`);
  }

  override detailsIn(): CustomerDetails {
    return {};
  }

  override async createIntent(wire: WireRequest, key: string): Promise<CallOutcome<IntentReply>> {
    this.ask('intent', wire, key);
    if (this.failWith !== null) return this.failWith;
    const trouble = this.trouble.shift();
    if (trouble === 'refused') return failed('refused');
    if (trouble !== undefined) return failed('unknown');
    const name = key.replace(/\W/g, '_');
    const status = 'requires_payment_method';
    return answered({
      clientSecret: `canary secret of ${key}`,
      intentId: `pi_${name}`,
      morCustomerId: `mcus_${name}`,
      status,
    });
  }

  override async createRefund(wire: WireRequest, key: string): Promise<CallOutcome<RefundReply>> {
    this.ask('refund', wire, key);
    if (this.failWith !== null) return this.failWith;
    const kept = this.#kept.get(key);
    if (kept !== undefined && this.clock.now().getTime() - kept.at < DAY_MS) {
      if (kept.body === wire.body) return kept.outcome;
      this.clashes.push(key);
      return failed('refused', { status: 409, code: 'idempotency_conflict' });
    }
    const trouble = this.trouble.shift();
    if (trouble === 'retry') return failed('retry');
    if (trouble === 'lost-request') return failed('unknown');
    const refusal = trouble === 'refused' ? 422 : trouble === 'key-in-use' ? 409 : null;
    if (refusal !== null) return failed('refused', { status: refusal });
    const outcome = this.refund(fromWire<Extract<MorCall, { kind: 'create_refund' }>>(wire));
    this.#kept.set(key, { body: wire.body, outcome, at: this.clock.now().getTime() });
    return trouble === 'lost-answer' ? failed('unknown') : outcome;
  }

  private ask(what: string, wire: WireRequest, key: string): void {
    this.asked.push(`${what} ${key}`);
    this.calls.push({ call: fromWire<MorCall>(wire), wire, key });
  }

  private refund(morCall: Extract<MorCall, { kind: 'create_refund' }>): CallOutcome<RefundReply> {
    const p = this.payments.get(morCall.paymentId);
    if (p === undefined) return failed('refused', { status: 404, code: 'payment_not_found' });
    if (p.refunded + morCall.amountMinor > p.minor) return failed('refused', { status: 400, code: 'invalid_request' });
    const status = this.nextStatus;
    if (status !== 'failed') p.refunded += morCall.amountMinor;
    const n = this.made.length + 1;
    const made: RefundReply = {
      morRefundId: `rfnd_api${n}`,
      paymentId: morCall.paymentId,
      amountMinor: morCall.amountMinor,
      currency: p.currency,
      status,
      reason: morCall.reason,
      processorRefundId: `re_api${n}`,
      createdAt: this.clock.now(),
    };
    if (status !== 'failed') this.made.push(made);
    return answered(this.distort(made));
  }

  override async lookUpCharge(processorChargeId: string): Promise<CallOutcome<ChargeState>> {
    this.asked.push(`charge ${processorChargeId}`);
    if (this.silent) return failed('unknown');
    if (this.pendingCharges.has(processorChargeId)) return answered('pending');
    return answered(this.charges.has(processorChargeId) ? 'charged' : 'unknown');
  }
}

export class FakeRelay extends EventRelay {
  override readonly enabled = true;
  readonly sent: string[] = [];
  down = false; // true: nothing replies
  override async send(body: Buffer): Promise<CallOutcome<null>> {
    this.sent.push(body.toString('utf8'));
    return this.down ? failed('unknown') : answered(null);
  }
}

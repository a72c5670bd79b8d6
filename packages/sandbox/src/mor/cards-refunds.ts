// The refunds of Document 3: the refund of a card payment succeeds at once, the refund of a bank debit days later. The
// refunds of a payment never exceed the payment.
import { Refusal, type SandboxRequest, morError } from '../kernel/http.js';
import { type JsonObject, isObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type CardsBook } from './cards-book.js';
import { type PaymentEvents } from './cards-events.js';
import { KeptReplies } from './cards-keys.js';
import { type MorPayment, type MorRefund, type MorState } from './state.js';

const DEBIT_REFUND_MS = 3 * 86_400_000;

export type RefundInput = {
  readonly amount: number | null; // null: the rest
  readonly reason: string | null;
  readonly metadata: JsonObject | null;
  readonly source: MorRefund['source'];
};

export class Refunds {
  constructor(
    private readonly kernel: Kernel,
    private readonly mor: MorState,
    private readonly book: CardsBook,
    private readonly events: PaymentEvents,
  ) {}

  /** Creates a refund, for the API or for a control route. Throws the refusals in Document 3's table. */
  create(payment: MorPayment, input: RefundInput): MorRefund {
    if (payment.status !== 'succeeded' && payment.status !== 'partially_refunded') {
      throw new Refusal(
        morError(422, 'payment_not_refundable', [{ field: 'paymentId', message: `the payment is ${payment.status}` }]),
      );
    }
    const left = payment.amount - payment.amountRefunded - payment.amountReserved;
    const amount = input.amount ?? left;
    if (amount > left || amount < 1) {
      throw new Refusal(
        morError(400, 'invalid_request', [{ field: 'amount', message: `must be at most the remainder, ${left}` }]),
      );
    }
    const planned = this.plannedFor(payment);
    const refund: MorRefund = {
      id: this.kernel.random.id('rfnd'),
      uuid: this.kernel.random.uuid(),
      paymentId: payment.id,
      amount,
      currency: payment.currency,
      status: 'pending',
      reason: input.reason,
      metadata: input.metadata,
      processorRefundId: planned?.processorRefundId ?? this.kernel.random.id('re'),
      source: input.source,
      createdAtMs: this.kernel.clock.nowMs(),
    };
    this.mor.refunds.set(refund.id, refund);
    payment.amountReserved += amount;
    const plan = planned?.plan ?? (payment.method === 'bank_debit' ? 'pending' : 'succeed');
    if (plan === 'succeed' || plan === 'fail') this.settle(refund, plan === 'succeed');
    else
      this.kernel.clock.after(
        DEBIT_REFUND_MS,
        `refund ${refund.id}`,
        () => void this.settle(refund, plan === 'pending'),
      );
    return refund;
  }

  /** Ends a pending refund. Returns false if the refund is not pending. Document 3 has no event for a failed refund. */
  settle(refund: MorRefund, succeeded: boolean): boolean {
    const payment = this.mor.payments.get(refund.paymentId);
    if (payment === undefined || refund.status !== 'pending') return false;
    payment.amountReserved -= refund.amount;
    refund.status = succeeded ? 'succeeded' : 'failed';
    if (!succeeded) return true;
    payment.amountRefunded += refund.amount;
    payment.status = payment.amountRefunded === payment.amount ? 'refunded' : 'partially_refunded';
    this.events.refunded(payment, refund);
    return true;
  }

  private plannedFor(payment: MorPayment): CardsBook['refundPlans'][number] | undefined {
    const i = this.book.refundPlans.findIndex((p) => p.paymentId === null || p.paymentId === payment.id);
    return i < 0 ? undefined : this.book.refundPlans.splice(i, 1)[0];
  }
}

export function renderRefund(refund: MorRefund): JsonObject {
  return {
    id: refund.id,
    payment_id: refund.paymentId,
    amount: refund.amount,
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    processor_references: { refund_id: refund.processorRefundId },
    created_at: new Date(refund.createdAtMs).toISOString(),
  };
}

export function addRefundRoute(kernel: Kernel, mor: MorState, refunds: Refunds): void {
  const kept = new KeptReplies(mor.openFacts);
  kernel.mor.add('POST', '/api/payments/:paymentId/refund', (request) => {
    const account = mor.requireMerchant(request);
    const key = request.idempotencyKey;
    if (key === null || key === '') {
      return morError(400, 'invalid_request', [{ field: 'Idempotency-Key', message: 'the header is required' }]);
    }
    return kept.once(request, () => {
      const payment = account === 'main' ? mor.payments.get(request.params['paymentId'] ?? '') : undefined;
      const input = readRefund(request, payment?.currency ?? null);
      if (payment === undefined) return morError(404, 'payment_not_found');
      return { status: 200, body: renderRefund(refunds.create(payment, input)) };
    });
  });
}

function readRefund(request: SandboxRequest, paymentCurrency: string | null): RefundInput {
  const refuse = (field: string, message: string): never => {
    throw new Refusal(morError(400, 'invalid_request', [{ field, message }]));
  };
  if (request.bodyBroken) refuse('body', 'does not parse');
  const body = request.body ?? {};
  if (!isObject(body)) return refuse('body', 'must be a JSON object');
  const amount = body['amount'] ?? null;
  if (amount !== null && !(Number.isSafeInteger(amount) && Number(amount) >= 1))
    refuse('amount', 'must be an integer of at least 1');
  const currency = body['currency'] ?? null;
  if (currency !== null && paymentCurrency !== null) {
    if (typeof currency !== 'string' || currency.toLowerCase() !== paymentCurrency)
      refuse('currency', 'is not that of the payment');
  }
  const reason = body['reason'] ?? null;
  if (reason !== null && typeof reason !== 'string') refuse('reason', 'must be a string');
  const metadata = body['metadata'] ?? null;
  if (metadata !== null && !isObject(metadata)) refuse('metadata', 'must be an object');
  return {
    amount: amount === null ? null : Number(amount),
    reason: typeof reason === 'string' ? reason : null,
    metadata: isObject(metadata) ? metadata : null,
    source: 'api',
  };
}

// Document 3: refunds of a payment.
import { MAX_MINOR } from './money.js';
import { type Outcome, type WireRequest } from './outcome.js';
import { Fields } from './read.js';
import { type MorTransport } from './transport.js';
import { segment, wireWith } from './wire.js';

export type RefundRequest = {
  readonly paymentId: string; // pay_…
  readonly amountMinor: bigint;
  /** `requested_by_customer`, `duplicate`, `fraudulent`, or your own words. */
  readonly reason?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
};

/** The MoR's refund (Document 3, "Refund"). */
export type Refund = {
  readonly morRefundId: string; // rfnd_…
  readonly paymentId: string;
  readonly amountMinor: bigint;
  readonly currency: string; // upper case
  /** `succeeded`, `pending`, `failed` (Document 3), or another word of the MoR. */
  readonly status: string;
  readonly reason: string | null;
  /** The processor's refund id. Null: there is none yet. */
  readonly processorRefundId: string | null;
  readonly createdAt: Date | null;
};

/**
 * Encodes a refund, always with its amount. Without an amount the MoR would refund "whatever is left", and this sum may
 * have changed meanwhile.
 */
export function encodeRefund(call: RefundRequest): WireRequest {
  if (call.amountMinor < 1n || call.amountMinor > MAX_MINOR) throw new RangeError('an amount must be 1 to 2^53 - 1');
  return wireWith('POST', `/api/payments/${segment(call.paymentId)}/refund`, {
    amount: call.amountMinor,
    reason: call.reason ?? undefined,
    metadata: call.metadata ?? undefined,
  });
}

export function parseRefund(value: unknown): Refund {
  const fields = new Fields(value);
  const references = fields.may('processor_references', (inner, at) => new Fields(inner, at));
  return {
    morRefundId: fields.id('id'),
    paymentId: fields.id('payment_id'),
    amountMinor: fields.minor('amount'),
    currency: fields.currency(),
    status: fields.id('status'),
    reason: fields.textOrNull('reason'),
    processorRefundId: references?.textOrNull('refund_id') || null, // an empty text is no id
    createdAt: fields.timeOrNull('created_at'),
  };
}

export class Refunds {
  constructor(private readonly transport: MorTransport) {}

  create(request: RefundRequest, key: string): Promise<Outcome<Refund>> {
    return this.send(encodeRefund(request), key);
  }

  /** Document 3 requires the key. The MoR derives its keys for the processor from this key. */
  send(wire: WireRequest, key: string): Promise<Outcome<Refund>> {
    return this.transport.call(wire, { name: 'refund.create', key, accept: ({ body }) => parseRefund(body) });
  }
}

// Document 3: giving money of a payment back.
import { Injectable } from '@nestjs/common';
import { MAX_MINOR } from '../domain/money.js';
import { type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import { type RefundAnswer, type RefundCall } from '../domain/ports/payment-gateway.js';
import { Fields } from './read.js';
import { MorTransport } from './transport.js';
import { segment, wireWith } from './wire.js';

/** The amount is always written: left out it would mean "whatever is left", which may have changed on the way. */
export function encodeRefund(call: RefundCall): WireRequest {
  if (call.amountMinor < 1n || call.amountMinor > MAX_MINOR) throw new RangeError('an amount must be 1 to 2^53 - 1');
  return wireWith('POST', `/api/payments/${segment(call.paymentId)}/refund`, {
    amount: call.amountMinor,
    reason: call.reason ?? undefined,
    metadata: call.metadata ?? undefined,
  });
}

export function parseRefund(value: unknown): RefundAnswer {
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

@Injectable()
export class Refunds {
  constructor(private readonly transport: MorTransport) {}

  /** The key is required by Document 3; the processor's own keys are made from it. */
  send(wire: WireRequest, key: string): Promise<CallOutcome<RefundAnswer>> {
    return this.transport.call(wire, { name: 'refund.create', key, accept: ({ body }) => parseRefund(body) });
  }
}

// The MoR's `payment.*` events (Document 3): one verdict on one charge or refund, checked field by field.
import { type Money } from '../money.js';
import { channelLane } from './channel-lane.js';
import { parseEvent, type Envelope, type ParsedEvent } from './envelope.js';
import {
  eventTime,
  freeText,
  plainText,
  member,
  optionalAmount,
  optionalId,
  optionalInvoiceId,
  requireAmount,
  requireCurrency,
  requireId,
  requireInvoiceId,
  requireObject,
  Unusable,
} from './fields.js';
import { type JsonObject } from './json-body.js';

/** The facts of every `payment.*` event, without its invoice. */
type PaymentFacts = {
  readonly eventId: string;
  /** When the MoR made the event; null when it did not say. */
  readonly createdAt: Date | null;
  readonly paymentId: string;
  readonly customerId: string; // merchant_customer_id; empty: a refund of a link's payment, without a customer
  readonly processorPaymentIntentId: string;
  /** The payment; for `payment.refunded` this one refund's amount. */
  readonly amount: Money;
};

export type PaymentSucceeded = PaymentFacts & {
  readonly kind: 'payment.succeeded';
  readonly invoiceId: string; // merchant_invoice_id
  readonly processorChargeId: string;
};

export type PaymentNotMade = PaymentFacts & {
  readonly kind: 'payment.failed' | 'payment.requires_action';
  readonly invoiceId: string;
  /** Null: Document 3 sends an empty one; a sender may write null or leave it out. */
  readonly processorChargeId: string | null;
  readonly failureMessage: string | null;
  readonly declineCode: string | null;
};

export type PaymentRefunded = PaymentFacts & {
  readonly kind: 'payment.refunded';
  /** Null: a signup's payment came through an intent and a link's alone, and the MoR may not know their invoice. */
  readonly invoiceId: string | null;
  readonly processorChargeId: string;
  readonly status: 'partially_refunded' | 'refunded';
  /** `rfnd_…`. Document 3 makes both ids optional; one of them or the running total is there, or nothing would tell refunds apart. */
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
  /** All refunds of the payment so far, in smallest units; null when not said. Whether it adds up is the flow's question. */
  readonly refundedTotal: bigint | null;
  readonly reason: string | null;
};

export type MorPaymentEvent = PaymentSucceeded | PaymentNotMade | PaymentRefunded;

/**
 * Parses a delivery of the payments endpoint. The lane is the invoice, or `mor:` and the payment without one. Never
 * throws.
 */
export function parseMorPaymentEvent(body: Buffer): ParsedEvent<MorPaymentEvent> {
  return parseEvent('mor_payments', body, (envelope) => {
    const event = readPayment(envelope);
    return event === null ? null : { lane: event.invoiceId ?? channelLane(event.paymentId), event };
  });
}

/** Document 3, "Webhook payload": the status has to be the type's own. */
function readPayment({ eventId, type, root }: Envelope): MorPaymentEvent | null {
  switch (type) {
    case 'payment.succeeded': {
      const payment = paymentOf(root);
      requireStatus(payment, ['succeeded']);
      return {
        kind: type,
        ...factsOf(eventId, root, payment),
        invoiceId: requireInvoiceId(payment, 'merchant_invoice_id'),
        processorChargeId: requireId(payment, 'processor_charge_id'),
      };
    }
    case 'payment.failed':
    case 'payment.requires_action': {
      const payment = paymentOf(root);
      requireStatus(payment, [type === 'payment.failed' ? 'failed' : 'requires_action']);
      return {
        kind: type,
        ...factsOf(eventId, root, payment),
        invoiceId: requireInvoiceId(payment, 'merchant_invoice_id'),
        processorChargeId: chargeOrEmpty(payment),
        failureMessage: freeText(member(payment, 'failure_message')),
        declineCode: plainText(member(payment, 'decline_code')),
      };
    }
    case 'payment.refunded': {
      const payment = paymentOf(root);
      const status = requireStatus(payment, ['partially_refunded', 'refunded']);
      const morRefundId = optionalId(payment, 'refund_id');
      const processorRefundId = optionalId(payment, 'processor_refund_id');
      const refundedTotal = optionalAmount(payment, 'amount_refunded_total', 1n);
      if (morRefundId === null && processorRefundId === null && refundedTotal === null) {
        throw new Unusable('refund_id, processor_refund_id and amount_refunded_total are missing');
      }
      return {
        kind: type,
        ...factsOf(eventId, root, payment, optionalId(payment, 'merchant_customer_id') ?? ''),
        invoiceId: optionalInvoiceId(payment, 'merchant_invoice_id'),
        processorChargeId: requireId(payment, 'processor_charge_id'),
        status,
        morRefundId,
        processorRefundId,
        refundedTotal,
        reason: freeText(member(payment, 'reason')),
      };
    }
    default:
      return null; // Document 3 knows no other type
  }
}

function paymentOf(root: JsonObject): JsonObject {
  return requireObject(requireObject(root, 'data'), 'object');
}

function factsOf(
  eventId: string,
  root: JsonObject,
  payment: JsonObject,
  customerId = requireId(payment, 'merchant_customer_id'),
): PaymentFacts {
  return {
    eventId,
    createdAt: eventTime(root),
    paymentId: requireId(payment, 'payment_id'),
    customerId,
    processorPaymentIntentId: requireId(payment, 'processor_payment_intent_id'),
    amount: { minor: requireAmount(payment, 'amount', 1n), currency: requireCurrency(payment) },
  };
}

function requireStatus<S extends string>(payment: JsonObject, fitting: readonly S[]): S {
  const value = member(payment, 'status');
  const status = fitting.find((one) => one === value);
  if (status === undefined) throw new Unusable("status is missing, unknown or not the type's own");
  return status;
}

/** Document 3: empty on failed and requires_action. Nothing was charged, so null and absent mean the same. */
function chargeOrEmpty(payment: JsonObject): string | null {
  return (member(payment, 'processor_charge_id') ?? '') === '' ? null : requireId(payment, 'processor_charge_id');
}

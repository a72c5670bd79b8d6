// The MoR's `payment.*` events (Document 3): each reports one verdict on one charge, or one refund. Every field is
// checked.
import { type Money } from '../money.js';
import { freeText } from '../../masks/card-numbers.js';
import { channelLane, readInvoiceId } from './channel-lane.js';
import { type Envelope, eventTime, parseEvent, type ParsedEvent } from './envelope.js';
import { Fields, type JsonObject, Unreadable } from '@crossbill/mor/read.js';
import { isCode } from '../foreign-words.js';

/** The facts in every `payment.*` event. The invoice is not among them, because some events have none. */
type PaymentFacts = {
  readonly eventId: string;
  /** When the MoR made the event. Null: the event does not say. */
  readonly createdAt: Date | null;
  readonly paymentId: string;
  readonly customerId: string; // merchant_customer_id; empty in the refund event of a link's payment without a customer
  readonly processorPaymentIntentId: string;
  /** The amount of the payment. In `payment.refunded`: the amount of this one refund. */
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
  /** Null for an empty text, a null or a missing field. Document 3 sends an empty text, because nothing was charged. */
  readonly processorChargeId: string | null;
  readonly failureMessage: string | null;
  readonly declineCode: string | null;
};

export type PaymentRefunded = PaymentFacts & {
  readonly kind: 'payment.refunded';
  /** Null: the MoR may not know the invoice, because it took the payment through a signup's intent or a link. */
  readonly invoiceId: string | null;
  readonly processorChargeId: string;
  readonly status: 'partially_refunded' | 'refunded';
  /**
   * `rfnd_…`. Document 3 makes this id and the processor's refund id optional. Each event must have one of them or the
   * running total: otherwise Crossbill could not tell refunds apart.
   */
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
  /**
   * The sum of all refunds of the payment so far, in smallest units. Null: the event has no sum. A rule compares the
   * sum with the refunds Crossbill knows.
   */
  readonly refundedTotal: bigint | null;
  readonly reason: string | null;
};

export type MorPaymentEvent = PaymentSucceeded | PaymentNotMade | PaymentRefunded;

/**
 * Parses a delivery to the payments endpoint. The lane is the invoice, or `mor:` plus the payment if there is no
 * invoice. Never throws.
 */
export function parseMorPaymentEvent(body: Buffer): ParsedEvent<MorPaymentEvent> {
  return parseEvent('mor_payments', body, (envelope) => {
    const event = readPayment(envelope);
    return event === null ? null : { lane: event.invoiceId ?? channelLane(event.paymentId), event };
  });
}

/** Reads a payment event. Document 3, "Webhook payload": the status must match the event type. */
function readPayment({ eventId, type, root }: Envelope): MorPaymentEvent | null {
  switch (type) {
    case 'payment.succeeded': {
      const payment = paymentOf(root);
      payment.oneOf('status', ['succeeded']);
      return {
        kind: type,
        ...factsOf(eventId, root, payment),
        invoiceId: readInvoiceId(payment, 'merchant_invoice_id'),
        processorChargeId: payment.id('processor_charge_id'),
      };
    }
    case 'payment.failed':
    case 'payment.requires_action': {
      const payment = paymentOf(root);
      payment.oneOf('status', [type === 'payment.failed' ? 'failed' : 'requires_action']);
      return {
        kind: type,
        ...factsOf(eventId, root, payment),
        invoiceId: readInvoiceId(payment, 'merchant_invoice_id'),
        // Document 3 leaves this field empty on `failed` and `requires_action`: nothing was charged. Null and absent
        // mean the same.
        processorChargeId: payment.idOrNull('processor_charge_id'),
        ...readRefusal(payment),
      };
    }
    case 'payment.refunded': {
      const payment = paymentOf(root);
      const status = payment.oneOf('status', ['partially_refunded', 'refunded']);
      const morRefundId = payment.idOrNull('refund_id');
      const processorRefundId = payment.idOrNull('processor_refund_id');
      const refundedTotal = payment.minorOrNull('amount_refunded_total', 1n);
      if (morRefundId === null && processorRefundId === null && refundedTotal === null) {
        throw new Unreadable('refund_id, processor_refund_id or amount_refunded_total', 'usable');
      }
      return {
        kind: type,
        ...factsOf(eventId, root, payment, payment.idOrNull('merchant_customer_id') ?? ''),
        invoiceId:
          payment.idOrNull('merchant_invoice_id') === null ? null : readInvoiceId(payment, 'merchant_invoice_id'),
        processorChargeId: payment.id('processor_charge_id'),
        status,
        morRefundId,
        processorRefundId,
        refundedTotal,
        reason: freeText(payment.raw('reason')),
      };
    }
    default:
      return null; // Document 3 has no other type
  }
}

/** The reason of the refusal. A sentence in place of the code goes into the message. */
function readRefusal(payment: Fields): Pick<PaymentNotMade, 'failureMessage' | 'declineCode'> {
  const message = freeText(payment.raw('failure_message'));
  const code = freeText(payment.raw('decline_code'))?.trim() ?? '';
  if (code === '' || isCode(code)) return { failureMessage: message, declineCode: code === '' ? null : code };
  return { failureMessage: message === null ? code : `${code}: ${message}`, declineCode: null };
}

function paymentOf(root: JsonObject): Fields {
  return new Fields(new Fields(new Fields(root).object('data')).object('object'));
}

function factsOf(
  eventId: string,
  root: JsonObject,
  payment: Fields,
  customerId = payment.id('merchant_customer_id'),
): PaymentFacts {
  return {
    eventId,
    createdAt: eventTime(root),
    paymentId: payment.id('payment_id'),
    customerId,
    processorPaymentIntentId: payment.id('processor_payment_intent_id'),
    amount: { minor: payment.minor('amount', 1n), currency: payment.currency() },
  };
}

// Events of Stripe and the MoR, as bytes. A test names only the fields it needs.
import { money } from '../../../src/shared/domain/money.js';
import { type InvoiceFacts, type InvoiceStatus } from '../../../src/shared/domain/ports/billing-platform.js';
import { type Delivery, type InboxSource } from '../../../src/shared/domain/ports/inbox.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';

export const START = new Date('2026-11-20T12:00:00Z');
export const INVOICE_ID = 'in_oak';
export const CUSTOMER_ID = 'cus_oak';

export const SETTINGS: DecisionSettings = {
  markMode: 'payment_record',
  draftPolicy: 'wait',
  renewalAlarmAfterHours: 24,
  bankDebitAlarmAfterDays: 10,
  signupChargeCheck: 'psp_reference',
  relay: null,
  recoveryLinks: null,
  retrySchedule: null,
};

export function anInvoice(over: Partial<InvoiceFacts> = {}): InvoiceFacts {
  const amountDue = over.amountDue ?? 1000n;
  const amountPaid = over.amountPaid ?? (over.status === 'paid' ? amountDue : 0n);
  return {
    invoiceId: INVOICE_ID,
    customerId: CUSTOMER_ID,
    customerCountry: null,
    status: 'open',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue,
    amountPaid,
    amountRemaining: amountDue - amountPaid,
    amountOverpaid: 0n,
    total: amountDue,
    subscriptionId: 'sub_oak',
    collectionMethod: 'charge_automatically',
    createdAt: new Date(START.getTime() - 3_600_000),
    finalizationError: null,
    number: null,
    finalizesAt: null,
    ...over,
  };
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** An event of Stripe with an invoice in the format since 2025-03-31. */
export function invoiceEvent(
  type: string,
  over: Partial<InvoiceFacts> & { readonly eventId?: string; readonly at?: Date } = {},
): Delivery {
  const { eventId, at = START, ...facts } = over;
  const status: InvoiceStatus =
    type === 'invoice.paid'
      ? 'paid'
      : type === 'invoice.voided'
        ? 'void'
        : type === 'invoice.created'
          ? 'draft'
          : 'open';
  const i = anInvoice({ status, ...facts });
  const id = eventId ?? `evt_${type}_${i.invoiceId}`;
  const body = {
    id,
    object: 'event',
    api_version: '2026-10-28.endive',
    created: seconds(at),
    livemode: false,
    type,
    data: {
      object: {
        id: i.invoiceId,
        object: 'invoice',
        customer: i.customerId,
        status: i.status === 'deleted' ? 'draft' : i.status,
        billing_reason: i.billingReason,
        currency: i.currency.toLowerCase(),
        amount_due: Number(i.amountDue),
        amount_paid: Number(i.amountPaid),
        amount_remaining: Number(i.amountRemaining),
        amount_overpaid: Number(i.amountOverpaid),
        total: Number(i.total),
        collection_method: i.collectionMethod,
        created: i.createdAt === null ? null : seconds(i.createdAt),
        livemode: false,
        automatically_finalizes_at: i.finalizesAt === null ? null : seconds(i.finalizesAt),
        customer_address: i.customerCountry === null ? null : { country: i.customerCountry },
        last_finalization_error: i.finalizationError === null ? null : { message: i.finalizationError },
        parent: { type: 'subscription_details', subscription_details: { subscription: i.subscriptionId } },
      },
    },
  };
  return delivery('stripe', id, type, i.invoiceId, body);
}

export type PaymentEventOver = {
  readonly eventId?: string;
  readonly at?: Date;
  readonly paymentId?: string;
  readonly invoiceId?: string;
  readonly customerId?: string;
  readonly chargeId?: string;
  readonly intentId?: string;
  readonly amount?: number;
  readonly currency?: string;
};

export function aPaymentSucceeded(over: PaymentEventOver = {}): Delivery {
  return paymentEvent('payment.succeeded', 'succeeded', over, {});
}

export function aPaymentFailed(over: PaymentEventOver & { readonly declineCode?: string } = {}): Delivery {
  const extra = { processor_charge_id: '', decline_code: over.declineCode ?? 'insufficient_funds' };
  return paymentEvent('payment.failed', 'failed', over, extra);
}

export function aRequiredAction(over: PaymentEventOver = {}): Delivery {
  return paymentEvent('payment.requires_action', 'requires_action', over, { processor_charge_id: '' });
}

/** `amount` is the refund of this event. `total` is the sum of all refunds of the payment; null leaves it out. */
export function aRefund(
  over: PaymentEventOver & {
    readonly refundId?: string | null;
    readonly processorRefundId?: string | null;
    readonly total?: number | null;
    readonly of?: number;
  } = {},
): Delivery {
  const { amount = 300, total = amount, of = 1000 } = over;
  const refundId = over.refundId === undefined ? 'rfnd_1' : over.refundId;
  return paymentEvent(
    'payment.refunded',
    total === of ? 'refunded' : 'partially_refunded',
    { ...over, amount },
    {
      ...(refundId === null ? {} : { refund_id: refundId }),
      ...(over.processorRefundId === null ? {} : { processor_refund_id: over.processorRefundId ?? `re_${refundId}` }),
      ...(total === null ? {} : { amount_refunded_total: total }),
      reason: 'requested_by_customer',
    },
  );
}

function paymentEvent(
  type: string,
  status: string,
  over: PaymentEventOver,
  extra: Readonly<Record<string, unknown>>,
): Delivery {
  const paymentId = over.paymentId ?? 'pay_oak';
  const tail = typeof extra['refund_id'] === 'string' ? `_${extra['refund_id']}` : '';
  const id = over.eventId ?? `evt_${type}_${paymentId}${tail}`;
  const invoiceId = over.invoiceId ?? INVOICE_ID;
  const body = {
    id,
    type,
    created: seconds(over.at ?? START),
    data: {
      object: {
        payment_id: paymentId,
        merchant_invoice_id: invoiceId,
        merchant_customer_id: over.customerId ?? CUSTOMER_ID,
        processor_charge_id: over.chargeId ?? `ch_${paymentId}`,
        processor_payment_intent_id: over.intentId ?? `pi_${paymentId}`,
        amount: over.amount ?? 1000,
        currency: over.currency ?? 'eur',
        status,
        ...extra,
      },
    },
  };
  return delivery('mor_payments', id, type, invoiceId, body);
}

export function delivery(
  source: InboxSource,
  eventId: string,
  type: string,
  lane: string,
  body: object,
  over: Partial<Delivery> = {},
): Delivery {
  return {
    source,
    eventId,
    type,
    lane,
    body: Buffer.from(JSON.stringify(body)),
    status: 'received',
    reason: null,
    receivedAt: START,
    ...over,
  };
}

/** What the browser returns for a signup with a charge of 10.00 EUR. */
export const COMPLETION = {
  signupId: 'sup_1',
  customerId: CUSTOMER_ID,
  morCustomerId: null,
  paymentIntentId: 'pi_first',
  chargeId: 'ch_first',
  asked: money(1000n, 'EUR'),
  said: money(1000n, 'EUR'),
};

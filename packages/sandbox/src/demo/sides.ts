// The demo's data at its three sides: the daemon's API, the sandbox's Stripe and the sandbox's MoR. Amounts are in
// smallest units.
import { type JsonClient } from './http.js';
import { type Reading } from './read.js';
import { type NotifiedSide, type NotifiedLoss } from './notified.js';

export type DaemonInvoice = { readonly id: string; readonly status: string; readonly amountDue: number };
export type DaemonRefund = {
  readonly id: string;
  readonly morRefundId: string | null;
  readonly amount: number;
  readonly status: string;
};
export type DaemonPayment = {
  /** The MoR's `pay_…`. The daemon uses its own id until an event brings the MoR's id. */
  readonly id: string;
  readonly invoiceId: string;
  /** `renewal`, `signup`, `proforma` or `payment_link`. */
  readonly origin: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly chargeId: string | null;
  readonly recordId: string | null;
  readonly amountRefunded: number;
  readonly refunds: readonly DaemonRefund[];
};
export type Review = {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly summary: string;
  readonly proposal: string;
};
export type LedgerEntry = {
  readonly debit: string;
  readonly credit: string;
  readonly amount: number;
  readonly currency: string;
};

export type StripeInvoice = {
  readonly id: string;
  readonly status: string;
  readonly billingReason: string;
  /** False: Stripe itself collects from the customer. */
  readonly enrolled: boolean;
  readonly amountDue: number;
  readonly currency: string;
};
export type StripeRecord = {
  readonly id: string;
  /** The invoice of the record; null if unattached. */
  readonly invoiceId: string | null;
  readonly reference: string;
  readonly amount: number;
  readonly refunds: readonly { readonly reference: string; readonly amount: number; readonly credited: number }[];
};

/** A charge, or a transfer the MoR received. A transfer has `kind` `transfer` and no charge. */
export type MorPayment = {
  readonly id: string;
  readonly kind: string;
  /** The payment's reference on Stripe: the id of the charge, the payment link or the proforma invoice. */
  readonly reference: string;
  readonly invoiceId: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly method: string;
  readonly chargeId: string;
  readonly amountRefunded: number;
};
export type MorRefund = {
  readonly id: string;
  readonly paymentId: string;
  readonly amount: number;
  readonly status: string;
  readonly processorRefundId: string;
  readonly source: string;
};

/** A signed notification at the merchant's backend. `about`: the refund's id, else the invoice's id, else null. */
export type Notified = { readonly type: string; readonly about: string | null; readonly times: number };

export type Sides = {
  readonly daemon: {
    readonly invoices: readonly DaemonInvoice[];
    readonly payments: readonly DaemonPayment[];
    readonly reviews: readonly Review[];
    readonly ledger: readonly LedgerEntry[];
  };
  readonly stripe: {
    readonly invoices: readonly StripeInvoice[];
    readonly records: readonly StripeRecord[];
  };
  readonly mor: {
    readonly payments: readonly MorPayment[];
    readonly refunds: readonly MorRefund[];
    /** Disputes the merchant lost. */
    readonly lost: readonly NotifiedLoss[];
  };
  /** One entry for each notification, even if it arrived several times. */
  readonly backend: readonly Notified[];
};

/** Statuses of a payment the MoR took, even if it was refunded later. */
export const TAKEN: ReadonlySet<string> = new Set(['succeeded', 'partially_refunded', 'refunded']);

/** Reads all three sides one after another. Compare the result only when nothing moves any more. */
export async function readSides(api: JsonClient, control: JsonClient, notice: NotifiedSide): Promise<Sides> {
  const [notifications, stripe, payments, refunds] = await Promise.all([
    control.get('/_sandbox/notifications'),
    control.get('/_sandbox/stripe/state'),
    control.get('/_sandbox/mor/payments'),
    control.get('/_sandbox/mor/refunds'),
  ]);
  const [daemonInvoices, daemonPayments, reviews, ledger] = await Promise.all([
    api.all('/v1/invoices'),
    api.all('/v1/payments'),
    api.all('/v1/reviews'),
    api.all('/v1/ledger'),
  ]);
  return {
    daemon: {
      invoices: daemonInvoices.map((i) => ({
        id: i.text('id'),
        status: i.text('status'),
        amountDue: i.amountOrNull('amount_due') ?? 0,
      })),
      payments: daemonPayments.map(daemonPayment),
      reviews: reviews.map((r) => ({
        id: r.text('id'),
        kind: r.text('kind'),
        status: r.text('status'),
        invoiceId: r.textOrNull('invoice_id'),
        paymentId: r.textOrNull('payment_id'),
        summary: r.text('summary'),
        proposal: r.text('proposal'),
      })),
      ledger: ledger.map((e) => ({
        debit: e.text('debit_account'),
        credit: e.text('credit_account'),
        amount: e.amount('amount'),
        currency: e.text('currency').toLowerCase(),
      })),
    },
    stripe: {
      invoices: stripe.list('invoices').map((i) => ({
        id: i.text('id'),
        status: i.text('status'),
        billingReason: i.text('billing_reason'),
        enrolled: !notice.outsiders.includes(i.text('customer')),
        amountDue: i.amount('amount_due'),
        currency: i.text('currency'),
      })),
      records: stripe.list('payment_records').map(stripeRecord),
    },
    mor: {
      payments: [...payments.list('data').map((p) => morPayment(p, notice)), ...notice.transfers.map(transfer)],
      refunds: refunds.list('data').map((r) => ({
        id: r.text('id'),
        paymentId: r.text('payment_id'),
        amount: r.amount('amount'),
        status: r.text('status'),
        processorRefundId: r.object('processor_references').text('refund_id'),
        source: r.text('source'),
      })),
      lost: notice.lost,
    },
    backend: notifications.list('data').map(notified),
  };
}

function notified(reading: Reading): Notified {
  const event = reading.object('event');
  const data = event.object('data');
  return {
    type: event.text('type'),
    about: data.textOrNull('mor_refund_id') ?? data.textOrNull('invoice_id'),
    times: reading.amount('times'),
  };
}

function morPayment(reading: Reading, notice: NotifiedSide): MorPayment {
  const link = notice.links.find((l) => l.paymentId === reading.text('id'));
  const chargeId = reading.text('processor_charge_id');
  return {
    id: reading.text('id'),
    kind: reading.text('kind'),
    reference: link?.linkId ?? chargeId,
    invoiceId: link?.invoiceId ?? reading.textOrNull('merchant_invoice_id'),
    amount: reading.amount('amount'),
    currency: reading.text('currency'),
    status: reading.text('status'),
    method: reading.text('method'),
    chargeId,
    amountRefunded: reading.amount('amount_refunded'),
  };
}

function transfer(notice: NotifiedSide['transfers'][number]): MorPayment {
  return {
    id: notice.proformaId,
    kind: 'transfer',
    reference: notice.proformaId,
    invoiceId: notice.invoiceId,
    amount: notice.amount,
    currency: notice.currency,
    status: 'succeeded',
    method: 'bank_transfer',
    chargeId: '',
    amountRefunded: 0,
  };
}

function daemonPayment(reading: Reading): DaemonPayment {
  return {
    id: reading.text('id'),
    invoiceId: reading.text('invoice_id'),
    origin: reading.text('origin'),
    amount: reading.amountOrNull('amount') ?? 0,
    currency: reading.text('currency').toLowerCase(),
    status: reading.text('status'),
    chargeId: reading.textOrNull('processor_charge_id'),
    recordId: reading.textOrNull('payment_record_id'),
    amountRefunded: reading.amount('amount_refunded'),
    refunds: reading.list('refunds').map((r) => ({
      id: r.text('id'),
      morRefundId: r.textOrNull('mor_refund_id'),
      amount: r.amount('amount'),
      status: r.text('status'),
    })),
  };
}

function stripeRecord(reading: Reading): StripeRecord {
  return {
    id: reading.text('id'),
    invoiceId: reading.textOrNull('invoice'),
    reference: reading.text('payment_reference'),
    amount: reading.object('amount_requested').amount('value'),
    refunds: reading.list('refunds').map((f) => ({
      reference: f.text('refund_reference'),
      amount: f.amount('amount'),
      credited: f.amount('credited'),
    })),
  };
}

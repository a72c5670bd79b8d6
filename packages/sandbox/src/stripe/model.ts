// The objects of the Stripe side as kept. Amounts are smallest units, currencies lower case, times Unix seconds.
import { type VirtualClock } from '../kernel/clock.js';

export type Metadata = Record<string, string>;

export type TestClock = {
  readonly id: string;
  readonly created: number;
  readonly name: string | null;
  /** Its time, and its events. */
  readonly timers: VirtualClock;
  status: 'ready' | 'advancing';
};

export type Customer = {
  readonly id: string;
  readonly created: number;
  email: string | null;
  name: string | null;
  phone: string | null;
  description: string | null;
  address: Record<string, string | null> | null;
  metadata: Metadata;
  defaultPaymentMethod: string | null;
  defaultSource: string | null;
  /** Counts for the next invoices: negative is money owed to the customer, positive is owed by them. */
  balance: number;
  /** The currency of the first balance entry or invoice; null before. A balance is in it and counts for its invoices only. */
  currency: string | null;
  readonly balanceEntries: BalanceEntry[];
  /** How many invoices of theirs got a number. */
  invoicesNumbered: number;
  deleted: boolean;
  /** `clock_…` of their time; null: the account's. */
  readonly testClock: string | null;
};

/** A customer balance transaction. */
export type BalanceEntry = {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly amount: number; // negative: in the customer's favour
  readonly endingBalance: number;
  readonly currency: string;
  readonly type:
    | 'adjustment'
    | 'applied_to_invoice'
    | 'credit_note'
    | 'invoice_overpaid'
    | 'overpayment_reversal'
    | 'unapplied_from_invoice';
  readonly invoice: string | null;
  readonly creditNote: string | null;
  description: string | null;
  metadata: Metadata;
};

export type Product = { readonly id: string; readonly created: number; name: string; metadata: Metadata };

export type Interval = 'day' | 'week' | 'month' | 'year';

export type Price = {
  readonly id: string;
  readonly created: number;
  readonly product: string;
  readonly currency: string;
  readonly unitAmount: number;
  readonly recurring: { interval: Interval; count: number } | null;
  metadata: Metadata;
};

export type PaymentMethod = {
  readonly id: string;
  readonly created: number;
  readonly type: string;
  readonly customType: string | null; // cpmt_…
  customer: string | null;
};

export type SubscriptionStatus = 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'canceled';

export type Subscription = {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly items: readonly { id: string; price: string; quantity: number }[];
  collectionMethod: 'charge_automatically' | 'send_invoice';
  daysUntilDue: number | null;
  readonly trialEnd: number | null;
  status: SubscriptionStatus;
  periodStart: number;
  periodEnd: number;
  /** The live turn of the cycle's timer: an older timer finds another number and does nothing. */
  cycle: number;
  anchor: number;
  latestInvoice: string | null;
  defaultPaymentMethod: string | null;
  defaultSource: string | null;
  /** `payment_behavior` other than default_incomplete: Stripe charges the first invoice at once, where it can. */
  readonly chargesFirst: boolean;
  cancelAtPeriodEnd: boolean;
  canceledAt: number | null;
  cancelReason: 'cancellation_requested' | 'payment_failed' | null;
  endedAt: number | null;
  metadata: Metadata;
};

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';

export type Line = {
  readonly id: string;
  readonly amount: number;
  readonly quantity: number;
  readonly description: string;
  readonly price: Price | null;
  readonly subscriptionItem: string | null;
  readonly invoiceItem: string | null;
  readonly periodStart: number;
  readonly periodEnd: number;
};

export type Invoice = {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly owner: Customer;
  readonly currency: string;
  readonly billingReason: string;
  readonly collectionMethod: 'charge_automatically' | 'send_invoice';
  readonly daysUntilDue: number | null;
  readonly subscription: string | null;
  readonly periodStart: number;
  readonly periodEnd: number;
  lines: Line[];
  status: InvoiceStatus;
  autoAdvance: boolean;
  attemptCount: number;
  /** When Stripe will try again by itself; null: not at all. Of an open invoice: a draft's is when it finalizes. */
  nextAttempt: number | null;
  number: string | null;
  dueDate: number | null;
  description: string | null;
  defaultPaymentMethod: string | null;
  paidOutOfBand: number; // amount marked paid out of band
  prePaymentCredit: number;
  postPaymentCredit: number;
  /** The customer's balance at finalization, and the part this invoice took (or raised); null on a draft. */
  balance: { readonly starting: number; readonly applied: number } | null;
  metadata: Metadata;
  finalizedAt: number | null;
  paidAt: number | null;
  voidedAt: number | null;
  uncollectibleAt: number | null;
  finalizationError: string | null;
  /** Endpoints without a 2xx to `invoice.created` so far. */
  readonly unanswered: Set<string>;
  webhooksDeliveredAt: number | null;
  readonly payments: InvoicePayment[];
};

export type InvoicePayment = {
  readonly id: string;
  readonly created: number;
  readonly invoice: string;
  readonly record: string | null; // pr_…; null: a payment intent of Stripe's own
  readonly intent: string | null;
  readonly amountRequested: number;
  amountPaid: number | null;
  status: 'open' | 'paid' | 'canceled';
  paidAt: number | null;
  canceledAt: number | null;
};

export type RecordRefund = {
  readonly reference: string;
  readonly amount: number;
  readonly at: number;
  credited: number;
};

export type PaymentRecord = {
  readonly id: string;
  readonly created: number;
  readonly currency: string;
  readonly requested: number;
  readonly reference: string | null;
  readonly customerDetails: Record<string, string>;
  readonly presence: string | null;
  readonly description: string | null;
  readonly methodDetails: { paymentMethod: string | null; customType: string | null; displayName: string | null };
  readonly initiatedAt: number;
  attempt: string; // par_…
  state: 'processing' | 'guaranteed' | 'failed' | 'canceled';
  metadata: Metadata;
  readonly refunds: RecordRefund[];
  /** The payment attaching it to an invoice; null while unattached. */
  attachedAs: InvoicePayment | null;
};

/** The refund of a payment record, or one of a charge of Stripe's own. */
export type NotedRefund =
  | { readonly amount: number; readonly record: string; readonly group: string }
  | { readonly amount: number; readonly refund: string };

/** Stripe's own charge of a customer's card. */
export type Charge = {
  readonly id: string;
  readonly created: number;
  readonly intent: string;
  readonly invoice: string;
  readonly customer: string;
  readonly method: string;
  readonly amount: number;
  readonly currency: string;
  refunded: number;
};

/** A refund of such a charge. */
export type StripeRefund = {
  readonly id: string;
  readonly created: number;
  readonly charge: string;
  readonly intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string | null;
  credited: number;
  metadata: Metadata;
};

export type CreditNote = {
  readonly id: string;
  readonly created: number;
  readonly number: string;
  readonly invoice: string;
  readonly customer: string;
  readonly currency: string;
  readonly amount: number;
  readonly prePayment: number;
  readonly postPayment: number;
  readonly outOfBand: number | null;
  readonly credit: number;
  /** The balance entry of `credit`. */
  balanceEntry: string | null;
  readonly reason: string | null;
  readonly memo: string | null;
  readonly refunds: readonly NotedRefund[];
  status: 'issued' | 'void';
  voidedAt: number | null;
  metadata: Metadata;
};

export const invoiceTotal = (invoice: Invoice): number => invoice.lines.reduce((sum, line) => sum + line.amount, 0);

/** The balance for this invoice: fixed at finalization, the customer's own of this moment on a draft. */
export function balanceOf(invoice: Invoice): { readonly starting: number; readonly applied: number } {
  if (invoice.balance !== null) return invoice.balance;
  const { balance, currency } = invoice.owner;
  const starting = currency === invoice.currency ? balance : 0;
  return { starting, applied: Math.min(Math.max(0, invoiceTotal(invoice)), -starting) };
}

export const amountDue = (invoice: Invoice): number =>
  Math.max(0, invoiceTotal(invoice) - balanceOf(invoice).applied - invoice.prePaymentCredit);

/** Paid by attached records (and Stripe's own payments) and out of band. */
export const amountPaid = (invoice: Invoice): number =>
  invoice.paidOutOfBand + invoice.payments.reduce((sum, p) => sum + (p.status === 'paid' ? (p.amountPaid ?? 0) : 0), 0);

export const amountRemaining = (invoice: Invoice): number => Math.max(0, amountDue(invoice) - amountPaid(invoice));

export const amountOverpaid = (invoice: Invoice): number => Math.max(0, amountPaid(invoice) - amountDue(invoice));

export const amountRefunded = (record: PaymentRecord): number => record.refunds.reduce((sum, r) => sum + r.amount, 0);

// The objects of the Stripe side, as the sandbox keeps them. Amounts are in smallest units, currencies in lower case,
// times in Unix seconds.
import { type VirtualClock } from '../kernel/clock.js';

export type Metadata = Record<string, string>;

export type TestClock = {
  readonly id: string;
  readonly created: number;
  readonly name: string | null;
  /** Has the time of the test clock and the timers of its customers. */
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
  /**
   * The customer's balance for the next invoices. Negative: money owed to the customer. Positive: money the customer
   * owes.
   */
  balance: number;
  /**
   * The currency of the first balance entry or invoice; null before. The balance applies only to invoices in this
   * currency.
   */
  currency: string | null;
  readonly balanceEntries: BalanceEntry[];
  /** How many invoices of the customer have a number. */
  invoicesNumbered: number;
  deleted: boolean;
  /** The customer's test clock, `clock_…`; null: the customer uses the account's time. */
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

/** `metered`: Stripe bills the reported usage at the end of a period, instead of a quantity at its start. */
export type Recurring = {
  readonly interval: Interval;
  readonly count: number;
  readonly usage: 'licensed' | 'metered';
  /** The id of the price's meter; null: none was named. */
  readonly meter: string | null;
};

export type Price = {
  readonly id: string;
  readonly created: number;
  readonly product: string;
  readonly currency: string;
  readonly unitAmount: number;
  readonly recurring: Recurring | null;
  metadata: Metadata;
};

export type PaymentMethod = {
  readonly id: string;
  readonly created: number;
  readonly type: string;
  readonly customType: string | null; // cpmt_…
  customer: string | null;
};

export type SubscriptionItem = {
  readonly id: string;
  readonly price: string;
  readonly quantity: number;
  /** The usage since the last renewal, for a metered price. */
  usage: number;
};

export type SubscriptionStatus = 'incomplete' | 'incomplete_expired' | 'trialing' | 'active' | 'past_due' | 'canceled';

export type Subscription = {
  readonly id: string;
  readonly created: number;
  readonly customer: string;
  readonly items: readonly SubscriptionItem[];
  collectionMethod: 'charge_automatically' | 'send_invoice';
  daysUntilDue: number | null;
  readonly trialEnd: number | null;
  status: SubscriptionStatus;
  periodStart: number;
  periodEnd: number;
  /** The number of the valid timer. An older timer finds another number here and does nothing. */
  cycle: number;
  anchor: number;
  latestInvoice: string | null;
  defaultPaymentMethod: string | null;
  defaultSource: string | null;
  /** True unless `payment_behavior` is default_incomplete: Stripe tries to charge the first invoice at once. */
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
  /** When Stripe next tries to collect an open invoice; null: never. A draft uses `finalizesAt`. */
  nextAttempt: number | null;
  number: string | null;
  dueDate: number | null;
  description: string | null;
  defaultPaymentMethod: string | null;
  paidOutOfBand: number; // amount marked paid out of band
  prePaymentCredit: number;
  postPaymentCredit: number;
  /** The customer's balance at finalization, and the part this invoice took (or added); null on a draft. */
  balance: { readonly starting: number; readonly applied: number } | null;
  metadata: Metadata;
  finalizedAt: number | null;
  paidAt: number | null;
  voidedAt: number | null;
  uncollectibleAt: number | null;
  finalizationError: string | null;
  /** Endpoints that have not yet answered `invoice.created` with 2xx. */
  readonly unanswered: Set<string>;
  webhooksDeliveredAt: number | null;
  readonly payments: InvoicePayment[];
};

export type InvoicePayment = {
  readonly id: string;
  readonly created: number;
  readonly invoice: string;
  readonly record: string | null; // pr_…; null: a payment intent of Stripe
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
  /** The invoice payment that attaches the record to an invoice; null: unattached. */
  attachedAs: InvoicePayment | null;
};

/** A refund named on a credit note: of a payment record, or of a charge at Stripe itself. */
export type NotedRefund =
  | { readonly amount: number; readonly record: string; readonly group: string }
  | { readonly amount: number; readonly refund: string };

/** A charge that Stripe itself made on a customer's card. */
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

/** A refund of a charge at Stripe itself. */
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
  /** The balance entry that `credit` created. */
  balanceEntry: string | null;
  readonly reason: string | null;
  readonly memo: string | null;
  readonly refunds: readonly NotedRefund[];
  status: 'issued' | 'void';
  voidedAt: number | null;
  metadata: Metadata;
};

export const invoiceTotal = (invoice: Invoice): number => invoice.lines.reduce((sum, line) => sum + line.amount, 0);

/** The customer's balance for this invoice: fixed at finalization; for a draft, the customer's balance now. */
export function balanceOf(invoice: Invoice): { readonly starting: number; readonly applied: number } {
  if (invoice.balance !== null) return invoice.balance;
  const { balance, currency } = invoice.owner;
  const starting = currency === invoice.currency ? balance : 0;
  return { starting, applied: Math.min(Math.max(0, invoiceTotal(invoice)), -starting) };
}

export const amountDue = (invoice: Invoice): number =>
  Math.max(0, invoiceTotal(invoice) - balanceOf(invoice).applied - invoice.prePaymentCredit);

/** The amount paid by attached records, by Stripe's own payments, and out of band. */
export const amountPaid = (invoice: Invoice): number =>
  invoice.paidOutOfBand + invoice.payments.reduce((sum, p) => sum + (p.status === 'paid' ? (p.amountPaid ?? 0) : 0), 0);

export const amountRemaining = (invoice: Invoice): number => Math.max(0, amountDue(invoice) - amountPaid(invoice));

export const amountOverpaid = (invoice: Invoice): number => Math.max(0, amountPaid(invoice) - amountDue(invoice));

export const amountRefunded = (record: PaymentRecord): number => record.refunds.reduce((sum, r) => sum + r.amount, 0);

// The billing platform (Stripe Billing), as Crossbill uses it: requests and replies.
import { type Money } from '../money.js';
import { type JsonWay } from '../row.js';
import { type CallOutcome, type WireRequest } from './call.js';

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible' | 'void' | 'deleted';

/** An invoice as the platform showed it at one moment, in an event or a read. Amounts are smallest units. */
export type InvoiceFacts = {
  readonly invoiceId: string;
  readonly customerId: string;
  /** The country of the customer's address, ISO 3166-1 alpha-2. Null: the platform does not say. */
  readonly customerCountry: string | null;
  /** The number the customer reads on the invoice. Null until the invoice is final. */
  readonly number: string | null;
  readonly status: InvoiceStatus;
  /** Why the platform made the invoice, for example `subscription_cycle`. Null: the platform gave no reason. */
  readonly billingReason: string | null;
  readonly currency: string; // upper case
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly amountRemaining: bigint;
  /** The amount paid beyond the amount due. Null: the platform does not say, as in shapes before 2025-03-31. */
  readonly amountOverpaid: bigint | null;
  readonly total: bigint;
  /** The sum of the invoice's credit notes, made before and after its payment. Absent: the platform does not say. */
  readonly amountCredited?: bigint;
  /** The part of the amount due beyond the invoice's total: an older debt of the customer. Absent: unknown. */
  readonly olderDebt?: bigint;
  readonly subscriptionId: string | null;
  /** The metadata of the subscription, as the invoice shows it. Absent: none. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly collectionMethod: string | null;
  /** True if the platform continues automatically: finalizes, charges, retries. Absent: the platform did not say. */
  readonly autoAdvance?: boolean;
  /** The payment method or source on the invoice itself. It takes precedence over all others. Absent: none. */
  readonly ownMethodId?: string;
  /** The newest revision, which replaces this invoice. Absent: none. */
  readonly latestRevision?: string;
  /** When the platform made the invoice. Null: the platform did not say. */
  readonly createdAt: Date | null;
  /** Why the last finalization failed. Null: it did not fail. */
  readonly finalizationError: string | null;
  /** When the platform finalizes the draft. Null: unknown or not scheduled. */
  readonly finalizesAt: Date | null;
};

/** A payment on an invoice, as the platform lists it. */
export type InvoicePaymentFacts = {
  /** Null: the payment is another object than a payment record, such as a payment intent of the platform. */
  readonly paymentRecordId: string | null;
  /**
   * True: the platform itself collected the payment, since the payment has a payment intent or a charge. Crossbill does
   * not trust the payment's type: Stripe may add types (Stripe's SDK, `InvoicePayment.Payment.Type`), and one was
   * `out_of_band_payment`.
   */
  readonly byPlatform: boolean;
  readonly status: string; // open, paid, canceled
  readonly amountPaid: bigint | null;
};

/** An invoice as the platform shows it now, with the whole object for an event to the MoR. */
export type ShownToRelay = {
  readonly invoice: InvoiceFacts;
  /** The invoice as JSON, in the platform's own shape. */
  readonly object: string;
  /** The API version of the invoice's JSON. Null: unknown. */
  readonly apiVersion: string | null;
  readonly livemode: boolean;
};

export type ShownToRetry = ShownToRelay & {
  /** The status of the subscription, for example `past_due`. Null: the invoice has no subscription. */
  readonly subscriptionStatus: string | null;
};

/** The calls for a change on the platform. Crossbill stores each call before the send. */
export type BillingCall =
  | { readonly kind: 'finalize_invoice'; readonly invoiceId: string }
  | {
      readonly kind: 'report_payment';
      readonly invoiceId: string;
      readonly customerId: string;
      /** The payment id for the record's metadata: `pay_…`, or our own id for a signup's payment. */
      readonly paymentId: string;
      readonly amount: Money;
      /** The reference in the payment record: the processor's charge id. */
      readonly reference: string;
      readonly initiatedAt: Date;
      readonly guaranteedAt: Date;
      readonly presence: 'on_session' | 'off_session';
    }
  | { readonly kind: 'attach_payment'; readonly invoiceId: string; readonly paymentRecordId: string }
  | {
      readonly kind: 'set_reference';
      readonly invoiceId: string;
      readonly paymentId: string;
      readonly reference: string;
    }
  | { readonly kind: 'pay_out_of_band'; readonly invoiceId: string }
  | { readonly kind: 'mark_uncollectible'; readonly invoiceId: string }
  | { readonly kind: 'cancel_subscription'; readonly invoiceId: string; readonly subscriptionId: string }
  | {
      readonly kind: 'report_refund';
      readonly invoiceId: string;
      readonly paymentRecordId: string;
      /** The refund's id for the metadata at the platform: the processor's id, or else the MoR's, or else ours. */
      readonly refundId: string;
      /** The refund's unique reference at the platform: the same text as `refundId`. */
      readonly reference: string;
      readonly amount: Money;
      readonly refundedAt: Date;
    }
  | {
      readonly kind: 'issue_credit_note';
      readonly invoiceId: string;
      readonly refundId: string;
      readonly amount: Money;
      /** The payment record and reference of the earlier `report_refund`. Null: the invoice was paid out of band. */
      readonly refunded: { readonly paymentRecordId: string; readonly reference: string } | null;
    };

export type BillingCallKind = BillingCall['kind'];

/** The core makes none of these calls; a feature may. */
export type OptionalCallKind = 'mark_uncollectible' | 'cancel_subscription';

/** The reply to a call for a change: the invoice, or the id of another object. */
export type BillingReply =
  | { readonly kind: 'finalize_invoice'; readonly invoice: InvoiceFacts }
  | { readonly kind: 'attach_payment'; readonly invoice: InvoiceFacts }
  | { readonly kind: 'set_reference'; readonly invoice: InvoiceFacts }
  | {
      readonly kind: 'pay_out_of_band';
      readonly invoice: InvoiceFacts;
      /**
       * The part of the invoice paid "out of band", without a listed payment. Absent: Crossbill did not ask for the
       * payments.
       */
      readonly outOfBand?: bigint;
    }
  | { readonly kind: 'mark_uncollectible'; readonly invoice: InvoiceFacts }
  | { readonly kind: 'cancel_subscription'; readonly subscriptionId: string }
  | { readonly kind: 'report_payment'; readonly paymentRecordId: string }
  | { readonly kind: 'report_refund'; readonly paymentRecordId: string }
  | { readonly kind: 'issue_credit_note'; readonly creditNoteId: string };

/** A stored call: its request, its key and its bytes. */
export type StoredBillingCall = {
  readonly asked: BillingCall;
  readonly key: string; // idempotency key
  readonly wire: WireRequest;
};

/** The result of a search for the effect of a call. */
export type EffectCheck = { readonly done: true; readonly reply: BillingReply } | { readonly done: false };

export abstract class BillingPlatform {
  /** Makes the bytes of a call. Pure: the same call gives the same bytes. */
  abstract encode(call: BillingCall): WireRequest;
  /** Sends a stored call one time and parses the reply. Never throws. */
  abstract send(call: StoredBillingCall): Promise<CallOutcome<BillingReply>>;
  /**
   * Searches the platform for the effect of a call. Crossbill needs this if the platform has forgotten the key or
   * replays a stored 500.
   */
  abstract check(asked: BillingCall): Promise<CallOutcome<EffectCheck>>;
  /** Reads the invoice from the platform. Null: the platform has deleted the invoice, or does not know it (404). */
  abstract readInvoice(invoiceId: string): Promise<CallOutcome<InvoiceFacts | null>>;
  /** Reads the invoice from the platform, for an event to the MoR. Null: there is no such invoice. */
  abstract readToRelay(invoiceId: string): Promise<CallOutcome<ShownToRelay | null>>;
  /** Reads the invoice and its subscription from the platform, for a retry. Null: there is no such invoice. */
  abstract readToRetry(invoiceId: string): Promise<CallOutcome<ShownToRetry | null>>;
  abstract listInvoicePayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>>;
}

/** Stores a call in a column of JSON: amounts and times are text there. */
export const CALL_WAY: JsonWay = {
  to: amountsAsText,
  from: (json) => {
    const { amount, ...rest } = json as { amount?: { minor: string; currency: string } };
    const call: Record<string, unknown> = rest;
    for (const name of ['initiatedAt', 'guaranteedAt', 'refundedAt'])
      if (name in call) call[name] = new Date(String(call[name]));
    return amount === undefined ? call : { ...call, amount: { ...amount, minor: BigInt(amount.minor) } };
  },
};

/** The same value with its bigints as text. Times stay: JSON writes them as text. */
function amountsAsText(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(amountsAsText);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, amountsAsText(inner)]));
}

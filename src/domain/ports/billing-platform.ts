// The billing platform (Stripe Billing) as the bridge sees it: requests and answers.
import { type Money } from '../money.js';
import { type JsonWay } from '../row.js';
import { type CallOutcome, type WireRequest } from './call.js';

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible' | 'void' | 'deleted';

/** An invoice as the platform showed it at one moment, from an event or from a read. Amounts are smallest units. */
export type InvoiceFacts = {
  readonly invoiceId: string;
  readonly customerId: string;
  /** ISO 3166-1 alpha-2, of the customer's address; null when the platform does not say. */
  readonly customerCountry: string | null;
  /** As the customer reads it on the invoice; null until it is final. */
  readonly number: string | null;
  readonly status: InvoiceStatus;
  /** For example `subscription_cycle`; null when the platform gave none. */
  readonly billingReason: string | null;
  readonly currency: string; // upper case
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly amountRemaining: bigint;
  /** Paid beyond the amount due; null: the platform does not say, as in shapes of before 2025-03-31. */
  readonly amountOverpaid: bigint | null;
  readonly total: bigint;
  readonly subscriptionId: string | null;
  /** The subscription's metadata as the invoice carries it; left out: it carries none. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly collectionMethod: string | null;
  /** Whether the platform goes on with it: finalizes, charges, retries; left out: it did not say. */
  readonly autoAdvance?: boolean;
  /** The invoice's own method or source, before all others; left out: none. */
  readonly ownMethodId?: string;
  /** The newest revision, made to replace this invoice; left out: none. */
  readonly latestRevision?: string;
  /** When the platform made it; null when it did not say. */
  readonly createdAt: Date | null;
  /** Why the last finalization failed; null when it did not. */
  readonly finalizationError: string | null;
  /** When the platform finalizes a draft; null when unknown or not scheduled. */
  readonly finalizesAt: Date | null;
};

/** One payment attached to an invoice, as the platform lists it. */
export type InvoicePaymentFacts = {
  /** Null: something else pays, for example a payment intent of the platform's own. */
  readonly paymentRecordId: string | null;
  /**
   * The platform itself collected it: it names a payment intent or a charge. The name of the type proves nothing: it is
   * an open list (Stripe's SDK, `InvoicePayment.Payment.Type`), and `out_of_band_payment` occurred in it.
   */
  readonly byPlatform: boolean;
  readonly status: string; // open, paid, canceled
  readonly amountPaid: bigint | null;
};

/** An invoice as the platform shows it now, with the object itself, to hand on. */
export type ShownToRetry = {
  readonly invoice: InvoiceFacts;
  /** The invoice as JSON, in the platform's own shape. */
  readonly object: string;
  /** The API generation of this shape; null if unknown. */
  readonly apiVersion: string | null;
  readonly livemode: boolean;
  /** The status of its subscription, for example `past_due`; null: it has none. */
  readonly subscriptionStatus: string | null;
};

/** The changing calls on the platform. Each becomes one outbox message. */
export type BillingCall =
  | { readonly kind: 'finalize_invoice'; readonly invoiceId: string }
  | {
      readonly kind: 'report_payment';
      readonly invoiceId: string;
      readonly customerId: string;
      /** Our name for the payment: `pay_…`, or our own id for a signup's. Goes into the record's metadata. */
      readonly paymentId: string;
      readonly amount: Money;
      /** The record's payment reference: the processor's charge id. */
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
      /** Ours; goes into the metadata. */
      readonly refundId: string;
      /** Unique at the platform: the processor's refund id. */
      readonly reference: string;
      readonly amount: Money;
      readonly refundedAt: Date;
    }
  | {
      readonly kind: 'issue_credit_note';
      readonly invoiceId: string;
      readonly refundId: string;
      readonly amount: Money;
      /** The record and the reference of `report_refund`; null: the invoice was paid out of band. */
      readonly refunded: { readonly paymentRecordId: string; readonly reference: string } | null;
    };

export type BillingCallKind = BillingCall['kind'];

/** The answer to a change. `invoice` if the platform returned it, the new object's id if it made one. */
export type BillingAnswer =
  | { readonly kind: 'finalize_invoice'; readonly invoice: InvoiceFacts }
  | { readonly kind: 'attach_payment'; readonly invoice: InvoiceFacts }
  | { readonly kind: 'set_reference'; readonly invoice: InvoiceFacts }
  | {
      readonly kind: 'pay_out_of_band';
      readonly invoice: InvoiceFacts;
      /** The part paid out of band, besides the platform's listed payments; left out: nobody asked for them. */
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

/** The finding after a call with an unknown fate. */
export type Probe = { readonly done: true; readonly answer: BillingAnswer } | { readonly done: false };

export abstract class BillingPlatform {
  /** The bytes of a call, as they leave the socket. Pure: the same call gives the same bytes. */
  abstract encode(call: BillingCall): WireRequest;
  /** Sends a stored call once (no retry of its own beyond the socket) and parses the answer. Never throws. */
  abstract send(call: StoredBillingCall): Promise<CallOutcome<BillingAnswer>>;
  /** Looks for a call's effect by reading. For keys pruned or with a replayed, stored 500. */
  abstract probe(asked: BillingCall): Promise<CallOutcome<Probe>>;
  /** A fresh read. A deleted or unknown invoice is `status: 'deleted'` only if the platform says 404; the caller gives the id. */
  abstract readInvoice(invoiceId: string): Promise<CallOutcome<InvoiceFacts | null>>;
  /** A fresh read of the invoice and of its subscription, for a retry. Null: there is no such invoice. */
  abstract readToRetry(invoiceId: string): Promise<CallOutcome<ShownToRetry | null>>;
  abstract listInvoicePayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>>;
}

/** A call in a column of JSON: amounts and times are text there. */
export const CALL_WAY: JsonWay = {
  to: (call) =>
    JSON.parse(JSON.stringify(call, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v))) as unknown,
  from: (json) => {
    const { amount, ...rest } = json as { amount?: { minor: string; currency: string } };
    const call: Record<string, unknown> = rest;
    for (const name of ['initiatedAt', 'guaranteedAt', 'refundedAt'])
      if (name in call) call[name] = new Date(String(call[name]));
    return amount === undefined ? call : { ...call, amount: { ...amount, minor: BigInt(amount.minor) } };
  },
};

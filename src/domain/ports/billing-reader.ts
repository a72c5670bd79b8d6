// What verify, backfill and doctor read on the billing platform. Nothing here changes anything.
import { type InvoiceFacts } from './billing-platform.js';
import { type CallOutcome } from './call.js';

/** One page of a list, newest first. */
export type BillingPage<T> = {
  readonly items: readonly T[];
  /** Ids of objects on this page that could not be understood. A comparison must name them, not skip them in silence. */
  readonly unreadable: readonly string[];
  /** What to pass as `startingAfter` for the next page; null when this is the last one. */
  readonly next: string | null;
};

export type BillingEventFacts = {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** The event as JSON text, as a delivery would carry it (the same members, but not the bytes of the delivery). */
  readonly body: Buffer;
};

export type CreditNoteFacts = {
  readonly creditNoteId: string;
  readonly status: string; // issued, void
  readonly amount: bigint; // smallest units
  readonly currency: string; // upper case
  /** Ours, from the metadata; null when the note is not one of ours. */
  readonly refundId: string | null;
  /** The references of the payment record refunds it is linked to. */
  readonly references: readonly string[];
};

export type PaymentRecordFacts = {
  readonly paymentRecordId: string;
  readonly currency: string; // upper case
  readonly amountRequested: bigint;
  readonly amountGuaranteed: bigint;
  readonly amountRefunded: bigint;
  /** The processor's charge id as it was reported; null when the record has none. */
  readonly reference: string | null;
  /** Ours, from the metadata; null when the record is not one of ours. */
  readonly paymentId: string | null;
  readonly invoiceId: string | null;
  /** Ours, from the metadata: the refund that was reported last; null when there is none or the platform does not show it. */
  readonly lastRefundId: string | null;
};

export type CustomerFacts = {
  /** The method the platform would charge by itself: `pm_…`, an older source's id, or null. */
  readonly defaultPaymentMethodId: string | null;
};

export type WebhookEndpointFacts = {
  readonly endpointId: string;
  readonly url: string;
  readonly enabled: boolean;
  /** The API version its events are shaped by; null: the account's default. */
  readonly apiVersion: string | null;
  /** Event types; `*` means all. */
  readonly events: readonly string[];
};

export type BillingAccountFacts = {
  readonly accountId: string;
  readonly country: string | null;
};

/** One line of an invoice. `amount` may be below zero (a proration, a credit). */
export type BilledLine = {
  readonly description: string | null;
  readonly quantity: bigint | null;
  readonly amount: bigint; // smallest units, for the whole quantity
};

/** What the platform knows of the customer of an invoice; null where it knows nothing. */
export type BilledParty = {
  readonly name: string | null;
  readonly email: string | null;
  readonly address: {
    readonly line1: string | null;
    readonly line2: string | null;
    readonly city: string | null;
    readonly state: string | null;
    readonly postalCode: string | null;
    readonly country: string | null; // ISO 3166-1 alpha-2
  } | null;
  /** As the platform writes them, for example `eu_vat`. */
  readonly taxIds: readonly { readonly type: string; readonly value: string }[];
};

/** An invoice with what a document about it must show. */
export type BilledInvoice = {
  readonly invoice: InvoiceFacts;
  readonly number: string | null;
  readonly seller: { readonly name: string | null; readonly country: string | null };
  readonly customer: BilledParty;
  readonly lines: readonly BilledLine[];
};

export abstract class BillingReader {
  /** A fresh read of an invoice with all its lines. Null: the platform does not know it. */
  abstract readInvoiceForProforma(invoiceId: string): Promise<CallOutcome<BilledInvoice | null>>;
  /** Invoices by time of creation (`createdAfter` inclusive, `createdBefore` exclusive). `limit` 1 to 100, 100 when left out. */
  abstract listInvoices(query: {
    readonly createdAfter: Date;
    readonly createdBefore?: Date;
    readonly limit?: number;
    readonly startingAfter?: string;
  }): Promise<CallOutcome<BillingPage<InvoiceFacts>>>;
  /** Events of at most 20 types, by time as invoices; the platform keeps them for 30 days (Stripe docs, "Events"). */
  abstract listEvents(query: {
    readonly types: readonly string[];
    readonly createdAfter: Date;
    readonly createdBefore?: Date;
    readonly startingAfter?: string;
  }): Promise<CallOutcome<BillingPage<BillingEventFacts>>>;
  /** All credit notes of an invoice, void ones too. */
  abstract listCreditNotes(invoiceId: string): Promise<CallOutcome<readonly CreditNoteFacts[]>>;
  /** Null: the platform does not know it. */
  abstract readPaymentRecord(paymentRecordId: string): Promise<CallOutcome<PaymentRecordFacts | null>>;
  /** Null: the platform does not know it. */
  abstract readCustomer(customerId: string): Promise<CallOutcome<CustomerFacts | null>>;
  abstract listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>>;
  /** The account the key belongs to. */
  abstract readAccount(): Promise<CallOutcome<BillingAccountFacts>>;
}

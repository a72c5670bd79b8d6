// What verify, backfill and doctor read on the billing platform. Nothing here changes anything.
import { type InvoiceFacts, type InvoicePaymentFacts } from './billing-platform.js';
import { type CallOutcome } from './call.js';

/** One page of a list, newest first. */
export type BillingPage<T> = {
  readonly items: readonly T[];
  /** Ids of objects on this page that could not be understood. A comparison must name them, not skip them in silence. */
  readonly unreadable: readonly string[];
  /** What to pass as `startingAfter` for the next page; null when this is the last one. */
  readonly next: string | null;
};

/** An invoice with what people may have changed on it by hand. Amounts are smallest units. */
export type ShownInvoice = InvoiceFacts & {
  /** What pays it; null: not all of it was shown. */
  readonly payments: readonly InvoicePaymentFacts[] | null;
  /** Paid beyond what was due: the platform credits it to the customer's balance. */
  readonly amountOverpaid: bigint;
  /** What credit notes gave back after the invoice was paid. */
  readonly creditedAfterPayment: bigint;
};

export type BillingEventFacts = {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** The object in it. `createdAt` null: it does not say when it was made. */
  readonly about: { readonly id: string | null; readonly createdAt: Date | null };
  /** A customer's balance is among what changed. */
  readonly movesBalance: boolean;
  /** The event as JSON text, as a delivery would carry it (the same members, but not the bytes of the delivery). */
  readonly body: Buffer;
};

export type CreditNoteFacts = {
  readonly creditNoteId: string;
  readonly invoiceId: string | null;
  readonly createdAt: Date | null;
  readonly status: string; // issued, void
  readonly amount: bigint; // smallest units
  readonly currency: string; // upper case
  /** The part that gives paid money back; what it takes off an invoice before it is paid is none. */
  readonly afterPayment: bigint;
  /** The money went to the customer's balance. */
  readonly toBalance: boolean;
  /** Ours, from the metadata; null when the note is not one of ours. */
  readonly refundId: string | null;
  /** The references of the payment record refunds it is linked to. */
  readonly references: readonly string[];
};

/** An entry of a customer's balance. */
export type BalanceEntryFacts = {
  readonly entryId: string;
  readonly invoiceId: string | null;
  /** True: a person or a program of the merchant's made it, and not the platform by itself. */
  readonly byHand: boolean;
  readonly amount: bigint; // below zero: in the customer's favour
  readonly currency: string; // upper case
};

export type PaymentRecordFacts = {
  readonly paymentRecordId: string;
  readonly createdAt: Date | null;
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
  readonly customerId: string;
  /** Null: the platform has none. Shown to people who ask, and never kept. */
  readonly name: string | null;
  readonly email: string | null;
  /** The method the platform would charge by itself: `pm_…`, an older source's id, or null. */
  readonly defaultPaymentMethodId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/** The first method that the platform finds when it collects an invoice by itself: on the invoice, the subscription, then the customer. */
export type ChargedMethod = {
  readonly from: 'invoice' | 'subscription' | 'customer';
  /** `pm_…`, or an older source's id. */
  readonly id: string;
  /** For example `card`; `custom` cannot be charged by the platform; `source` for an older one; null: not told. */
  readonly type: string | null;
};

/** A custom payment method is the merchant's own: the platform cannot charge it, and looks for no other one behind it. */
export function isChargeable(method: ChargedMethod | null): method is ChargedMethod {
  return method !== null && method.type !== 'custom';
}

/** Whose invoice it is, to find out what would be charged for it. */
export type ChargedFor = {
  readonly customerId: string;
  readonly subscriptionId: string | null;
  /** What stands on the invoice itself; null: nothing. */
  readonly ownMethodId: string | null;
};

export type SubscriptionFacts = {
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly createdAt: Date | null;
  readonly collectionMethod: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly customerMetadata: Readonly<Record<string, string>>;
  /** Null: there is no method anywhere. */
  readonly charged: ChargedMethod | null;
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

/** `createdAfter` inclusive, `createdBefore` exclusive. `limit` 1 to 100, 100 when left out. */
export type ListQuery = {
  readonly createdAfter: Date;
  readonly createdBefore?: Date;
  readonly startingAfter?: string;
};

export abstract class BillingReader {
  /** A fresh read of an invoice with all its lines. Null: the platform does not know it. */
  abstract readInvoiceForProforma(invoiceId: string): Promise<CallOutcome<BilledInvoice | null>>;
  /** Invoices, with what pays them, by time of creation. */
  abstract listInvoices(
    query: ListQuery & { readonly limit?: number },
  ): Promise<CallOutcome<BillingPage<ShownInvoice>>>;
  /** A fresh read of what `listInvoices` shows. Null: the platform does not know it, or it was deleted. */
  abstract readInvoice(invoiceId: string): Promise<CallOutcome<ShownInvoice | null>>;
  /** Events of at most 20 types, by time as invoices; the platform keeps them for 30 days (Stripe docs, "Events"). */
  abstract listEvents(
    query: ListQuery & { readonly types: readonly string[] },
  ): Promise<CallOutcome<BillingPage<BillingEventFacts>>>;
  /** Payment records of the whole account, by time of creation. */
  abstract listPaymentRecords(query: ListQuery): Promise<CallOutcome<BillingPage<PaymentRecordFacts>>>;
  /** Credit notes of the whole account, by time of creation, void ones too. */
  abstract listNewCreditNotes(query: ListQuery): Promise<CallOutcome<BillingPage<CreditNoteFacts>>>;
  /** All entries of a customer's balance made since `createdAfter`. */
  abstract listBalance(customerId: string, createdAfter: Date): Promise<CallOutcome<readonly BalanceEntryFacts[]>>;
  /** All credit notes of an invoice, void ones too. */
  abstract listCreditNotes(invoiceId: string): Promise<CallOutcome<readonly CreditNoteFacts[]>>;
  /** Null: the platform does not know it. */
  abstract readPaymentRecord(paymentRecordId: string): Promise<CallOutcome<PaymentRecordFacts | null>>;
  /** Null: the platform does not know it. */
  abstract readCustomer(customerId: string): Promise<CallOutcome<CustomerFacts | null>>;
  /** The newest ones with exactly this e-mail address, as the platform compares it; ten at most. */
  abstract findCustomers(email: string): Promise<CallOutcome<readonly CustomerFacts[]>>;
  /** What the platform would charge by itself, in its own order; null: nothing. One request at most. */
  abstract readCharged(of: ChargedFor): Promise<CallOutcome<ChargedMethod | null>>;
  /** Subscriptions that are not ended, the newest first, each with what would be charged for it. */
  abstract listSubscriptions(startingAfter: string | null): Promise<CallOutcome<BillingPage<SubscriptionFacts>>>;
  abstract listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>>;
  /** The account the key belongs to. */
  abstract readAccount(): Promise<CallOutcome<BillingAccountFacts>>;
}

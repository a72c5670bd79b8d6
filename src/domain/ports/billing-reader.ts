// The reads of verify, backfill and doctor on the billing platform. Nothing here changes anything.
import { type InvoiceFacts, type InvoicePaymentFacts } from './billing-platform.js';
import { type CallOutcome } from './call.js';

/** One page of a list, newest first. */
export type BillingPage<T> = {
  readonly items: readonly T[];
  /** Ids of unreadable objects on this page. A comparison must name them, not skip them in silence. */
  readonly unreadable: readonly string[];
  /** The next page's `startingAfter`; null on the last one. */
  readonly next: string | null;
};

/** An invoice with people's possible changes by hand. Amounts are smallest units. */
export type ShownInvoice = InvoiceFacts & {
  /** Its payments; null: the platform did not show all of them. */
  readonly payments: readonly InvoicePaymentFacts[] | null;
  /** Paid beyond the amount due: the platform credits it to the customer's balance. */
  readonly amountOverpaid: bigint;
  /** The refunds of credit notes after the invoice was paid. */
  readonly creditedAfterPayment: bigint;
};

export type BillingEventFacts = {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** Its object. `createdAt` null: without its creation time. */
  readonly about: { readonly id: string | null; readonly createdAt: Date | null };
  /** A customer's balance is among the changes. */
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
  /** The part returning paid money; the part taken off an unpaid invoice does not count. */
  readonly afterPayment: bigint;
  /** The money went to the customer's balance. */
  readonly toBalance: boolean;
  /** Ours, from the metadata; null when the note is not one of ours. */
  readonly refundId: string | null;
  /** The references of its linked payment record refunds. */
  readonly references: readonly string[];
};

/** An entry of a customer's balance. */
export type BalanceEntryFacts = {
  readonly entryId: string;
  readonly invoiceId: string | null;
  /** True: a person or a program of the merchant's made it, not the platform. */
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
  /** The processor's charge id as reported; null if the record has none. */
  readonly reference: string | null;
  /** Ours, from the metadata; null when the record is not one of ours. */
  readonly paymentId: string | null;
  readonly invoiceId: string | null;
  /** Ours, from the metadata: the last reported refund; null if there is none or the platform does not show it. */
  readonly lastRefundId: string | null;
};

export type CustomerFacts = {
  readonly customerId: string;
  /** Null: the platform has none. Shown to people on request, and never kept. */
  readonly name: string | null;
  readonly email: string | null;
  /** The method the platform would charge: `pm_…`, an older source's id, or null. */
  readonly defaultPaymentMethodId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/**
 * The platform's first method for collecting an invoice on its own: on the invoice, the subscription, then the
 * customer.
 */
export type ChargedMethod = {
  readonly from: 'invoice' | 'subscription' | 'customer';
  /** `pm_…`, or an older source's id. */
  readonly id: string;
  /** For example `card`; the platform cannot charge `custom`; `source` for an older one; null: unknown. */
  readonly type: string | null;
};

/** A custom payment method is the merchant's own: the platform cannot charge it, and looks for no other one behind it. */
export function isChargeable(method: ChargedMethod | null): method is ChargedMethod {
  return method !== null && method.type !== 'custom';
}

/** The invoice's owner, to find its coming charge. */
export type ChargedFor = {
  readonly customerId: string;
  readonly subscriptionId: string | null;
  /** The invoice's own method; null: none. */
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
  /** The API version of its events' shape; null: the account's default. */
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

/** The platform's knowledge of an invoice's customer; null if unknown. */
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

/** An invoice with a document's required facts. */
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
  /** Invoices with their payments, by time of creation. */
  abstract listInvoices(
    query: ListQuery & { readonly limit?: number },
  ): Promise<CallOutcome<BillingPage<ShownInvoice>>>;
  /** A fresh read of an entry of `listInvoices`. Null: unknown to the platform, or deleted. */
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
  /** The platform's own coming charge, in its own order; null: none. One request at most. */
  abstract readCharged(of: ChargedFor): Promise<CallOutcome<ChargedMethod | null>>;
  /** Live subscriptions, the newest first, each with its coming charge. */
  abstract listSubscriptions(startingAfter: string | null): Promise<CallOutcome<BillingPage<SubscriptionFacts>>>;
  abstract listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>>;
  /** The account the key belongs to. */
  abstract readAccount(): Promise<CallOutcome<BillingAccountFacts>>;
}

// Reads from the billing platform, for commands such as verify, backfill and doctor. No read changes anything.
import { type InvoiceFacts, type InvoicePaymentFacts } from './billing-platform.js';
import { type CallOutcome } from './call.js';

/** One page of a list, newest first. */
export type BillingPage<T> = {
  readonly items: readonly T[];
  /**
   * The ids of unreadable objects on this page. A comparison must name them: skipping them silently would hide a
   * difference.
   */
  readonly unreadable: readonly string[];
  /** The `startingAfter` of the next page. Null on the last page. */
  readonly next: string | null;
};

/** An invoice, with everything a person may have changed by hand. Amounts are smallest units. */
export type ShownInvoice = InvoiceFacts & {
  /** The payments on the invoice. Null: the platform did not show all of them. */
  readonly payments: readonly InvoicePaymentFacts[] | null;
  /** The amount paid beyond the amount due. The platform credits it to the customer's balance. */
  readonly amountOverpaid: bigint;
  /** The amount returned by credit notes after the payment of the invoice. */
  readonly creditedAfterPayment: bigint;
};

export type BillingEventFacts = {
  readonly eventId: string;
  readonly type: string;
  readonly createdAt: Date;
  /** The object of the event. `createdAt` null: the object's creation time is unknown. */
  readonly about: { readonly id: string | null; readonly createdAt: Date | null };
  /** True if the event changed a customer's balance. */
  readonly movesBalance: boolean;
  /** The event as JSON text, as in a delivery: the same members, but not the same bytes. */
  readonly body: Buffer;
};

export type CreditNoteFacts = {
  readonly creditNoteId: string;
  readonly invoiceId: string | null;
  readonly createdAt: Date | null;
  readonly status: string; // issued, void
  readonly amount: bigint; // smallest units
  readonly currency: string; // upper case
  /** The part of the note that returns paid money. The rest of the note reduces the amount still unpaid. */
  readonly afterPayment: bigint;
  /** True: the money went to the customer's balance. */
  readonly toBalance: boolean;
  /** Our id of the refund, from the note's metadata. Null: Crossbill did not make this note. */
  readonly refundId: string | null;
  /** The references of the refunds linked to the note. Each refund was reported on a payment record. */
  readonly references: readonly string[];
};

/** An entry of a customer's balance. */
export type BalanceEntryFacts = {
  readonly entryId: string;
  readonly invoiceId: string | null;
  /** True: a person or a program of the merchant made the entry. False: the platform made it. */
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
  /** The processor's charge id, as reported to the platform. Null: the record has none. */
  readonly reference: string | null;
  /** Our payment id, from the metadata. Null: Crossbill did not make this record. */
  readonly paymentId: string | null;
  readonly invoiceId: string | null;
  /**
   * The last refund Crossbill reported on the record, from the metadata. Null: none, or the platform does not show it.
   */
  readonly lastRefundId: string | null;
};

export type CustomerFacts = {
  readonly customerId: string;
  /** The customer's name. Null: the platform has none. Crossbill shows the name on request and never stores it. */
  readonly name: string | null;
  readonly email: string | null;
  /** The payment method the platform would charge: `pm_…`, the id of an older source, or null. */
  readonly defaultPaymentMethodId: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/**
 * The payment method the platform itself would use for an invoice. The platform looks at the invoice, then the
 * subscription, then the customer.
 */
export type ChargedMethod = {
  readonly from: 'invoice' | 'subscription' | 'customer';
  /** `pm_…`, or the id of an older source. */
  readonly id: string;
  /** For example `card`. `custom`: the platform cannot charge it. `source`: an older source. Null: unknown. */
  readonly type: string | null;
};

/**
 * True if the platform can charge the method. The platform cannot charge the merchant's custom payment method, and
 * looks for no other method in its place.
 */
export function isChargeable(method: ChargedMethod | null): method is ChargedMethod {
  return method !== null && method.type !== 'custom';
}

/** The facts behind the platform's choice of a payment method for an invoice. */
export type ChargedFor = {
  readonly customerId: string;
  readonly subscriptionId: string | null;
  /** The payment method on the invoice itself. Null: none. */
  readonly ownMethodId: string | null;
};

export type SubscriptionFacts = {
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly createdAt: Date | null;
  /** The platform's word, such as `active` or `canceled`. Null: unreadable. */
  readonly status: string | null;
  readonly collectionMethod: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly customerMetadata: Readonly<Record<string, string>>;
  /** The payment method the platform would charge. Null: neither subscription nor customer has one. */
  readonly charged: ChargedMethod | null;
  /** True: a metered price or a billing threshold. The amount of a renewal's draft may still grow. */
  readonly usageBased: boolean;
};

/** True for the status of a subscription that never renews again (Stripe docs, "Subscription statuses"). */
export const isEnded = (status: string | null): boolean => status === 'canceled' || status === 'incomplete_expired';

export type WebhookEndpointFacts = {
  readonly endpointId: string;
  readonly url: string;
  readonly enabled: boolean;
  /** The API version of the endpoint's events. Null: the default version of the account. */
  readonly apiVersion: string | null;
  /** The event types. `*` means all. */
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

/** What the platform knows about an invoice's customer. Null: unknown. */
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
  /** The tax ids as the platform writes them, for example `eu_vat`. */
  readonly taxIds: readonly { readonly type: string; readonly value: string }[];
};

/** An invoice with all facts for a document, such as a proforma invoice. */
export type BilledInvoice = {
  readonly invoice: InvoiceFacts;
  readonly number: string | null;
  readonly seller: { readonly name: string | null; readonly country: string | null };
  readonly customer: BilledParty;
  readonly lines: readonly BilledLine[];
};

/**
 * The limits of a list. `createdAfter` is inclusive, `createdBefore` is exclusive.
 */
export type ListQuery = {
  readonly createdAfter: Date;
  readonly createdBefore?: Date;
  readonly startingAfter?: string;
};

export abstract class BillingReader {
  /** Reads an invoice with all its lines from the platform. Null: the platform does not know it. */
  abstract readInvoiceForProforma(invoiceId: string): Promise<CallOutcome<BilledInvoice | null>>;
  /** Invoices with their payments, ordered by creation. `limit` is 1 to 100. Absent: 100. */
  abstract listInvoices(
    query: ListQuery & { readonly limit?: number },
  ): Promise<CallOutcome<BillingPage<ShownInvoice>>>;
  /** Reads an invoice, in the form of `listInvoices`. Null: unknown to the platform, or deleted. */
  abstract readInvoice(invoiceId: string): Promise<CallOutcome<ShownInvoice | null>>;
  /** Events of at most 20 types, ordered by creation. The platform keeps events for 30 days (Stripe docs, "Events"). */
  abstract listEvents(
    query: ListQuery & { readonly types: readonly string[] },
  ): Promise<CallOutcome<BillingPage<BillingEventFacts>>>;
  /** The payment records of the whole account, ordered by creation. */
  abstract listPaymentRecords(query: ListQuery): Promise<CallOutcome<BillingPage<PaymentRecordFacts>>>;
  /** The credit notes of the whole account, void notes included, ordered by creation. */
  abstract listNewCreditNotes(query: ListQuery): Promise<CallOutcome<BillingPage<CreditNoteFacts>>>;
  /** All entries of a customer's balance since `createdAfter`. */
  abstract listBalance(customerId: string, createdAfter: Date): Promise<CallOutcome<readonly BalanceEntryFacts[]>>;
  /** All credit notes of an invoice, void notes included. */
  abstract listCreditNotes(invoiceId: string): Promise<CallOutcome<readonly CreditNoteFacts[]>>;
  /** Reads a payment record. Null: the platform does not know it. */
  abstract readPaymentRecord(paymentRecordId: string): Promise<CallOutcome<PaymentRecordFacts | null>>;
  /** Reads a customer. Null: the platform does not know the customer. */
  abstract readCustomer(customerId: string): Promise<CallOutcome<CustomerFacts | null>>;
  /**
   * Finds the newest customers with this e-mail address in any case, or with this part of a name. Ten at most. A name
   * has at least three characters.
   */
  abstract findCustomers(by: 'email' | 'name', text: string): Promise<CallOutcome<readonly CustomerFacts[]>>;
  /** The payment method the platform would charge. Null: none. Sends at most one request. */
  abstract readCharged(of: ChargedFor): Promise<CallOutcome<ChargedMethod | null>>;
  /** A customer's newest hundred subscriptions, ended ones too, each with the method the platform would charge. */
  abstract subscriptionsOf(customerId: string): Promise<CallOutcome<BillingPage<SubscriptionFacts>>>;
  /** Live subscriptions, newest first, each with the method the platform would charge. */
  abstract listSubscriptions(startingAfter: string | null): Promise<CallOutcome<BillingPage<SubscriptionFacts>>>;
  abstract listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>>;
  /** The account of the API key. */
  abstract readAccount(): Promise<CallOutcome<BillingAccountFacts>>;
}

// The reads of verify, backfill and doctor.
import { type InvoiceFacts } from '../domain/ports/billing-platform.js';
import {
  BillingReader,
  type BilledInvoice,
  type BillingAccountFacts,
  type BillingEventFacts,
  type BillingPage,
  type CreditNoteFacts,
  type CustomerFacts,
  type PaymentRecordFacts,
  type WebhookEndpointFacts,
} from '../domain/ports/billing-reader.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { idOf, partOf } from './parse.js';
import { billedInvoiceOf, billedLineOf } from './parse-billed-invoice.js';
import { invoiceOf } from './parse-invoice.js';
import {
  parseAccount,
  parseCreditNote,
  parseCustomer,
  parseEvent,
  parsePaymentRecord,
  parseWebhookEndpoint,
} from './parse-objects.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

export class StripeBillingReader extends BillingReader {
  /** `pageSize`: of a list of invoices or events; 100 is the most that Stripe gives. */
  constructor(
    private readonly client: StripeClient,
    private readonly pageSize = 100,
  ) {
    super();
  }

  override async readInvoiceForProforma(invoiceId: string): Promise<CallOutcome<BilledInvoice | null>> {
    const path = `/v1/invoices/${encodeURIComponent(invoiceId)}`;
    const read = await this.one('invoices.retrieve', `${path}?expand[0]=customer`, billedInvoiceOf);
    if (!read.ok) return read;
    if (read.value === null) return { ...read, value: null };
    const { lines } = read.value;
    if (lines !== null) return { ...read, value: { ...read.value, lines } };
    // An invoice shows its first lines only (Stripe docs, "The Invoice object").
    const all = await this.all('invoices.list_lines', `${path}/lines?limit=100`, billedLineOf);
    if (!all.ok && all.status === 404) return { ...read, value: { ...read.value, lines: [] } }; // its total stands alone
    return all.ok ? { ...read, value: { ...read.value, lines: all.value } } : all;
  }

  override listInvoices(query: {
    readonly createdAfter: Date;
    readonly createdBefore?: Date;
    readonly limit?: number;
    readonly startingAfter?: string;
  }): Promise<CallOutcome<BillingPage<InvoiceFacts>>> {
    const search = new URLSearchParams({ 'created[gte]': seconds(query.createdAfter) });
    if (query.createdBefore !== undefined) search.set('created[lt]', seconds(query.createdBefore));
    search.set('limit', String(query.limit ?? this.pageSize));
    if (query.startingAfter !== undefined) search.set('starting_after', query.startingAfter);
    return this.page('invoices.list', `/v1/invoices?${search.toString()}`, invoiceOf);
  }

  override listEvents(query: {
    readonly types: readonly string[];
    readonly createdAfter: Date;
    readonly createdBefore?: Date;
    readonly startingAfter?: string;
  }): Promise<CallOutcome<BillingPage<BillingEventFacts>>> {
    const search = new URLSearchParams();
    query.types.forEach((type, index) => search.set(`types[${index}]`, type));
    search.set('created[gte]', seconds(query.createdAfter));
    if (query.createdBefore !== undefined) search.set('created[lt]', seconds(query.createdBefore));
    search.set('limit', String(this.pageSize));
    if (query.startingAfter !== undefined) search.set('starting_after', query.startingAfter);
    return this.page('events.list', `/v1/events?${search.toString()}`, parseEvent);
  }

  override listCreditNotes(invoiceId: string): Promise<CallOutcome<readonly CreditNoteFacts[]>> {
    const path = `/v1/credit_notes?invoice=${encodeURIComponent(invoiceId)}&limit=100`;
    return this.all('credit_notes.list', path, parseCreditNote);
  }

  override readPaymentRecord(paymentRecordId: string): Promise<CallOutcome<PaymentRecordFacts | null>> {
    const path = `/v1/payment_records/${encodeURIComponent(paymentRecordId)}`;
    return this.one('payment_records.retrieve', path, parsePaymentRecord);
  }

  override readCustomer(customerId: string): Promise<CallOutcome<CustomerFacts | null>> {
    return this.one('customers.retrieve', `/v1/customers/${encodeURIComponent(customerId)}`, parseCustomer);
  }

  override listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>> {
    return this.all('webhook_endpoints.list', '/v1/webhook_endpoints?limit=100', parseWebhookEndpoint);
  }

  override async readAccount(): Promise<CallOutcome<BillingAccountFacts>> {
    const name = 'accounts.retrieve';
    const read = await this.one(name, '/v1/account', parseAccount);
    if (!read.ok) return read;
    return read.value === null ? notUnderstood(name, read) : { ...read, value: read.value };
  }

  private async one<T>(
    name: string,
    path: string,
    parse: (object: unknown) => T | null,
  ): Promise<CallOutcome<T | null>> {
    const read = await this.client.read(name, path);
    if (!read.ok) return read;
    if (read.value === null) return { ...read, value: null };
    const value = parse(read.value);
    return value === null ? notUnderstood(name, read) : { ...read, value };
  }

  private async page<T>(
    name: string,
    path: string,
    parse: (object: unknown) => T | null,
  ): Promise<CallOutcome<BillingPage<T>>> {
    const page = await this.client.page(name, path);
    if (!page.ok) return page;
    const items: T[] = [];
    const unreadable: string[] = [];
    for (const object of page.value.items) {
      const item = parse(object);
      if (item === null) unreadable.push(idOf(partOf(object)) ?? '(no id)');
      else items.push(item);
    }
    return { ...page, value: { items, unreadable, next: page.value.next } };
  }

  private async all<T>(
    name: string,
    path: string,
    parse: (object: unknown) => T | null,
  ): Promise<CallOutcome<readonly T[]>> {
    const pages = await this.client.pages(name, path);
    if (!pages.ok) return pages;
    const items: T[] = [];
    for (const object of pages.value) {
      const item = parse(object);
      if (item === null) return notUnderstood(name, pages);
      items.push(item);
    }
    return { ...pages, value: items };
  }
}

/** Stripe counts in whole seconds; the fraction is dropped, so a page may begin up to a second early, never late. */
function seconds(time: Date): string {
  return String(Math.floor(time.getTime() / 1000));
}

// The reads from Stripe for verify, backfill and doctor.
import {
  type BalanceEntryFacts,
  BillingReader,
  type BilledInvoice,
  type BillingAccountFacts,
  type BillingEventFacts,
  type BillingPage,
  type ChargedFor,
  type ChargedMethod,
  type CreditNoteFacts,
  type CustomerFacts,
  type ListQuery,
  type PaymentRecordFacts,
  type ShownInvoice,
  type SubscriptionFacts,
  type WebhookEndpointFacts,
} from '../../shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { idOf, partOf } from '@crossbill/mor/read.js';
import {
  chargedOfCustomer,
  chargedOfMethod,
  chargedOfSubscription,
  methodOf,
  parseSubscription,
} from './parse-charging.js';
import { billedInvoiceOf, billedLineOf } from './parse-billed-invoice.js';
import { shownInvoiceOf } from './parse-invoice.js';
import {
  parseAccount,
  parseBalanceEntry,
  parseCreditNote,
  parseCustomer,
  parseEvent,
  parsePaymentRecord,
  parseWebhookEndpoint,
} from './parse-objects.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

export class StripeBillingReader extends BillingReader {
  /** `pageSize`: the objects on a page of invoices or events. Stripe gives at most 100. */
  constructor(
    private readonly client: StripeClient,
    private readonly pageSize = 100,
  ) {
    super();
  }

  override async readInvoiceForProforma(invoiceId: string): Promise<CallOutcome<BilledInvoice | null>> {
    const path = `/v1/invoices/${encodeURIComponent(invoiceId)}`;
    const read = await this.client.one('invoices.retrieve', `${path}?expand[0]=customer`, billedInvoiceOf);
    if (!read.ok) return read;
    if (read.value === null) return { ...read, value: null };
    const { lines } = read.value;
    if (lines !== null) return { ...read, value: { ...read.value, lines } };
    // An invoice shows only its first lines (Stripe docs, "The Invoice object"), so read all lines.
    const all = await this.client.all('invoices.list_lines', `${path}/lines?limit=100`, billedLineOf);
    // If Stripe replies 404 for the lines, Crossbill continues without lines: the invoice still has its total.
    if (!all.ok && all.status === 404) return { ...read, value: { ...read.value, lines: [] } };
    return all.ok ? { ...read, value: { ...read.value, lines: all.value } } : all;
  }

  override listInvoices(
    query: ListQuery & { readonly limit?: number },
  ): Promise<CallOutcome<BillingPage<ShownInvoice>>> {
    const search = this.search(query);
    search.set('limit', String(query.limit ?? this.pageSize));
    search.set('expand[0]', 'data.payments'); // Stripe shows an invoice's payments only on request
    return this.page('invoices.list', `/v1/invoices?${search.toString()}`, shownInvoiceOf);
  }

  override async readInvoice(invoiceId: string): Promise<CallOutcome<ShownInvoice | null>> {
    const name = 'invoices.retrieve';
    const path = `/v1/invoices/${encodeURIComponent(invoiceId)}?expand[0]=payments`;
    const read = await this.client.read(name, path);
    if (!read.ok) return read;
    if (read.value === null || read.value['deleted'] === true) return { ...read, value: null };
    const invoice = shownInvoiceOf(read.value);
    return invoice?.invoiceId === invoiceId ? { ...read, value: invoice } : notUnderstood(name, read);
  }

  override listEvents(
    query: ListQuery & { readonly types: readonly string[] },
  ): Promise<CallOutcome<BillingPage<BillingEventFacts>>> {
    const search = this.search(query);
    query.types.forEach((type, index) => search.set(`types[${index}]`, type));
    return this.page('events.list', `/v1/events?${search.toString()}`, parseEvent);
  }

  override listPaymentRecords(query: ListQuery): Promise<CallOutcome<BillingPage<PaymentRecordFacts>>> {
    // Stripe's other lists have the filter `created[gte]`, this list has `created_after`. Stripe does not document if
    // `created_after` includes the exact second, so the query begins a second earlier.
    const search = new URLSearchParams({ created_after: seconds(new Date(query.createdAfter.getTime() - 1_000)) });
    if (query.createdBefore !== undefined) search.set('created_before', seconds(query.createdBefore));
    search.set('limit', String(this.pageSize));
    if (query.startingAfter !== undefined) search.set('starting_after', query.startingAfter);
    return this.page('payment_records.list', `/v1/payment_records?${search.toString()}`, parsePaymentRecord);
  }

  override listNewCreditNotes(query: ListQuery): Promise<CallOutcome<BillingPage<CreditNoteFacts>>> {
    return this.page('credit_notes.list', `/v1/credit_notes?${this.search(query).toString()}`, parseCreditNote);
  }

  override listBalance(customerId: string, createdAfter: Date): Promise<CallOutcome<readonly BalanceEntryFacts[]>> {
    const search = new URLSearchParams({ 'created[gte]': seconds(createdAfter), limit: '100' });
    const path = `/v1/customers/${encodeURIComponent(customerId)}/balance_transactions?${search.toString()}`;
    return this.client.all('customers.list_balance_transactions', path, parseBalanceEntry);
  }

  private search({ createdAfter, createdBefore, startingAfter }: ListQuery): URLSearchParams {
    const search = new URLSearchParams({ 'created[gte]': seconds(createdAfter) });
    if (createdBefore !== undefined) search.set('created[lt]', seconds(createdBefore));
    search.set('limit', String(this.pageSize));
    if (startingAfter !== undefined) search.set('starting_after', startingAfter);
    return search;
  }

  override listCreditNotes(invoiceId: string): Promise<CallOutcome<readonly CreditNoteFacts[]>> {
    const path = `/v1/credit_notes?invoice=${encodeURIComponent(invoiceId)}&limit=100`;
    return this.client.all('credit_notes.list', path, parseCreditNote);
  }

  override readPaymentRecord(paymentRecordId: string): Promise<CallOutcome<PaymentRecordFacts | null>> {
    const path = `/v1/payment_records/${encodeURIComponent(paymentRecordId)}`;
    return this.client.one('payment_records.retrieve', path, parsePaymentRecord);
  }

  override readCustomer(customerId: string): Promise<CallOutcome<CustomerFacts | null>> {
    return this.client.one('customers.retrieve', `/v1/customers/${encodeURIComponent(customerId)}`, parseCustomer);
  }

  /**
   * Stripe docs, "Search": it ignores the case of letters, `~` finds a part of a name. But it may lack the customers of
   * the last minute, and some accounts have no search. The list knows all customers, with the address in the same case.
   */
  override async findCustomers(by: 'email' | 'name', text: string): Promise<CallOutcome<readonly CustomerFacts[]>> {
    const quoted = text.replace(/["\\]/g, '\\$&');
    const query = by === 'email' ? `email:"${quoted}"` : `name~"${quoted}"`;
    const search = new URLSearchParams({ query, limit: FOUND_MOST }).toString();
    const list = new URLSearchParams({ email: text, limit: FOUND_MOST }).toString();
    const [searched, listed] = await Promise.all([
      this.page('customers.search', `/v1/customers/search?${search}`, parseCustomer),
      by === 'email' ? this.page('customers.list', `/v1/customers?${list}`, parseCustomer) : null,
    ]);
    if (listed?.ok !== true) return searched.ok ? { ...searched, value: searched.value.items } : searched;
    const found = [...listed.value.items, ...(searched.ok ? searched.value.items : [])];
    return { ...listed, value: [...new Map(found.map((c) => [c.customerId, c])).values()] };
  }

  override async readCharged({
    customerId,
    subscriptionId,
    ownMethodId,
  }: ChargedFor): Promise<CallOutcome<ChargedMethod | null>> {
    if (ownMethodId !== null && !ownMethodId.startsWith('pm_')) {
      return { ok: true, value: methodOf(ownMethodId, 'invoice'), status: 200, requestId: null };
    }
    const id = encodeURIComponent(ownMethodId ?? subscriptionId ?? customerId);
    const read =
      ownMethodId !== null
        ? await this.client.one('payment_methods.retrieve', `/v1/payment_methods/${id}`, chargedOfMethod)
        : subscriptionId !== null
          ? await this.client.one(
              'subscriptions.retrieve',
              `/v1/subscriptions/${id}?${METHODS('')}`,
              chargedOfSubscription,
            )
          : await this.client.one(
              'customers.retrieve',
              `/v1/customers/${id}?expand[0]=${OF_CUSTOMER}`,
              chargedOfCustomer,
            );
    return read.ok ? { ...read, value: read.value?.charged ?? null } : read;
  }

  override listSubscriptions(startingAfter: string | null): Promise<CallOutcome<BillingPage<SubscriptionFacts>>> {
    const after = startingAfter === null ? '' : `&starting_after=${encodeURIComponent(startingAfter)}`;
    const path = `/v1/subscriptions?limit=${this.pageSize}&${METHODS('data.')}${after}`;
    return this.page('subscriptions.list', path, parseSubscription);
  }

  override subscriptionsOf(customerId: string): Promise<CallOutcome<BillingPage<SubscriptionFacts>>> {
    const path = `/v1/subscriptions?customer=${encodeURIComponent(customerId)}&status=all&limit=${this.pageSize}&${METHODS('data.')}`;
    return this.page('subscriptions.list', path, parseSubscription);
  }

  override listWebhookEndpoints(): Promise<CallOutcome<readonly WebhookEndpointFacts[]>> {
    return this.client.all('webhook_endpoints.list', '/v1/webhook_endpoints?limit=100', parseWebhookEndpoint);
  }

  override async readAccount(): Promise<CallOutcome<BillingAccountFacts>> {
    const name = 'accounts.retrieve';
    const read = await this.client.one(name, '/v1/account', parseAccount);
    if (!read.ok) return read;
    return read.value === null ? notUnderstood(name, read) : { ...read, value: read.value };
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
}

const FOUND_MOST = '10';

const OF_CUSTOMER = 'invoice_settings.default_payment_method';
/** Stripe shows the type of a payment method only on request. */
const METHODS = (of: string): string => `expand[0]=${of}default_payment_method&expand[1]=${of}customer.${OF_CUSTOMER}`;

/** Stripe counts in whole seconds. The fraction is cut off, so a page may begin up to a second early, never late. */
function seconds(time: Date): string {
  return String(Math.floor(time.getTime() / 1000));
}

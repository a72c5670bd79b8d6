// Finds an object by a typed id, e-mail address, amount or number. Every query uses an index.
import { Injectable } from '@nestjs/common';
import { Finder, type FoundCustomer, sayCustomer, SHORTEST_NAME } from '../../frames/console/finder.js';
import { minorFromTyped, minorsOf, splitAmount, type TypedAmount } from '../../frames/console/list-filters.js';
import { capital } from '../../frames/console/show.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { given } from '../../frames/api/http/page.js';
import { ReadModel } from '../../engine/read-model.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { InvoicesRepository } from '../../core/invoices/invoices.repository.js';
import { PaymentsRepository } from '../../core/payments/payments.repository.js';
import { RefundsRepository } from '../../core/refunds/refunds.repository.js';
import { type Found, ObjectSearch } from '../../frames/console/search-results.js';
import { type Beginning, SearchRepository } from './search.repository.js';

/** The results of a search. `hint`: a note for the reader, for example if Stripe did not reply. */
export type Result = { readonly found: readonly Found[]; readonly hint: string | null };

const OF_EACH = 5;
/** A shorter text would match half of the database. */
const SHORTEST = 4;
/** The shortest end of a number: a shorter one would be the end of too many. */
const SHORTEST_NUMBER = 3;
const UNREAD = 'Stripe did not reply, so Crossbill found no customers. Try again in a moment.';

const NEWEST_AMOUNTS =
  'Crossbill searched this amount among the newest 5,000 invoices, payments and refunds. To look further back, filter a list by amount and dates.';

const PATHS: Readonly<Record<Beginning['kind'], string>> = {
  invoice: 'invoices',
  payment: 'payments',
  refund: 'refunds',
  review: 'reviews',
  customer: 'customers',
};

@Injectable()
export class Search {
  constructor(
    private readonly books: ReadModel,
    private readonly events: EventsRepository,
    private readonly invoices: InvoicesRepository,
    private readonly payments: PaymentsRepository,
    private readonly refunds: RefundsRepository,
    private readonly search: SearchRepository,
    private readonly objects: ObjectSearch,
    private readonly finder: Finder,
  ) {}

  async for(sought: string): Promise<Result> {
    if (sought === '') return { found: [], hint: null };
    const typed = splitAmount(sought);
    const minors = sought.includes('@') ? [] : minorsOf(typed);
    const [ids, numbers, amounts] = await Promise.all([
      sought.includes('@') ? [] : this.byId(sought),
      this.byNumber(sought),
      this.byAmount(typed, minors),
    ]);
    const found = [...ids, ...numbers.filter((n) => !ids.some((f) => f.path === n.path)), ...amounts];
    if (ids.some((f) => f.exact) || !mayBeCustomer(sought) || typed.currency !== null)
      return { found, hint: hintFor(sought, found, minors) };
    const customers = await this.finder.customers(sought);
    if (customers !== null) found.push(...customers.map(foundCustomer));
    return { found, hint: customers === null && found.length === 0 ? UNREAD : hintFor(sought, found, minors) };
  }

  private async byNumber(sought: string): Promise<Found[]> {
    if (sought.length < SHORTEST_NUMBER) return [];
    return (await this.finder.invoices(sought)).map((i) => ({
      ...PLAIN,
      what: `Invoice ${i.number ?? ''}`.trim(),
      id: i.invoiceId,
      path: pathOf('invoices', i.invoiceId),
      exact: true,
      minor: i.amountDue,
      currency: i.currency,
      status: i.status,
      at: i.at,
    }));
  }

  private async byId(id: string): Promise<Found[]> {
    const [payment, refund, event, objects, whole, events, beginnings] = await Promise.all([
      this.books.payment(id),
      this.books.refund(id),
      this.events.find(id),
      this.objects.find(id),
      this.books.invoicesOfCharge(id),
      this.events.list({ eventId: id }, { limit: 1, cursor: null }),
      id.length < SHORTEST ? [] : this.search.beginning(id, OF_EACH),
    ]);
    const found: Found[] = beginnings.map((b) => ({
      what: b.shown === b.id ? capital(b.kind) : `${capital(b.kind)} ${b.shown}`,
      id: b.id,
      path: pathOf(PATHS[b.kind], b.id),
      exact: b.matched === id,
      minor: b.minor,
      currency: b.currency,
      status: b.status,
      at: b.at,
      name: b.matched === b.id ? null : b.matched,
    }));
    const add = (one: Found): void =>
      void (found.some((x) => x.path === one.path) || found.push({ ...one, exact: true }));
    if (payment !== null) add(foundPayment(payment.payment));
    if (refund !== null) add({ ...foundRefund(refund.refund), at: refund.refund.createdAt });
    for (const object of objects) add(object);
    // For such an object the list leaves the invoice out, because the page of the object links to the invoice.
    for (const invoice of objects.length === 0 ? whole : [])
      add({ ...PLAIN, what: 'Invoice', id: invoice, path: pathOf('invoices', invoice), name: id });
    const named = event ?? events.data[0];
    if (named !== undefined) {
      const path = event === null ? `/console/events?event_id=${encodeURIComponent(id)}` : pathOf('events', id);
      add({ ...PLAIN, what: 'Event', id, path, status: named.status, at: named.receivedAt, name: named.type });
    }
    // If the text is a whole id, leave out the objects with a longer id.
    const exact = found.filter((f) => f.exact);
    return exact.length > 0 ? exact : found;
  }

  private async byAmount(typed: TypedAmount, minors: readonly bigint[]): Promise<Found[]> {
    const found = await Promise.all(minors.map((minor) => this.ofAmount(minor, typed)));
    return found.flat();
  }

  private async ofAmount(minor: bigint, { digits, currency }: TypedAmount): Promise<Found[]> {
    const first = { limit: OF_EACH, cursor: null };
    const [invoices, payments, refunds] = await Promise.all([
      this.invoices.list({ amount: minor, ...given({ currency: currency ?? undefined }) }, first),
      this.payments.list({ amount: minor, ...given({ currency: currency ?? undefined }) }, first),
      this.refunds.list({ amount: minor, ...given({ currency: currency ?? undefined }) }, first),
    ]);
    const meant = (of: string | null): boolean => of !== null && minorFromTyped(digits, of) === minor;
    const found: Found[] = [
      ...invoices.data.map((i) => ({
        ...PLAIN,
        what: i.number === null ? 'Invoice' : `Invoice ${i.number}`,
        id: i.invoiceId,
        path: pathOf('invoices', i.invoiceId),
        minor: i.amountDue,
        currency: i.currency,
        status: i.status,
        at: i.platformCreatedAt ?? i.firstSeenAt,
      })),
      ...payments.data.map(({ payment }) => foundPayment(payment)),
      ...refunds.data.map(({ refund }) => foundRefund(refund)),
    ];
    return found.filter((f) => meant(f.currency));
  }
}

/** Names have letters, and no `_` like ids. */
const mayBeCustomer = (text: string): boolean =>
  text.includes('@') || (text.length >= SHORTEST_NAME && /\p{L}{2}/u.test(text) && !text.includes('_'));

function hintFor(sought: string, found: readonly Found[], minors: readonly bigint[]): string | null {
  if (found.length > 0) return null;
  if (minors.length > 0) return NEWEST_AMOUNTS;
  return sought.length < SHORTEST ? `Type at least ${SHORTEST} characters of an id or a number.` : null;
}

function foundCustomer(foundCustomer: FoundCustomer): Found {
  const { customerId: id } = foundCustomer;
  const name = sayCustomer(foundCustomer);
  return {
    ...PLAIN,
    what: `Customer ${foundCustomer.name ?? foundCustomer.email ?? ''}`.trim(),
    id,
    path: pathOf('customers', id),
    exact: true,
    name,
  };
}

const pathOf = (folder: string, id: string): string => `/console/${folder}/${encodeURIComponent(id)}`;

function foundPayment(payment: PaymentRow): Found {
  const id = paymentName(payment);
  const { amount: minor, currency, status, succeededAt: at } = payment;
  return { ...PLAIN, what: 'Payment', id, path: pathOf('payments', id), minor, currency, status, at };
}

function foundRefund({ id, amount: minor, currency, status, succeededAt, createdAt }: RefundRow): Found {
  const at = succeededAt ?? createdAt;
  return { ...PLAIN, what: 'Refund', id, path: pathOf('refunds', id), minor, currency, status, at };
}

const PLAIN = { exact: false, minor: null, currency: null, status: null, at: null, name: null } as const;

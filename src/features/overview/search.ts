// Finds an object by a typed id, e-mail address, amount or number. Every query uses an index.
import { Injectable } from '@nestjs/common';
import { minorFromTyped } from '../../frames/console/list-filters.js';
import { capital } from '../../frames/console/show.js';
import { CustomersAtStripe } from '../../core/customers/at-stripe.flow.js';
import { type PaymentRow, type RefundRow } from '../../shared/domain/model.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { ReadModel } from '../../engine/read-model.js';
import { EventsStore } from '../../core/events/events.store.js';
import { InvoicesStore } from '../../core/invoices/invoices.store.js';
import { PaymentsStore } from '../../core/payments/payments.store.js';
import { RefundsStore } from '../../core/refunds/refunds.store.js';
import { DisputesStore } from '../losses/disputes/disputes.store.js';
import { type Beginning, SearchStore } from './search.store.js';
import { disputePath } from '../../core/mor-objects/dispute-link.view.js';
import { objectId } from '../../shared/domain/mor-object.js';

export type Found = {
  /** The kind of object, with its number if it has one: "Invoice 0001" or "Payment". */
  readonly what: string;
  readonly id: string;
  readonly path: string;
  /** True if the typed text is the whole id or number. */
  readonly exact: boolean;
  readonly minor: bigint | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly at: Date | null;
  readonly name: string | null;
};
/** The results of a search. `told`: a note for the reader, for example if Stripe did not reply. */
export type Result = { readonly found: readonly Found[]; readonly told: string | null };

const OF_EACH = 5;
/** A shorter text would match half of the database. */
const SHORTEST = 4;

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
    private readonly events: EventsStore,
    private readonly invoices: InvoicesStore,
    private readonly payments: PaymentsStore,
    private readonly refunds: RefundsStore,
    private readonly search: SearchStore,
    private readonly disputes: DisputesStore,
    private readonly customers: CustomersAtStripe,
  ) {}

  async for(sought: string): Promise<Result> {
    if (sought === '') return { found: [], told: null };
    if (sought.includes('@')) return this.byEmail(sought);
    const minors = minorsOf(sought);
    const [ids, amounts] = await Promise.all([this.byId(sought), this.byAmount(sought, minors)]);
    const found = [...ids, ...amounts];
    if (found.length > 0) return { found, told: null };
    if (minors.length > 0) return { found, told: NEWEST_AMOUNTS };
    return {
      found,
      told: sought.length < SHORTEST ? `Type at least ${SHORTEST} characters of an id or a number.` : null,
    };
  }

  private async byEmail(email: string): Promise<Result> {
    const customers = await this.customers.byEmail(email);
    if (customers === null) {
      return { found: [], told: 'Crossbill could not look this address up on Stripe. Try again in a moment.' };
    }
    const found = customers.map((c) => ({
      ...PLAIN,
      what: `Customer ${c.name ?? c.email ?? ''}`.trim(),
      id: c.customerId,
      path: pathOf('customers', c.customerId),
      exact: true,
      name: [c.name, c.email].filter((x) => x !== null).join(', '),
    }));
    return { found, told: null };
  }

  private async byId(id: string): Promise<Found[]> {
    const [payment, refund, event, dispute, whole, events, beginnings] = await Promise.all([
      this.books.payment(id),
      this.books.refund(id),
      this.events.find(id),
      this.disputes.find(id),
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
    const add = (f: Found): void => void (found.some((x) => x.path === f.path) || found.push({ ...f, exact: true }));
    if (payment !== null) add(foundPayment(payment.payment));
    if (refund !== null) add({ ...foundRefund(refund.refund), at: refund.refund.createdAt });
    if (dispute !== null) {
      const { amount: minor, currency, status, createdAt: at, kind } = dispute;
      const name = { what: capital(kind), id: objectId(dispute), path: disputePath(dispute) };
      add({ ...PLAIN, ...name, minor, currency, status, at });
    }
    // For a dispute the list leaves the invoice out, because the page of the dispute links to the invoice.
    for (const invoice of dispute === null ? whole : [])
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

  private async byAmount(text: string, minors: readonly bigint[]): Promise<Found[]> {
    const found = await Promise.all(minors.map((minor) => this.ofAmount(minor, text)));
    return found.flat();
  }

  private async ofAmount(minor: bigint, text: string): Promise<Found[]> {
    const first = { limit: OF_EACH, cursor: null };
    const [invoices, payments, refunds] = await Promise.all([
      this.invoices.list({ amount: minor }, first),
      this.payments.list({ amount: minor }, first),
      this.refunds.list({ amount: minor }, first),
    ]);
    const meant = (currency: string | null): boolean => currency !== null && minorFromTyped(text, currency) === minor;
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

/**
 * Reads a typed amount as smallest units of a currency with two decimals, such as EUR. A text without decimals also
 * counts as an amount of a currency without decimals, such as JPY. Empty: no amount.
 */
function minorsOf(text: string): readonly bigint[] {
  const minors = [minorFromTyped(text) ?? 0n, minorFromTyped(text, 'JPY') ?? 0n];
  return [...new Set(minors.filter((m) => m > 0n))];
}

const pathOf = (folder: string, id: string): string => `/console/${folder}/${encodeURIComponent(id)}`;

function foundPayment(p: PaymentRow): Found {
  const id = paymentName(p);
  const { amount: minor, currency, status, succeededAt: at } = p;
  return { ...PLAIN, what: 'Payment', id, path: pathOf('payments', id), minor, currency, status, at };
}

function foundRefund({ id, amount: minor, currency, status, succeededAt, createdAt }: RefundRow): Found {
  const at = succeededAt ?? createdAt;
  return { ...PLAIN, what: 'Refund', id, path: pathOf('refunds', id), minor, currency, status, at };
}

const PLAIN = { exact: false, minor: null, currency: null, status: null, at: null, name: null } as const;

// The ledger as a list.
import { Any, type DataSource } from 'typeorm';
import {
  type LedgerFilter,
  type LedgerRow,
  type Page,
  type PageRequest,
  type SelectionSums,
  type Span,
} from '../domain/ports/books.js';
import { InvoiceEntity } from './entities/invoice.entity.js';
import { LedgerEntryEntity } from './entities/ledger-entry.entity.js';
import { PaymentEntity } from './entities/payment.entity.js';
import { RefundEntity } from './entities/refund.entity.js';
import { ledBy } from './led-by.js';
import { inOrder } from './newest-first.js';
import { type Numbers, numbersWithin } from './number-at.js';
import { Parameters, sumUp, type Walk, walk, within } from './walk.js';

/** Every payment makes these two entries: one of them is always near. The others have an index, whose own words these are. */
export const COMMON = ['payment_collected', 'payment_marked'];
export const isRare = (alias: string): string => `${alias}.reason not in ('${COMMON.join("', '")}')`;

/**
 * Nearly every entry is made within three hours of the money's own time (a draft waits for one), so those of a month are found by their
 * numbers, and a table that each payment writes twice needs no index of this time. Those that are made later, or by a clock that is
 * wrong, have a small index of their own, whose words these are.
 */
export const STRAY = `e.recorded_at - e.moved_at not between interval '-3 hours' and interval '3 hours'`;
const STRAY_MS = 3 * 3_600_000;

/** The filter of entries by our own id of the payment, as it stands in the table. */
export type EntryFilter = Omit<LedgerFilter, 'paymentId'> & { readonly paymentRowId?: string | undefined };

/** Entries, the newest first. */
export async function ledgerPage(orm: DataSource, filter: EntryFilter, page: PageRequest): Promise<Page<LedgerRow>> {
  const found = await walk(orm, await ledgerWalk(orm, filter), page);
  const entries = await inOrder(orm.getRepository(LedgerEntryEntity), 'id', found.data);
  return { data: await ledgerRows(orm, entries), nextCursor: found.nextCursor };
}

/** What they add up to, of the newest few thousand. */
export async function ledgerSums(orm: DataSource, filter: EntryFilter): Promise<SelectionSums> {
  return sumUp(orm, await ledgerWalk(orm, filter), 'amount');
}

async function ledgerWalk(orm: DataSource, filter: EntryFilter): Promise<Walk> {
  const { reason, currency, amount } = filter;
  const parameters = new Parameters();
  const few = fewEntries(filter, parameters);
  const rare = few.length === 0 && reason !== undefined && !COMMON.includes(reason);
  const timed = filter.since !== undefined || filter.until !== undefined;
  const byNumber = timed && few.length === 0;
  return {
    from: byNumber ? await movedWithin(orm, filter, parameters) : 'ledger_entry x',
    key: 'id',
    number: 'id',
    at: null,
    lead: rare ? ['reason'] : [],
    where: [
      ...few,
      ...(rare ? [isRare('x'), ledBy('x.reason', parameters.of(reason))] : []),
      ...(byNumber ? [] : within('x.moved_at', filter, parameters)),
    ],
    parameters,
    looked: [
      ...(reason === undefined || rare ? [] : [['reason', reason] as const]),
      ...(currency === undefined ? [] : [['currency', currency] as const]),
      ...(amount === undefined ? [] : [['amount', String(amount)] as const]),
    ],
    few: few.length > 0,
  };
}

/** The entries of an invoice, a payment or a customer are few, however large the ledger is. */
function fewEntries({ invoiceId, paymentRowId, customerId }: EntryFilter, { of }: Parameters): readonly string[] {
  return [
    ...(invoiceId === undefined ? [] : [`x.invoice_id = ${of(invoiceId)}`]),
    ...(paymentRowId === undefined ? [] : [ofPayments(`id = ${of(paymentRowId)}`)]),
    ...(customerId === undefined ? [] : [ofPayments(`customer_id = ${of(customerId)}`)]),
  ];
}

/** Entries of these payments. They are found by their invoices: the ledger has no index for the payments. */
function ofPayments(which: string): string {
  const all = (column: string): string => `any (array(select ${column} from payment where ${which}))`;
  return `x.invoice_id = ${all('invoice_id')} and x.payment_row_id = ${all('id')}`;
}

/** `column` names a payment of this customer. */
export function ofCustomer(column: string, customer: string): string {
  return `${column} = any (array(select p.id from payment p where p.customer_id = ${customer}))`;
}

/** Between these are all entries that happened in this time and are no strays. */
export function entryNumbers(orm: DataSource, { since, until }: Span): Promise<Numbers> {
  return numbersWithin(orm, 'ledger_entry', 'recorded_at', {
    since: since && new Date(since.getTime() - STRAY_MS),
    until: until && new Date(until.getTime() + STRAY_MS),
  });
}

/**
 * In place of the table: what happened in this time. Each part says its order, so that the two are merged as far as a page needs; left
 * to itself PostgreSQL reads and sorts all that happened in the time.
 */
async function movedWithin(orm: DataSource, span: Span, parameters: Parameters): Promise<string> {
  const { of } = parameters;
  const { above, below } = await entryNumbers(orm, span);
  const moved = within('e.moved_at', span, parameters).join(' and ');
  return `((select e.* from ledger_entry e
             where e.id > ${of(above)}::bigint and e.id < ${of(below)}::bigint and ${moved} and not (${STRAY}) order by e.id desc)
           union all
           (select e.* from ledger_entry e where ${STRAY} and ${moved} order by e.id desc offset 0)) x`;
}

/**
 * Entries with every id that is known of what they tell of. The ids are those of today, read beside the entries: an entry is never
 * changed, and most of them come later (a record and a credit note by Stripe's answer, `pay_…` by an event or by `identify`).
 */
export async function ledgerRows(orm: DataSource, entries: readonly LedgerEntryEntity[]): Promise<LedgerRow[]> {
  const ids = (of: (e: LedgerEntryEntity) => string | null) => Any([...new Set(entries.flatMap((e) => of(e) ?? []))]);
  const [payments, refunds, invoices] = await Promise.all([
    orm.getRepository(PaymentEntity).find({
      select: { id: true, paymentId: true, customerId: true, processorChargeId: true, paymentRecordId: true },
      where: { id: ids((e) => e.paymentRowId) },
    }),
    orm.getRepository(RefundEntity).find({
      select: { id: true, morRefundId: true, processorRefundId: true, creditNoteId: true },
      where: { id: ids((e) => e.refundId) },
    }),
    orm.getRepository(InvoiceEntity).find({
      select: { invoiceId: true, number: true },
      where: { invoiceId: ids((e) => e.invoiceId) },
    }),
  ]);
  const mor = await morCustomers(
    orm,
    payments.map((p) => p.customerId),
  );
  const paymentOf = new Map(payments.map((p) => [p.id, p]));
  const refundOf = new Map(refunds.map((r) => [r.id, r]));
  const numberOf = new Map(invoices.map((i) => [i.invoiceId, i.number]));
  return entries.map((e) => {
    const p = paymentOf.get(e.paymentRowId);
    const r = e.refundId === null ? undefined : refundOf.get(e.refundId);
    return {
      ...e,
      customerId: p?.customerId ?? null,
      morCustomerId: mor.get(p?.customerId ?? '') ?? null,
      invoiceNumber: numberOf.get(e.invoiceId) ?? null,
      paymentId: p?.paymentId ?? e.paymentRowId,
      processorChargeId: p?.processorChargeId ?? e.processorChargeId,
      paymentRecordId: p?.paymentRecordId ?? null,
      morRefundId: r?.morRefundId ?? null,
      processorRefundId: r?.processorRefundId ?? null,
      creditNoteId: r?.creditNoteId ?? null,
    };
  });
}

/** The current one of each: of the newest confirmed payment method, or of the newest. A link that was made elsewhere counts as confirmed. */
export async function morCustomers(
  orm: DataSource,
  customerIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(customerIds.filter((id) => id !== null))];
  const found = await orm.query<{ customer_id: string; mor_customer_id: string }[]>(
    `select distinct on (customer_id) customer_id, mor_customer_id
       from (select customer_id, mor_customer_id, confirmed_at is not null as sure, created_at as at, seq from signup
              where customer_id = any($1) and mor_customer_id is not null
             union all
             select customer_id, mor_customer_id, signup_id is null, linked_at, 0 from customer_link where customer_id = any($1)) m
      order by customer_id, sure desc, at desc, seq desc`,
    [known],
  );
  return new Map(found.map((r) => [r.customer_id, r.mor_customer_id]));
}

// Lists ledger entries.
import { Injectable } from '@nestjs/common';
import { Any, type DataSource } from 'typeorm';
import {
  type MoneyFilter,
  type Page,
  type PageRequest,
  type SelectionSums,
  type Span,
} from '../../shared/domain/page.js';
import { Database } from '../../frames/store/database.js';
import { morCustomers } from '../../frames/store/mor-customers.js';
import { dayOf } from '../../shared/domain/day.js';
import { DAY_MS } from '../../shared/policy.js';
import {
  InvoiceEntity,
  MorObjectEntity,
  LedgerEntryEntity,
  PaymentEntity,
  RefundEntity,
} from '../../frames/store/entities.js';
import { ledBy } from '../../frames/store/led-by.js';
import { inOrder } from '../../frames/store/newest-first.js';
import { type Numbers, numbersWithin } from '../../frames/store/number-at.js';
import { Parameters, sumUp, type Walk, walk, within } from '../../frames/store/walk.js';

export type LedgerFilter = MoneyFilter & {
  readonly invoiceId?: string | undefined;
  readonly paymentId?: string | undefined;
  readonly reason?: string | undefined;
};

/** An entry with all its ids known today. */
export type LedgerRow = Omit<LedgerEntryEntity, 'paymentId'> & {
  /** The customer. Null: the read model is lost, and `crossbill rebuild` has not restored the row yet. */
  readonly customerId: string | null;
  readonly morCustomerId: string | null;
  readonly invoiceNumber: string | null;
  /** The payment's public id. */
  readonly paymentId: string;
  /** Stripe's `pr_…`. Null in mark mode `out_of_band`, and before Stripe's reply. */
  readonly paymentRecordId: string | null;
  /** The MoR's id of the refund. This and the next field are null without a refund. */
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
  /** The credit note for a refund or for a credited loss. */
  readonly creditNoteId: string | null;
};

/**
 * The two reasons with an entry for every payment. Such entries are frequent, so a scan of the table soon finds one.
 * All rarer reasons share a partial index, with `isRare` as its condition.
 */
export const COMMON = ['payment_collected', 'payment_marked'];

export const isRare = (alias: string): string => `${alias}.reason not in ('${COMMON.join("', '")}')`;

/**
 * The condition of a partial index for entries out of order: recorded more than three hours before or after the money moved.
 * Nearly every entry is recorded sooner: even a payment on a draft waits for only one hour. So all entries of a month
 * except the entries out of order lie in one span of entry numbers, and the large table needs no index on `moved_at`.
 */
export const OUT_OF_ORDER = `e.recorded_at - e.moved_at not between interval '-3 hours' and interval '3 hours'`;

const OUT_OF_ORDER_MS = 3 * 3_600_000;

type EntryFilter = Omit<LedgerFilter, 'paymentId'> & { readonly paymentRowId?: string | undefined };

@Injectable()
export class LedgerRepository {
  constructor(private readonly db: Database) {}

  /** Lists the last recorded entry first. `Span` limits the time the money moved. Throws BadCursor. */
  async list(filter: LedgerFilter, page: PageRequest): Promise<Page<LedgerRow>> {
    const { orm } = this.db;
    const of = await this.entriesOf(filter);
    if (of === null) return { data: [], nextCursor: null };
    const found = await walk(orm, await ledgerWalk(orm, of), page);
    const entries = await inOrder(orm.getRepository(LedgerEntryEntity), 'id', found.data);
    return { data: await ledgerRows(orm, entries), nextCursor: found.nextCursor };
  }

  /**
   * The sums of the filtered entries: from the daily sums if the filter allows it, otherwise over the newest few
   * thousand entries.
   */
  async sums(filter: LedgerFilter): Promise<SelectionSums> {
    const { orm } = this.db;
    const ofDays = await daySums(orm, filter);
    if (ofDays !== null) return ofDays;
    const of = await this.entriesOf(filter);
    return of === null ? { sums: [], all: true } : sumUp(orm, await ledgerWalk(orm, of), 'amount');
  }

  /** The filter with our row id in place of the payment's public id. Null if there is no such payment. */
  private async entriesOf({ paymentId, ...filter }: LedgerFilter): Promise<EntryFilter | null> {
    if (paymentId === undefined) return filter;
    const rows = this.db.orm.getRepository(PaymentEntity);
    const where = [{ paymentId }, { id: paymentId }];
    const [payment] = await rows.find({ select: { id: true }, where, order: { seq: 'ASC' }, take: 1 });
    return payment === undefined ? null : { ...filter, paymentRowId: payment.id };
  }
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

/** Conditions for an invoice, a payment or a customer. Each has few entries, and an index finds these entries. */
function fewEntries({ invoiceId, paymentRowId, customerId }: EntryFilter, { of }: Parameters): readonly string[] {
  return [
    ...(invoiceId === undefined ? [] : [`x.invoice_id = ${of(invoiceId)}`]),
    ...(paymentRowId === undefined ? [] : [ofPayments(`id = ${of(paymentRowId)}`)]),
    ...(customerId === undefined ? [] : [ofPayments(`customer_id = ${of(customerId)}`)]),
  ];
}

/** The condition for entries of these payments, through their invoices: the ledger has no index on payments. */
function ofPayments(which: string): string {
  const all = (column: string): string => `any (array(select ${column} from payment where ${which}))`;
  return `x.invoice_id = ${all('invoice_id')} and x.payment_row_id = ${all('id')}`;
}

/** The span of entry numbers around all entries of this time, except entries out of order. */
export function entryNumbers(orm: DataSource, { since, until }: Span): Promise<Numbers> {
  return numbersWithin(orm, 'ledger_entry', 'recorded_at', {
    since: since && new Date(since.getTime() - OUT_OF_ORDER_MS),
    until: until && new Date(until.getTime() + OUT_OF_ORDER_MS),
  });
}

/**
 * Selects the entries moved in this span, as a subquery of two sorted parts: the usual entries and the entries out of order. So
 * PostgreSQL merges the parts only as far as a page needs, and does not sort all entries of the span.
 */
async function movedWithin(orm: DataSource, span: Span, parameters: Parameters): Promise<string> {
  const { of } = parameters;
  const { above, below } = await entryNumbers(orm, span);
  const moved = within('e.moved_at', span, parameters).join(' and ');
  return `((select e.* from ledger_entry e
             where e.id > ${of(above)}::bigint and e.id < ${of(below)}::bigint and ${moved} and not (${OUT_OF_ORDER}) order by e.id desc)
           union all
           (select e.* from ledger_entry e where ${OUT_OF_ORDER} and ${moved} order by e.id desc offset 0)) x`;
}

/**
 * Adds all ids known today to the entries. An entry never changes, but most ids come later: a payment record and a
 * credit note with Stripe's reply, `pay_…` with an event or with a person's `identify`.
 */
export async function ledgerRows(orm: DataSource, entries: readonly LedgerEntryEntity[]): Promise<LedgerRow[]> {
  const ids = (of: (entry: LedgerEntryEntity) => string | null) =>
    Any([...new Set(entries.flatMap((e) => of(e) ?? []))]);
  const [payments, refunds, invoices, notes] = await Promise.all([
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
    lossNotes(orm, entries),
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
      creditNoteId: r?.creditNoteId ?? notes.get(e.id) ?? null,
    };
  });
}

const CREDITED: ReadonlySet<string> = new Set(['loss_credited', 'loss_credit_reversed']);

/** The credit notes for losses, by entry. An entry's `subject` begins with our id of the dispute or the return. */
async function lossNotes(orm: DataSource, entries: readonly LedgerEntryEntity[]): Promise<ReadonlyMap<string, string>> {
  const own = entries.flatMap((e) => (CREDITED.has(e.reason) ? [{ id: e.id, of: e.subject.split(':')[0] ?? '' }] : []));
  if (own.length === 0) return new Map();
  const where = { id: Any([...new Set(own.map((e) => e.of))]) };
  const losses = await orm.getRepository(MorObjectEntity).find({ select: { id: true, detail: true }, where });
  const noteOf = new Map(losses.map((o) => [o.id, o.detail.credit?.noteId ?? null]));
  return new Map(own.flatMap((e) => ((noteOf.get(e.of) ?? null) === null ? [] : [[e.id, noteOf.get(e.of) ?? '']])));
}

/**
 * A sum adds at most this many entries that the daily sums do not contain yet. Usually these are the entries of the
 * last minutes. There are more only while a daemon catches up.
 */
const UNFOLDED_MOST = 50_000;

/**
 * Returns the sums of a filter from the daily sums, so the number of entries does not matter. Null if the filter needs
 * more detail than a daily sum has, or if the daily sums lack too many entries.
 */
export async function daySums(orm: DataSource, filter: LedgerFilter): Promise<SelectionSums | null> {
  const { since, until, reason, currency, amount, invoiceId, paymentId, customerId } = filter;
  const narrower = [amount, invoiceId, paymentId, customerId].some((value) => value !== undefined);
  const wholeDays = [since, until].every((time) => time === undefined || time.getTime() % DAY_MS === 0);
  if (narrower || !wholeDays) return null;
  const [fold] = await orm.query<{ behind: string }[]>(
    'select coalesce((select max(id) from ledger_entry), 0) - up_to as behind from ledger_fold',
  );
  if (fold === undefined || Number(fold.behind) > UNFOLDED_MOST) return null;
  // One statement reads the daily sums and the later entries. So no entry counts twice, even while another process
  // moves entries into the daily sums.
  const found = await orm.query<{ currency: string; rows: string; minor: string }[]>(
    `select currency, sum(entries)::text as rows, sum(amount)::text as minor from (
       select day, currency, reason, entries, amount from ledger_day
       union all
       select (moved_at at time zone 'UTC')::date, currency, reason, 1, amount from ledger_entry
        where id > (select up_to from ledger_fold)) x
      where ($1::date is null or day >= $1) and ($2::date is null or day < $2)
        and ($3::text is null or reason = $3) and ($4::text is null or currency = $4)
      group by currency order by sum(entries) desc, currency`,
    [
      since === undefined ? null : dayOf(since),
      until === undefined ? null : dayOf(until),
      reason ?? null,
      currency ?? null,
    ],
  );
  return {
    sums: found.map((r) => ({ currency: r.currency, rows: Number(r.rows), minor: BigInt(r.minor) })),
    all: true,
  };
}

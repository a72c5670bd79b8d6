// Verify's bulk reads and its findings in PostgreSQL.
import { Inject, Injectable } from '@nestjs/common';
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type TaxRecord } from '../domain/tax-record.js';
import { type TakeUp, untoldOf, VerifyBooks, type VerifyRun } from '../domain/ports/verify-books.js';
import { type Acknowledgement, type Difference, type OurInvoice, type VerifyProgress } from '../domain/difference.js';
import { differenceId } from '../verify/rules/acknowledge.js';
import { type LossWindow } from '../domain/ports/loss.js';
import { VERIFY_ABANDONED_AFTER_MS, VERIFY_RESUME_WITHIN_MS } from '../policy.js';
import { PROGRESS_VERSION, progressFromJson, progressToJson } from '../verify/rules/progress.js';
import { type Codec, fromRow, INVOICE, jsonText, OBJECT, PAYMENT, REFUND, REVIEW, TAX } from './codec.js';
import { DatabaseTime, laterSql, timeSql } from './database-time.js';
import { Database } from './database.js';
import { MarkLookups } from '../domain/ports/mark-lookups.js';
import { PgMarkLookups } from './pg-mark-lookups.js';

type Row = Record<string, unknown>;

@Injectable()
export class PgVerifyBooks extends VerifyBooks {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
    @Inject(MarkLookups) override readonly marks: MarkLookups = new PgMarkLookups(db),
  ) {
    super();
  }

  async invoices(invoiceIds: readonly string[]): Promise<readonly OurInvoice[]> {
    if (invoiceIds.length === 0) return [];
    return this.join(await this.of(INVOICE, invoiceIds));
  }

  async openEnds(
    since: Date,
    after: bigint,
    limit: number,
  ): Promise<readonly (OurInvoice & { readonly seq: bigint })[]> {
    // Each part is found by a small index of its own, so that invoices at rest cost nothing, however many there are.
    const found = await this.db.pool.query<Row>(
      `with ends as (
         select invoice_id from invoice where status in ('held', 'marking', 'review')
         union select invoice_id from invoice where status = 'expected' and expected_by < ${timeSql(3)}
         union select invoice_id from refund where created_at >= $4 or mirror not in ('done', 'not_needed')
         union select invoice_id from tax_record where stage not in ('committed', 'closed')
         union select invoice_id from payment where succeeded_at is not null and mark not in ('confirmed', 'closed'))
       select i.* from invoice i join ends using (invoice_id) where i.seq > $1 order by i.seq limit $2`,
      [after, limit, this.time.given(), since],
    );
    const joined = await this.join(found.rows.map((r) => fromRow(INVOICE, r)));
    return joined.map((o, i) => ({ ...o, seq: BigInt((found.rows[i]?.['seq'] as string | undefined) ?? '0') }));
  }

  private async of<T>(codec: Codec<T>, invoiceIds: readonly string[], and = ''): Promise<T[]> {
    const found = await this.db.pool.query<Row>(
      `select * from ${codec.table} where invoice_id = any($1) ${and} order by seq`,
      [invoiceIds],
    );
    return found.rows.map((r) => fromRow(codec, r));
  }

  private async join(invoices: readonly InvoiceRow[]): Promise<OurInvoice[]> {
    const ids = invoices.map((i) => i.invoiceId);
    const [payments, refunds, objects, taxes, reviews] = await Promise.all([
      this.of(PAYMENT, ids).then((rows) => group<PaymentRow>(rows)),
      this.of(REFUND, ids).then((rows) => group<RefundRow>(rows)),
      this.of(OBJECT, ids).then((rows) => group<MorObjectRow>(rows)),
      this.of(TAX, ids).then((rows) => group<TaxRecord>(rows)),
      this.of(REVIEW, ids, `and status = 'open'`).then((rows) => group<ReviewRow>(rows)),
    ]);
    return invoices.map((invoice) => ({
      invoice,
      payments: payments.get(invoice.invoiceId) ?? [],
      refunds: refunds.get(invoice.invoiceId) ?? [],
      openReviews: reviews.get(invoice.invoiceId) ?? [],
      objects: objects.get(invoice.invoiceId) ?? [],
      taxes: taxes.get(invoice.invoiceId) ?? [],
    }));
  }

  async unknownEvents(eventIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (eventIds.length === 0) return new Set();
    const found = await this.db.pool.query<{ id: string }>(
      `select given.id from unnest($1::text[]) as given(id)
        where not exists (select 1 from inbox_event e where e.source = 'stripe' and e.event_id = given.id)`,
      [eventIds],
    );
    return new Set(found.rows.map((r) => r.id));
  }

  async payingCustomers(customerIds: readonly string[]): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ id: string }>(
      `select given.id from unnest($1::text[]) as given(id)
        where exists (select 1 from payment p where p.customer_id = given.id and p.succeeded_at is not null)`,
      [customerIds],
    );
    return found.rows.map((r) => r.id);
  }

  async installedAt(): Promise<Date> {
    const found = await this.db.pool.query<{ began_at: Date }>('select began_at from installation');
    return found.rows[0]?.began_at ?? new Date(0);
  }

  async begin(run: VerifyRun, progress: VerifyProgress): Promise<void> {
    await this.db.pool.query(
      `insert into verify_run (id, since, began_at, started_at, saved_at, outcome, compared, progress)
         values ($1, $2, $3, $4, ${timeSql(8)}, $5, $6, $7)`,
      [
        run.id,
        run.since,
        run.beganAt,
        run.startedAt,
        run.outcome,
        jsonText(run.compared),
        jsonText(progressToJson(progress)),
        this.time.given(),
      ],
    );
  }

  async save(run: VerifyRun, progress: VerifyProgress | null): Promise<boolean> {
    // Who takes a run up takes its progress away: whoever had it before writes nothing any more.
    const saved = await this.db.pool.query(
      `update verify_run set finished_at = $2, outcome = $3, compared = $4, differences = $5, more = $6, loss_windows = $7,
              progress = $8, saved_at = ${timeSql(9)}, marks_left = $10
        where id = $1 and progress is not null`,
      [
        run.id,
        run.finishedAt,
        run.outcome,
        jsonText(run.compared),
        jsonText(run.differences),
        jsonText(run.more),
        jsonText(run.lossWindows),
        progress === null ? null : jsonText(progressToJson(progress)),
        this.time.given(),
        run.marksLeft,
      ],
    );
    return saved.rowCount === 1;
  }

  async takeUp({ id, now, since, settings }: TakeUp): Promise<{ run: VerifyRun; progress: VerifyProgress } | null> {
    // One statement: two that look at once find one row between them, and what it was is nowhere else in the meantime.
    const found = await this.db.pool.query<Row>(
      `with cut as (
         select id, progress as was from verify_run
          where progress is not null and (outcome = 'incomplete' or (outcome = 'running' and saved_at < ${timeSql(9)} - $4::float8 * interval '1 millisecond'))
            and began_at > $5 and since <= $3 and since > $8
            and progress -> 'version' = $6 and progress -> 'settings' = $7
            and not exists (select 1 from verify_run n where n.seq > verify_run.seq and n.outcome in ('clean', 'differences'))
          order by seq desc limit 1 for update skip locked),
       taken as (
         update verify_run r set progress = null, outcome = 'incomplete', finished_at = coalesce(r.finished_at, r.saved_at)
           from cut where r.id = cut.id returning r.*, cut.was)
       insert into verify_run (id, since, began_at, started_at, saved_at, outcome, compared, differences, more, progress, resumed_from)
         select $1, since, began_at, $2, ${timeSql(9)}, 'running', compared, differences, more, was, id from taken returning *`,
      [
        id,
        now,
        since,
        VERIFY_ABANDONED_AFTER_MS,
        new Date(now.getTime() - VERIFY_RESUME_WITHIN_MS),
        PROGRESS_VERSION,
        jsonText(settings),
        new Date(since.getTime() - VERIFY_RESUME_WITHIN_MS),
        this.time.given(),
      ],
    );
    const row = found.rows[0];
    return row === undefined ? null : { run: runOf(row), progress: progressFromJson(row['progress']) };
  }

  async last(): Promise<VerifyRun | null> {
    const found = await this.db.pool.query<Row>(
      `select * from verify_run where outcome <> 'running' order by seq desc limit 1`,
    );
    const row = found.rows[0];
    if (row === undefined) return null;
    const kept = runOf(row);
    const run = { ...kept, differences: await this.withAcknowledgements(kept.differences) };
    return run.outcome === 'differences' && untoldOf(run) === 0 ? { ...run, outcome: 'clean' } : run;
  }

  async withAcknowledgements(differences: readonly Difference[]): Promise<readonly Difference[]> {
    if (differences.length === 0) return differences;
    const ids = differences.map(differenceId);
    const found = await this.db.pool.query<{ id: string; note: string; by: string; at: Date }>(
      'select id, coalesce(note, $$erased$$) as note, by, at from difference_ack where id = any($1)',
      [ids],
    );
    const known = new Map(found.rows.map(({ id, ...by }) => [id, by]));
    return differences.map((d, i) => ({ ...d, acknowledged: known.get(ids[i] ?? '') ?? null }));
  }

  async acknowledge(id: string, acknowledged: Acknowledgement): Promise<Difference | null> {
    const run = await this.last();
    const difference = run?.differences.find((d) => differenceId(d) === id);
    if (difference === undefined) return null;
    const { note, by, at } = acknowledged;
    await this.db.pool.query(
      `insert into difference_ack (id, kind, invoice_id, note, by, at) values ($1, $2, $3, $4, $5, $6)
       on conflict (id) do update set note = excluded.note, by = excluded.by, at = excluded.at`,
      [id, difference.kind, difference.invoiceId, note, by, at],
    );
    return { ...difference, acknowledged };
  }

  async lastComplete(): Promise<Date | null> {
    const found = await this.db.pool.query<{ at: Date | null }>(
      `select finished_at as at from verify_run where outcome in ('clean', 'differences') order by seq desc limit 1`,
    );
    return found.rows[0]?.at ?? null;
  }

  async atRest(lanes: readonly string[]): Promise<boolean> {
    const found = await this.db.pool.query<{ busy: boolean }>(
      `select exists (select 1 from inbox_event where lane = any($1) and status = 'received')
           or exists (select 1 from lane where key = any($1) and (due_at <= ${timeSql(2)} or lease_until > ${timeSql(2)})) as busy`,
      [lanes, this.time.given()],
    );
    return found.rows[0]?.busy === false;
  }

  async claimRun(forMs: number): Promise<boolean> {
    const taken = await this.db.pool.query(
      `insert into lane as l (key, lease_until) values ('job:verify', ${laterSql(1, 2)})
       on conflict (key) do update set lease_until = excluded.lease_until
         where l.lease_until is null or l.lease_until <= ${timeSql(1)}
            -- Nobody waits longer than a day: the server's clock was wrong, and set right since.
            or l.lease_until > ${timeSql(1)} + interval '2 days'`,
      [this.time.given(), forMs],
    );
    return taken.rowCount === 1;
  }

  async nextRunIn(ms: number): Promise<void> {
    const sql = `update lane set lease_until = ${laterSql(1, 2)} where key = 'job:verify'`;
    await this.db.pool.query(sql, [this.time.given(), ms]);
  }
}

function runOf(r: Row): VerifyRun {
  const startedAt = r['started_at'] as Date;
  return {
    id: r['id'] as string,
    since: (r['since'] as Date | null) ?? startedAt, // null: made by a release that did not write it down
    startedAt,
    beganAt: (r['began_at'] as Date | null) ?? startedAt,
    resumedFrom: r['resumed_from'] as string | null,
    finishedAt: r['finished_at'] as Date | null,
    outcome: r['outcome'] as VerifyRun['outcome'],
    compared: r['compared'] as Record<string, number>,
    differences: r['differences'] as Difference[],
    more: r['more'] as VerifyRun['more'],
    marksLeft: typeof r['marks_left'] === 'string' ? Number(r['marks_left']) : null,
    lossWindows: (r['loss_windows'] as KeptWindow[]).map(({ events, closed }) => ({
      events: dated(events),
      closed: dated(closed),
    })),
  };
}

/** A window as JSON keeps it. */
type KeptSpan = { readonly from: string; readonly to: string };
type KeptWindow = { readonly [K in keyof LossWindow]: KeptSpan };

function dated({ from, to }: KeptSpan): LossWindow['events'] {
  return { from: new Date(from), to: new Date(to) };
}

function group<T extends { readonly invoiceId: string | null }>(rows: readonly T[]): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const r of rows) {
    if (r.invoiceId === null) continue;
    const list = out.get(r.invoiceId);
    if (list === undefined) out.set(r.invoiceId, [r]);
    else list.push(r);
  }
  return out;
}

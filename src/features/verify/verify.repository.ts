// The runs of verify: stores them, resumes an interrupted run, and lets one replica make the daily run.
import { Injectable } from '@nestjs/common';
import { Any, Not } from 'typeorm';
import { MarksRepository } from './marks.repository.js';
import { RecordsRepository } from './records.repository.js';
import { maskCards } from '../../shared/masks/card-numbers.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';
import { type Acknowledgement, type Difference } from '../../shared/domain/difference.js';
import { openOf, type VerifyRun } from './rules/run.js';
import {
  VERIFY_ABANDONED_AFTER_MS,
  VERIFY_AGAIN_AFTER_MS,
  VERIFY_HELD_MS,
  VERIFY_RESUME_WITHIN_MS,
} from './rules/limits.js';
import { PROGRESS_VERSION, type VerifyProgress } from './rules/progress.js';
import { invoiceNumbers } from '../../engine/read-model.js';
import { jsonText } from '../../frames/store/codec.js';
import { DatabaseTime, laterSql, readTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { DifferenceAckEntity } from './difference-ack.entity.js';
import { VerifyRunEntity } from './verify-run.entity.js';

/** A new run that asks to resume an interrupted run. */
export type TakeUp = {
  readonly id: string;
  readonly now: Date;
  /** The interrupted run's own `since` must equal this time, or lie at most a day before this time. */
  readonly since: Date;
  readonly settings: DecisionSettings;
};

@Injectable()
export class VerifyRepository {
  private readonly runs = this.db.orm.getRepository(VerifyRunEntity);
  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
    readonly marks: MarksRepository = new MarksRepository(db),
    /** Our records, to compare. */
    readonly records: RecordsRepository = new RecordsRepository(db, clock),
  ) {}

  /** The database's time. Every replica uses it for the times of runs. */
  time(): Promise<Date> {
    return readTime(this.db.pool, this.clock);
  }

  /**
   * The first start of this installation. Stripe's earlier events were never meant for Crossbill, so none of them is
   * missing.
   */
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
        jsonText(progress),
        this.clock.given(),
      ],
    );
  }

  /**
   * Saves the findings of a run. `progress` null: the run is complete. If another run has resumed this one, writes
   * nothing and returns false.
   */
  async save(run: VerifyRun, progress: VerifyProgress | null): Promise<boolean> {
    // A resuming run removes the progress of this run. So the process of this run can save nothing more.
    const saved = await this.db.pool.query(
      `update verify_run set finished_at = $2, outcome = $3, compared = $4, differences = $5, more = $6, loss_windows = $7,
              progress = $8, saved_at = ${timeSql(9)}, marks_left = $10
        where id = $1 and progress is not null`,
      [
        run.id,
        run.finishedAt,
        run.outcome,
        jsonText(run.compared),
        jsonText(run.differences.map(({ acknowledged: _, ...found }) => found)),
        jsonText(run.more),
        jsonText(run.lossWindows),
        progress === null ? null : jsonText(progress),
        this.clock.given(),
        run.marksLeft,
      ],
    );
    return saved.rowCount === 1;
  }

  /**
   * Continues the newest interrupted run as a new run, for one caller only. Null: no run was interrupted, or the run is
   * too old, has another version or other settings, or a complete run followed.
   */
  async takeUp({ id, now, since, settings }: TakeUp): Promise<{ run: VerifyRun; progress: VerifyProgress } | null> {
    // One statement does it all: of two callers only one finds the row, and only one run has the progress.
    const found = await this.db.pool.query<{ progress: VerifyProgress }>(
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
         select $1, since, began_at, $2, ${timeSql(9)}, 'running', compared, differences, more, was, id from taken returning progress`,
      [
        id,
        now,
        since,
        VERIFY_ABANDONED_AFTER_MS,
        new Date(now.getTime() - VERIFY_RESUME_WITHIN_MS),
        PROGRESS_VERSION,
        jsonText(settings),
        new Date(since.getTime() - VERIFY_RESUME_WITHIN_MS),
        this.clock.given(),
      ],
    );
    const [made] = found.rows;
    if (made === undefined) return null;
    return { run: await this.runs.findOneByOrFail({ id }), progress: made.progress };
  }

  /** The numbers of the invoices with these differences, by invoice id. */
  numbers(differences: readonly Difference[]): Promise<ReadonlyMap<string, string | null>> {
    const named = differences.flatMap(({ invoiceId }) => (invoiceId === null ? [] : [{ invoiceId }]));
    return invoiceNumbers(this.db.orm, named);
  }

  /** The newest finished run, with the present acknowledgements. Null: there was none. */
  async last(): Promise<VerifyRun | null> {
    const [row] = await this.runs.find({ where: { outcome: Not('running') }, order: { seq: 'DESC' }, take: 1 });
    if (row === undefined) return null;
    const run: VerifyRun = { ...row, differences: await this.withAcknowledgements(row.differences) };
    return run.outcome === 'differences' && openOf(run) === 0 ? { ...run, outcome: 'clean' } : run;
  }

  /** The id of the newest ended run. Null: none has ended. */
  async lastId(): Promise<string | null> {
    const found = await this.db.pool.query<{ id: string }>(
      `select id from verify_run where outcome <> 'running' order by seq desc limit 1`,
    );
    return found.rows[0]?.id ?? null;
  }

  /** Adds each difference's acknowledgement. */
  async withAcknowledgements(differences: readonly Difference[]): Promise<readonly Difference[]> {
    if (differences.length === 0) return differences;
    const ids = differences.map((d) => d.id);
    const acks = await this.db.orm.getRepository(DifferenceAckEntity).findBy({ id: Any(ids) });
    const known = new Map(acks.map(({ id, note, by, at }) => [id, { note: note ?? 'erased', by, at }]));
    return differences.map((d) => ({ ...d, acknowledged: known.get(d.id) ?? null }));
  }

  /**
   * Stores a person's acknowledgement of a difference in the newest run. A second note replaces the first. Null: the
   * run has no such difference.
   */
  async acknowledge(id: string, given: Acknowledgement): Promise<Difference | null> {
    const run = await this.last();
    const difference = run?.differences.find((d) => d.id === id);
    if (difference === undefined) return null;
    const acknowledged = { ...given, note: maskCards(given.note) };
    const { note, by, at } = acknowledged;
    await this.db.pool.query(
      `insert into difference_ack (id, kind, invoice_id, note, by, at) values ($1, $2, $3, $4, $5, $6)
       on conflict (id) do update set note = excluded.note, by = excluded.by, at = excluded.at`,
      [id, difference.kind, difference.invoiceId, note, by, at],
    );
    return { ...difference, acknowledged };
  }

  /** The end of the newest complete run. Null: there was none. */
  async lastComplete(): Promise<Date | null> {
    const found = await this.db.pool.query<{ finished_at: Date }>(
      `select finished_at from verify_run where outcome in ('clean', 'differences') order by seq desc limit 1`,
    );
    return found.rows[0]?.finished_at ?? null;
  }

  /** True if none of these lanes has an event to decide, a call to send, or other work due now. */
  async isIdle(lanes: readonly string[]): Promise<boolean> {
    const found = await this.db.pool.query<{ busy: boolean }>(
      `select exists (select 1 from inbox_event where lane = any($1) and status = 'received')
           or exists (select 1 from lane where key = any($1) and (due_at <= ${timeSql(2)} or lease_until > ${timeSql(2)})) as busy`,
      [lanes, this.clock.given()],
    );
    return found.rows[0]?.busy === false;
  }

  /** Claims the daily run for `forMs` milliseconds. Returns true for only one caller of all replicas. */
  async claimRun(forMs: number): Promise<boolean> {
    const taken = await this.db.pool.query(
      `insert into lane as l (key, lease_until) values ('job:verify', ${laterSql(1, 2)})
       on conflict (key) do update set lease_until = excluded.lease_until
         where l.lease_until is null or l.lease_until <= ${timeSql(1)}
            -- Nobody waits longer than a day: the server's clock was wrong, and a person corrected it.
            or l.lease_until > ${timeSql(1)} + interval '2 days'`,
      [this.clock.given(), forMs],
    );
    return taken.rowCount === 1;
  }

  /** Lets the daily run begin at the next look. False: a run is under way, or begins by itself within the hour. */
  async runSoon(): Promise<boolean> {
    const sql = `update lane set lease_until = ${timeSql(1)} where key = 'job:verify' and lease_until > ${laterSql(1, 2)}`;
    const moved = await this.db.pool.query(sql, [this.clock.given(), Math.max(VERIFY_HELD_MS, VERIFY_AGAIN_AFTER_MS)]);
    return moved.rowCount === 1;
  }

  /** Delays the daily run: no replica starts it for this many milliseconds. */
  async nextRunIn(ms: number): Promise<void> {
    const sql = `update lane set lease_until = ${laterSql(1, 2)} where key = 'job:verify'`;
    await this.db.pool.query(sql, [this.clock.given(), ms]);
  }
}

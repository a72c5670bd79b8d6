// A standby of our database, for reads: that it is one, and that it has all that was committed before somebody reads from it.
import type pg from 'pg';
import { DatabaseRefused, sqlState } from './database-errors.js';

/** Milliseconds for which a read waits until the standby has caught up; streaming takes a few. */
const WAIT_MS = 300;
/** Milliseconds until one that was behind is looked at again, and one that did not answer: reads do not wait for it meanwhile. */
const BEHIND_MS = 2_000;
const GONE_MS = 10_000;
/** Of a standby: "canceling statement due to conflict with recovery". */
const CANCELLED = '40001';
/** Milliseconds between two lines of the log that say the same. */
const SAID_AGAIN_MS = 60_000;

/** `promoted`: it takes writes itself. `old_line`: it has not followed the primary since a failover. `other`: it is another database. */
export type StandbyState = 'used' | 'behind' | 'gone' | 'promoted' | 'old_line' | 'other';

export type StandbyNews = { readonly state: StandbyState; readonly detail: string };

/** What is read there, and how to end it. */
export type Reading = { readonly pool: pg.Pool; close(): Promise<void> };

const DETAIL: Readonly<Record<Exclude<StandbyState, 'gone'>, string>> = {
  used: 'it has all that was committed',
  behind: 'it is behind the primary',
  promoted: 'it takes writes itself: it was promoted, or it is the primary',
  other: 'it is no standby of this server any more',
  old_line: 'it has not followed the primary since a failover: it does within minutes, or has to be made again',
};

/**
 * What the primary has on disk; nothing that anybody was told, and nothing that anybody saw, is beyond it. The first eight digits of a
 * file of the log are its timeline.
 */
const NOW = `select pg_current_wal_flush_lsn()::text as lsn, s.system_identifier::text as system,
    ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::int as timeline
  from pg_control_system() s`;

/** A standby writes down which timeline it follows, at the latest when it has taken a checkpoint of the new primary. */
const HAS = `select pg_is_in_recovery() as standby, coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as there,
    s.system_identifier::text as system, greatest(c.timeline_id, r.min_recovery_end_timeline) as timeline
  from pg_control_checkpoint() c, pg_control_recovery() r, pg_control_system() s`;

const WHO = `select s.system_identifier::text as system, d.oid::text as database, to_regclass('ledger_entry')::oid::text as ledger,
    pg_is_in_recovery() as standby
  from pg_control_system() s, pg_database d where d.datname = current_database()`;

type Now = { readonly lsn: string; readonly system: string; readonly timeline: number };
type Has = { readonly standby: boolean; readonly there: boolean; readonly system: string; readonly timeline: number };
type Who = {
  readonly system: string;
  readonly database: string;
  readonly ledger: string | null;
  readonly standby: boolean;
};

export class Standby<R extends Reading> {
  private opening: Promise<R> | null = null;
  private notBefore = 0;
  private news: StandbyNews = { state: 'used', detail: 'it was not asked yet' };
  private readonly saidAt = new Map<StandbyState, number>();
  private closed = false;

  /**
   * @param open connects; rejects with DatabaseRefused where waiting does not help
   * @param say hears when reads go to the primary, and when they come back
   */
  constructor(
    private readonly primary: pg.Pool,
    private readonly open: () => Promise<R>,
    private readonly say: (news: StandbyNews) => void,
  ) {}

  /**
   * At start. One that does not answer, lags or was promoted is for later; reads go to the primary.
   * @throws DatabaseRefused when it is no standby of this database, or cannot be used as it is
   */
  async check(): Promise<void> {
    try {
      await this.opened();
    } catch (e) {
      if (e instanceof DatabaseRefused) throw e;
      this.leave('gone', `it does not answer (${reasonOf(e)})`, GONE_MS);
    }
  }

  /** Where to read now; null: on the primary. Never rejects. */
  async caughtUp(): Promise<R | null> {
    if (this.closed || performance.now() < this.notBefore) return null;
    const now = await this.primary.query<Now>(NOW).then(
      ({ rows }) => rows[0],
      () => undefined, // whoever reads on the primary will hear of it
    );
    if (now === undefined) return null;
    try {
      const reading = await this.opened();
      return (await this.has(reading, now)) ? reading : null;
    } catch (e) {
      this.failed(e);
      return null;
    }
  }

  /** Something that was read there failed: it is left alone for a while, unless the read only stood in the way of what the primary sent. */
  failed(e: unknown): void {
    if (sqlState(e) === CANCELLED) return;
    if (e instanceof DatabaseRefused) this.leave('other', e.message.replace(/\.$/, ''), GONE_MS);
    else this.leave('gone', `it does not answer (${reasonOf(e)})`, GONE_MS);
  }

  async standing(): Promise<StandbyNews> {
    this.notBefore = 0;
    await this.caughtUp();
    return this.news;
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.disconnect();
  }

  /** Reads that are under way there end first. */
  private async disconnect(): Promise<void> {
    const { opening } = this;
    this.opening = null;
    await opening?.then((reading) => reading.close()).catch(() => undefined);
  }

  /** Waits a moment for it. */
  private async has({ pool }: R, { lsn, system, timeline }: Now): Promise<boolean> {
    const deadline = performance.now() + WAIT_MS;
    for (let pause = 5; ; pause *= 2) {
      const { rows } = await pool.query<Has>(HAS, [lsn]);
      const [seen] = rows;
      if (seen?.system !== system) return this.leave('other', DETAIL.other, GONE_MS);
      if (!seen.standby) return this.leave('promoted', DETAIL.promoted, GONE_MS);
      if (seen.timeline < timeline) return this.leave('old_line', DETAIL.old_line, GONE_MS);
      if (seen.there) {
        this.tell('used', DETAIL.used);
        return true;
      }
      if (performance.now() + pause > deadline) return this.leave('behind', DETAIL.behind, BEHIND_MS);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  /** Connected, and known to be a standby of our database. */
  private opened(): Promise<R> {
    if (this.opening !== null) return this.opening;
    const opening = this.connected();
    this.opening = opening;
    opening.catch(() => {
      if (this.opening === opening) this.opening = null;
    });
    return opening;
  }

  private async connected(): Promise<R> {
    const reading = await this.open();
    try {
      const who = async (pool: pg.Pool): Promise<Who | undefined> => (await pool.query<Who>(WHO)).rows[0];
      const [ours, theirs] = [await who(this.primary), await who(reading.pool)];
      refuseOther(ours, theirs);
      return reading;
    } catch (e) {
      await reading.close();
      throw e;
    }
  }

  private leave(state: StandbyState, detail: string, forMs: number): false {
    this.notBefore = performance.now() + forMs;
    if (state !== 'behind' && state !== 'old_line') void this.disconnect(); // whoever answers next time is looked at again
    this.tell(state, detail);
    return false;
  }

  private tell(state: StandbyState, detail: string): void {
    const was = this.news.state;
    this.news = { state, detail };
    if (was === state) return;
    const now = performance.now();
    const before = this.saidAt.get(state);
    if (before !== undefined && now - before < SAID_AGAIN_MS) return;
    this.saidAt.set(state, now);
    this.say(this.news);
  }
}

/** @throws DatabaseRefused */
function refuseOther(ours: Who | undefined, theirs: Who | undefined): void {
  const todo =
    'Name a streaming standby of the server of DATABASE_URL, with the same database, or take READ_DATABASE_URL out';
  if (ours === undefined || theirs === undefined) throw new Error('the server says nothing about itself');
  if (ours.system !== theirs.system)
    throw new DatabaseRefused(
      'standby',
      'READ_DATABASE_URL leads to a server that is no standby of the one of DATABASE_URL',
      todo,
    );
  if (ours.database !== theirs.database || (theirs.ledger !== null && ours.ledger !== theirs.ledger))
    throw new DatabaseRefused(
      'standby',
      'READ_DATABASE_URL leads to another database or schema than DATABASE_URL',
      todo,
    );
}

function reasonOf(e: unknown): string {
  return sqlState(e) ?? (e instanceof Error ? e.message : 'no reason given');
}

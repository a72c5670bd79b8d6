// Writes the read rows of every lane again from its log, the oldest lane first.
import { LaneUnreadable } from './lane.repository.js';
import { type Database, onConnection, violatedConstraint } from '../frames/store/database.js';
import { allRows, foldOf } from './lane-reader.js';
import { TABLES, writesOf } from './read-rows.js';

export type Rebuilt = {
  /** The number of lanes read. */
  readonly lanes: number;
  /** The number of lanes with read rows unlike their log. */
  readonly differed: number;
  /** The lanes without a rebuild: their log is unreadable, or another lane has the same unique value. */
  readonly failed: readonly { readonly lane: string; readonly why: string }[];
};

const LANES_AT_ONCE = 500;

export class Rebuild {
  constructor(private readonly db: Database) {}

  async count(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>('select count(*) as n from lane_log where version = 1');
    return Number(found.rows[0]?.n ?? 0);
  }

  /**
   * Compares each lane's read rows with its log, in one transaction for each lane. If `check` is false, also writes the
   * wrong rows. If a daemon wrote a lane meanwhile, reads the lane again. Safe to run next to daemons, and to repeat.
   */
  async run(check: boolean, onProgress: (lanes: number) => void): Promise<Rebuilt> {
    let lanes = 0;
    let differed = 0;
    const failed = new Map<string, string>();
    const rebuild = async (lane: string): Promise<void> => {
      const done = await this.rebuilt(lane, check);
      if (typeof done === 'string') failed.set(lane, done);
      else failed.delete(lane);
      if (done === true) differed++;
    };
    for (let after: Cursor = { at: new Date(0), lane: '' }; ;) {
      const batch = await this.lanesAfter(after);
      const last = batch.at(-1);
      if (last === undefined) break;
      for (const { lane } of batch) await rebuild(lane);
      lanes += batch.length;
      after = last;
      onProgress(lanes);
    }
    // The rebuild of a lane fails if another lane's row has the same unique value. If that row was wrong, the rebuild
    // has corrected the row by now. So each failed lane gets a second try.
    for (const lane of [...failed.keys()]) await rebuild(lane);
    return { lanes, differed, failed: [...failed].map(([lane, why]) => ({ lane, why })) };
  }

  private async lanesAfter({ at, lane }: Cursor): Promise<readonly Cursor[]> {
    const found = await this.db.pool.query<Cursor>(
      `select at, lane from lane_log where version = 1 and (at, lane) > ($1, $2) order by at, lane limit ${LANES_AT_ONCE}`,
      [at, lane],
    );
    return found.rows;
  }

  /** Returns true if the lane's rows differed, or a text with the reason why Crossbill could not rebuild this lane. */
  private async rebuilt(lane: string, check: boolean): Promise<boolean | string> {
    try {
      for (;;) {
        const differed = await this.once(lane, check);
        if (differed !== null) return differed;
      }
    } catch (e) {
      if (e instanceof LaneUnreadable || (e instanceof Error && violatedConstraint(e) !== null)) return e.message;
      throw e;
    }
  }

  /** Compares or rebuilds one lane. Null: a daemon wrote the lane meanwhile, and this transaction changed nothing. */
  private once(lane: string, check: boolean): Promise<boolean | null> {
    return onConnection(this.db.pool, async (db) => {
      await db.query('begin');
      const rows = await allRows(db, lane);
      const { shown } = foldOf(lane, rows);
      let differs = false;
      for (const table of TABLES) {
        const writes = writesOf(table, [await table.changesInStore(db, shown)]);
        differs ||= writes.length > 0;
        if (!check) for (const w of writes) await db.query(w.sql(1), [w.value]);
      }
      // If a daemon wrote the lane after the rebuild had read the log, the rows computed here are outdated. From now on
      // our row locks hold up every daemon.
      const now = await db.query<{ version: number }>('select max(version) as version from lane_log where lane = $1', [
        lane,
      ]);
      const overtaken = now.rows[0]?.version !== rows.at(-1)?.version;
      await db.query(overtaken ? 'rollback' : 'commit');
      return overtaken ? null : differs;
    });
  }
}

type Cursor = { readonly at: Date; readonly lane: string };

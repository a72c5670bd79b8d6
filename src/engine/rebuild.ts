// Writes the read rows of every lane again from its log, the oldest lane first.
import { LaneUnreadable } from './lane-store.js';
import { type Database, onConnection, violatedConstraint } from '../store/database.js';
import { allRows, foldOf } from './lane-reader.js';
import { TABLES, writesOf } from './read-rows.js';

export type Rebuilt = {
  /** Lanes read. */
  readonly lanes: number;
  /** Lanes whose read rows differed from their log. */
  readonly differed: number;
  /** Lanes without a rebuild: their log is unreadable, or another lane's rows hold a unique value. */
  readonly failed: readonly { readonly lane: string; readonly why: string }[];
};

const LANES_AT_ONCE = 500;

export class Rebuild {
  constructor(private readonly db: Database) {}

  /** How many lanes there are. */
  async count(): Promise<number> {
    const found = await this.db.pool.query<{ n: string }>('select count(*) as n from lane_log where version = 1');
    return Number(found.rows[0]?.n ?? 0);
  }

  /**
   * Compares each lane's read rows with its log, and writes those that differ unless `check`. Each lane is one transaction; one that a
   * daemon wrote meanwhile is read again. Safe to run beside daemons, and again.
   */
  async run(check: boolean, onProgress: (lanes: number) => void): Promise<Rebuilt> {
    let lanes = 0;
    let differed = 0;
    const again: string[] = [];
    for (let after: Cursor = { at: new Date(0), lane: '' }; ;) {
      const batch = await this.lanesAfter(after);
      const last = batch.at(-1);
      if (last === undefined) break;
      for (const { lane } of batch) {
        const done = await this.tried(lane, check);
        if (typeof done === 'string') again.push(lane);
        else if (done) differed++;
      }
      lanes += batch.length;
      after = last;
      onProgress(lanes);
    }
    // What another lane's rows held by mistake is free once those were made again.
    const failed: { lane: string; why: string }[] = [];
    for (const lane of again) {
      const done = await this.tried(lane, check);
      if (typeof done === 'string') failed.push({ lane, why: done });
      else if (done) differed++;
    }
    return { lanes, differed, failed };
  }

  /** As `rebuilt`, or why it could not be made again: one lane keeps no other from it. */
  private async tried(lane: string, check: boolean): Promise<boolean | string> {
    try {
      return await this.rebuilt(lane, check);
    } catch (e) {
      if (e instanceof LaneUnreadable || (e instanceof Error && violatedConstraint(e) !== null)) return e.message;
      throw e;
    }
  }

  private async lanesAfter({ at, lane }: Cursor): Promise<readonly Cursor[]> {
    const found = await this.db.pool.query<Cursor>(
      `select at, lane from lane_log where version = 1 and (at, lane) > ($1, $2) order by at, lane limit ${LANES_AT_ONCE}`,
      [at, lane],
    );
    return found.rows;
  }

  private async rebuilt(lane: string, check: boolean): Promise<boolean> {
    for (;;) {
      const differed = await this.once(lane, check);
      if (differed !== null) return differed;
    }
  }

  /** Null: the lane was written meanwhile, and nothing was changed. */
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
      // A step that was written since had its read rows before ours: ours are old. One that comes later waits for our row locks.
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

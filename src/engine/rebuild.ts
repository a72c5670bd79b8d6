// Writes the read rows of every lane again from its log, the oldest lane first.
import type pg from 'pg';
import { emptyLane } from './context.js';
import { INVOICE } from '../domain/invoice-row.js';
import { type LaneState, PAYMENT, REFUND, type RefundRow, REVIEW } from '../domain/model.js';
import { MOR_OBJECT } from '../domain/mor-object.js';
import { type Row } from '../domain/row.js';
import { LaneUnreadable } from './lane-store.js';
import { fromRow } from '../store/codec.js';
import { type Database, onConnection, violatedConstraint } from '../store/database.js';
import { allRows, foldOf } from './lane-reader.js';
import { listedRefunds, openCallIds, readRowWrites } from './read-rows.js';

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

  /** How many lanes there are, as far as the server has counted; exact for small books. */
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
      const before = await shownRows(db, lane, shown);
      const writes = readRowWrites([{ before, after: shown }]);
      const closed = await goneCalls(db, lane, shown);
      if (!check) {
        for (const w of writes) await db.query(w.sql(1), [w.value]);
        if (closed.length > 0) await db.query('delete from open_call where id = any($1)', [closed]);
      }
      // A step that was written since had its read rows before ours: ours are old. One that comes later waits for our row locks.
      const now = await db.query<{ version: number }>('select max(version) as version from lane_log where lane = $1', [
        lane,
      ]);
      const overtaken = now.rows[0]?.version !== rows.at(-1)?.version;
      await db.query(overtaken ? 'rollback' : 'commit');
      return overtaken ? null : writes.length > 0 || closed.length > 0;
    });
  }
}

type Cursor = { readonly at: Date; readonly lane: string };

async function goneCalls(db: pg.PoolClient, lane: string, shown: LaneState): Promise<readonly string[]> {
  const open = openCallIds(shown);
  const found = await db.query<{ id: string }>('select id from open_call where lane = $1', [lane]);
  return found.rows.flatMap((r) => (open.has(r.id) ? [] : [r.id]));
}

/** The lane as its read rows show it: rows that are as the log says are the log's own, so that only others are told apart. */
async function shownRows(db: pg.PoolClient, lane: string, log: LaneState): Promise<LaneState> {
  const of = async <T extends object>(
    codec: Row<T, unknown>,
    rows: readonly T[],
    key: ('id' | 'invoiceId') & keyof T,
  ): Promise<readonly T[]> => {
    // By the rows' own keys: an item may stand in a lane without an invoice.
    const column = key === 'invoiceId' ? 'invoice_id' : 'id';
    const found = await db.query<Record<string, unknown>>(`select * from ${codec.table} where ${column} = any($1)`, [
      rows.map((row) => row[key]),
    ]);
    const stored = new Map(found.rows.map((r) => fromRow(codec, r)).map((row) => [row[key], row]));
    return rows.filter((row) => same(row, stored.get(row[key])));
  };
  const [invoice = null] = await of(INVOICE, log.invoice === null ? [] : [log.invoice], 'invoiceId');
  const calls = await db.query<{ id: string; attempts: number; status: string }>(
    'select id, attempts, status from open_call where lane = $1',
    [lane],
  );
  return {
    ...emptyLane(lane),
    invoice,
    payments: await of(PAYMENT, log.payments, 'id'),
    refunds: [...(await of(REFUND, listedRefunds(log), 'id')), ...(await joinedRefunds(db, log))],
    objects: await of(MOR_OBJECT, log.objects, 'id'),
    reviews: await of(REVIEW, log.reviews, 'id'),
    messages: log.messages.filter((m) => calls.rows.some((c) => c.id === m.id && c.attempts === m.attempts)),
  };
}

/** Rows of refunds that were joined to another since: they are to go. */
async function joinedRefunds(db: pg.PoolClient, log: LaneState): Promise<readonly RefundRow[]> {
  const joined = log.refunds.filter((r) => r.status === 'joined').map((r) => r.id);
  if (joined.length === 0) return [];
  const found = await db.query<Record<string, unknown>>('select * from refund where id = any($1)', [joined]);
  return found.rows.map((r) => fromRow(REFUND, r));
}

function same<T>(a: T, b: T | undefined): boolean {
  return b !== undefined && JSON.stringify(a, plain) === JSON.stringify(b, plain);
}

const plain = (_key: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
};

// The lane harness on a separate PostgreSQL database.
import { afterEach, beforeEach } from '@jest/globals';
import { emptyLane } from '../../../src/engine/context.js';
import { type LedgerEntry } from '../../../src/shared/domain/ledger-entry.js';
import { type Inbox } from '../../../src/shared/domain/ports/inbox.js';
import { Database } from '../../../src/frames/store/database.js';
import { PgInbox } from '../../../src/frames/store/inbox.repository.js';
import { PaymentsRepository } from '../../../src/core/payments/payments.repository.js';
import { RefundsRepository } from '../../../src/core/refunds/refunds.repository.js';
import { SignupsRepository } from '../../../src/core/signups/signups.repository.js';
import { SUBJECTS } from '../../../src/core/lanes/subjects.js';
import { PgLaneRepository } from '../../../src/engine/pg-lane.repository.js';
import { eventParser } from '../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../src/engine/parsed-events.js';
import { LaneSignal } from '../../../src/engine/lane-signal.js';
import { HomelessEvents } from '../../../src/core/mor-objects/homeless-events.repository.js';
import { RouteEventsService } from '../../../src/core/mor-objects/route-events.service.js';
import { CountingIds, ManualClock } from '../fakes/clock.js';
import { freshDatabase } from './database.js';
import { type LaneBackend, LaneHarness, type LaneOptions } from './lane-harness.js';

export type LaneOnPostgres = {
  readonly harness: LaneHarness;
  readonly db: Database;
  readonly inbox: Inbox;
  /** The events that webhook endpoints in front of this inbox have parsed. */
  readonly parsed: ParsedEvents;
  readonly url: string;
  /** Drops the database. */
  readonly close: () => Promise<void>;
};

export async function laneOnPostgres(options: LaneOptions = {}): Promise<LaneOnPostgres> {
  const clock = options.clock ?? new ManualClock();
  const ids = new CountingIds();
  const fresh = await freshDatabase();
  const db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
  const inbox = new PgInbox(db, clock);
  const parsed = new ParsedEvents(eventParser);
  const repository = new PgLaneRepository(db, clock, { writes: SUBJECTS.writes, parsed });
  const backend: LaneBackend = {
    repository,
    books: {
      payments: new PaymentsRepository(db),
      refunds: new RefundsRepository(db),
      signups: new SignupsRepository(db, clock),
    },
    router: new RouteEventsService(new HomelessEvents(db, clock, parsed), clock, ids, new LaneSignal()),
    deliver: async (batch) => {
      await inbox.store(batch.map((d) => ({ ...d, receivedAt: clock.now() })));
    },
    nextDue: async () => {
      const found = await db.pool.query<{ at: Date | null }>(
        `select min(greatest(x.at, coalesce(l.lease_until, x.at))) as at from (
           select key, due_at as at from lane where due_at is not null
           union all select lane, next_try_at from inbox_event where status = 'received') x
         left join lane l on l.key = x.key`,
      );
      return found.rows[0]?.at?.getTime() ?? null;
    },
    state: async (lane) => {
      let seen = emptyLane(lane);
      await repository.transact({
        lane,
        fence: null,
        decide: ({ state }) => {
          seen = state;
          return { state, outcomes: [], dueAt: new Date('2999-01-01T00:00:00Z'), value: null };
        },
      });
      const sql = 'select * from ledger_entry where invoice_id = $1';
      const rows = await db.pool.query<Record<string, string>>(sql, [lane]);
      const entries = rows.rows.map(
        (r) =>
          ({
            debit: r['debit_account'],
            credit: r['credit_account'],
            amount: { minor: BigInt(r['amount'] ?? 0), currency: r['currency'] },
            reason: r['reason'],
            subject: r['subject'],
          }) as LedgerEntry,
      );
      return { ...seen, entries };
    },
  };
  const harness = new LaneHarness(clock, ids, backend, options);
  const close = async (): Promise<void> => {
    await db.close();
    await fresh.drop();
  };
  return { harness, db, inbox, parsed, url: fresh.url, close };
}

/** A lane harness for each test; `use` takes it and prepares it. */
export function laneForEach(use: (lane: LaneOnPostgres) => unknown): void {
  let x: LaneOnPostgres;
  beforeEach(async () => {
    x = await laneOnPostgres();
    await use(x);
  });
  afterEach(() => x.close());
}

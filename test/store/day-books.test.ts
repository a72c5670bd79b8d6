// What the console's overview shows of many days, and what the doors answered: counted once, kept, and the same as the rows say.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '../../src/store/database.js';
import { ServerTime } from '../../src/store/database-time.js';
import { DaysStore } from '../../src/overview/days.store.js';
import { DoorAnswersStore } from '../../src/intake/door-answers.store.js';
import { LedgerSumsStore } from '../../src/ledger/sums.store.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

let fresh: TestDatabase;
let db: Database;
let books: DaysStore;
const NOW = new Date('2026-11-20T12:00:00Z');
const day = (text: string): Date => new Date(`${text}T00:00:00Z`);
const month = { since: day('2026-11-01'), until: day('2026-12-01') };

beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
  books = new DaysStore(db);
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

async function collected(
  subject: string,
  minor: number,
  currency: string,
  movedAt: string,
  recordedAt = movedAt,
): Promise<void> {
  for (const reason of ['payment_collected', 'payment_marked']) {
    await db.pool.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       values ('mor_receivable', 'unmarked_payments', $1, $2, $3, $4, 'in_1', 'pmt_1', $5, $6)`,
      [minor, currency, reason, subject, movedAt, reason === 'payment_marked' ? recordedAt : movedAt],
    );
  }
}

it('money counts on the day on which the MoR took it, folded or not, whenever it was recorded', async () => {
  await collected('a', 2_990, 'EUR', '2026-11-18T23:59:59Z', '2026-11-19T00:00:30Z');
  await collected('b', 1_000, 'EUR', '2026-11-19T00:00:00Z', '2026-11-19T01:30:00Z');
  await collected('c', 500, 'USD', '2026-11-19T08:00:00Z');
  await db.pool.query(
    `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     values ('unmirrored_refunds', 'mor_receivable', 250, 'EUR', 'refund_paid', 'r', 'in_1', 'pmt_1', '2026-11-19T09:00:00Z', now())`,
  );
  const said = [
    { day: day('2026-11-18'), currency: 'EUR', collected: 2_990n, refunded: 0n, payments: 1 },
    { day: day('2026-11-19'), currency: 'EUR', collected: 1_000n, refunded: 250n, payments: 1 },
    { day: day('2026-11-19'), currency: 'USD', collected: 500n, refunded: 0n, payments: 1 },
  ];
  expect(await books.money(month)).toEqual(said);
  expect(await books.money({ since: day('2026-11-19'), until: day('2026-11-20') })).toEqual(said.slice(1));
  await db.pool.query(
    `update ledger_fold set noted_at = now() - interval '1 day', noted = (select max(id) from ledger_entry)`,
  );
  expect(await new LedgerSumsStore(db, new ServerTime()).fold()).toBe(7);
  await collected('d', 10, 'EUR', '2026-11-19T10:00:00Z');
  const after = await books.money(month);
  expect(after[1]).toEqual({ ...said[1], collected: 1_010n, payments: 2 });
});

it('the renewals of each day are counted once, and again when a quarter of its age has passed', async () => {
  const invoice = (id: string, status: string, at: string, reason = 'subscription_cycle'): Promise<unknown> =>
    db.pool.query(
      `insert into invoice (invoice_id, status, platform_status, billing_reason, platform_created_at, first_seen_at)
       values ($1, $2, 'open', $3, $4, now())`,
      [id, status, reason, at],
    );
  await invoice('in_paid', 'paid', '2026-11-18T00:00:00Z');
  await invoice('in_held', 'held', '2026-11-18T10:00:00Z');
  await invoice('in_open', 'open', '2026-11-18T23:59:59Z');
  await invoice('in_waits', 'expected', '2026-11-18T12:00:00Z');
  await invoice('in_first', 'paid', '2026-11-18T12:00:00Z', 'subscription_create');
  await invoice('in_other_day', 'open', '2026-11-19T00:00:00Z');
  const counted: string[] = [];
  for (let d = await books.countOne(NOW, 3); d !== null; d = await books.countOne(NOW, 3)) {
    counted.push(d.toISOString().slice(0, 10));
  }
  expect(counted).toEqual(['2026-11-20', '2026-11-19', '2026-11-18', '2026-11-17']);
  expect(await books.renewals(month)).toEqual([
    { day: day('2026-11-17'), paid: 0, unpaid: 0, waiting: 0 },
    { day: day('2026-11-18'), paid: 2, unpaid: 1, waiting: 1 },
    { day: day('2026-11-19'), paid: 0, unpaid: 1, waiting: 0 },
    { day: day('2026-11-20'), paid: 0, unpaid: 0, waiting: 0 },
  ]);
  await db.pool.query(`update invoice set status = 'paid' where invoice_id = 'in_open'`);
  const soon = new Date(NOW.getTime() + 10 * 60_000);
  expect(await books.countOne(soon, 3)).toBeNull();
  const later = new Date(NOW.getTime() + 24 * 3_600_000);
  while ((await books.countOne(later, 4)) !== null);
  expect((await books.renewals(month)).find((d) => d.day.getTime() === day('2026-11-18').getTime())).toMatchObject({
    paid: 3,
    unpaid: 0,
    waiting: 1,
  });
});

it('one replica counts at a time, and the others go away', async () => {
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock(4812009)');
    expect(await books.countOne(new Date('2027-01-01T00:00:00Z'), 3)).toBeNull();
  } finally {
    await client.query('rollback');
    client.release();
  }
});

it('the answers of a door add up by the hour over all replicas, and its last refusals stay, without an end to none', async () => {
  const doors = new DoorAnswersStore(db);
  const hour = new Date('2026-11-20T11:00:00Z');
  await doors.add(
    [
      { door: 'stripe', hour, status: 200, n: 40 },
      { door: 'stripe', hour, status: 401, n: 2 },
    ],
    [],
  );
  await doors.add([{ door: 'stripe', hour, status: 200, n: 2 }], []);
  expect(await doors.answers(new Date('2026-11-20T00:00:00Z'))).toEqual([
    { door: 'stripe', hour, status: 200, n: 42 },
    { door: 'stripe', hour, status: 401, n: 2 },
  ]);
  const refusal = (n: number) =>
    ({
      door: 'stripe',
      at: new Date(hour.getTime() + n),
      status: 401,
      why: 'signature_mismatch',
      address: '192.0.2.1',
    }) as const;
  for (let i = 0; i < 5; i++)
    await doors.add(
      [],
      Array.from({ length: 50 }, (_, n) => refusal(i * 50 + n)),
    );
  expect((await doors.refusals(3)).map((r) => r.at.getTime() - hour.getTime())).toEqual([249, 248, 247]);
  expect((await db.pool.query('select count(*)::int as n from door_refusal')).rows).toEqual([{ n: 200 }]);
  const weekLater = new Date('2026-11-27T11:00:00Z');
  await doors.add([{ door: 'mor_events', hour: weekLater, status: 200, n: 1 }], []);
  expect(await doors.answers(new Date(0))).toEqual([{ door: 'mor_events', hour: weekLater, status: 200, n: 1 }]);
});

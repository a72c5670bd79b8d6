// A lane that keeps failing with no event to blame: it waits longer each time, and in the end a person is told, once.
import { wordsOf } from '../support/item-words.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Wake } from '../../src/engine/wake.js';
import { WorkLaneFlow } from '../../src/engine/work-lane.flow.js';
import { LaneWorker } from '../../src/engine/lane-worker.js';
import { aPaymentFailed, aPaymentSucceeded, anInvoice, INVOICE_ID } from '../support/builders.js';
import { NoChannels } from '../support/no-channels.js';
import { openKinds } from '../support/lane-harness.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
});
afterEach(() => x.close());

/** A release that fails at every read of an invoice. Returns the way back. */
function breakReads(): () => void {
  const { platform } = x.harness;
  platform.readInvoice = async () => {
    throw new RangeError('a fault of our own');
  };
  return () => Reflect.deleteProperty(platform, 'readInvoice');
}

/** A worker whose lane fails; gives how long it then waits, in seconds, try by try. */
async function workUntilTried(
  times: number,
  onceTold: () => Promise<unknown> = async () => null,
): Promise<readonly number[]> {
  const { harness, db } = x;
  const { clock, context, gateway, platform, relay, store } = harness;
  const flow = new WorkLaneFlow(store, platform, gateway, relay, context, { expected: null }, new NoChannels());
  const worker = new LaneWorker(store, flow, new Wake(), clock, {
    owner: 'w',
    concurrency: 2,
    leaseMs: 25_000,
    pollMs: 0,
  });
  let given = 0;
  let told = 0;
  const tellStuck = flow.tellStuck.bind(flow);
  flow.tellStuck = async (...args) => {
    await tellStuck(...args).finally(() => told++);
  };
  const release = store.release.bind(store);
  store.release = async (...args) => {
    await release(...args);
    given++;
  };
  const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await holds())) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      clock.advance(0); // the worker's poll, without any time passing
    }
  };
  const waits: number[] = [];
  worker.start();
  while (waits.length < times) {
    // From the tenth try on a person is told once the lane is given back; time that passed before that would count as waited.
    await until(() => given > waits.length && told > waits.length - WAITS.length + 1);
    const seen = await db.pool.query<{ due_at: Date }>('select due_at from lane where key = $1', [INVOICE_ID]);
    waits.push(((seen.rows[0]?.due_at.getTime() ?? 0) - clock.now().getTime()) / 1_000);
    if (waits.length === 10) {
      await until(async () => (await db.pool.query('select 1 from review')).rowCount === 1);
      await onceTold();
    }
    clock.set(seen.rows[0]?.due_at ?? clock.now());
  }
  await worker.stop();
  return waits;
}

const WAITS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 3_600];
const shown = async (): Promise<object[]> =>
  (await x.db.pool.query<object>(`select kind, status, fact::text ~ 'in_oak' as named from review`)).rows;
const ITEM = { kind: 'effect_failed', status: 'open', named: true };

/** Money waits for the draft; a timer will look. */
async function held(): Promise<void> {
  x.harness.platform.put(anInvoice({ status: 'draft' }));
  await x.harness.take(aPaymentSucceeded());
  expect((await x.harness.state(INVOICE_ID)).invoice?.status).toBe('held');
}

describe('a lane that cannot be worked, without an event', () => {
  it('is tried after 2, 4, 8, … seconds, shown to a person after ten tries, and then once an hour', async () => {
    const { harness } = x;
    await held();
    await harness.store.transact({
      lane: INVOICE_ID,
      fence: null,
      decide: ({ state: s }) => {
        const now = harness.clock.now();
        const invoice = s.invoice === null ? null : { ...s.invoice, holdUntil: now, readAt: null };
        return { state: { ...s, invoice }, verdicts: [], dueAt: now, value: null };
      },
    });

    const mend = breakReads();
    expect(await workUntilTried(12)).toEqual([...WAITS, 3_600, 3_600]);
    expect(openKinds(await harness.state(INVOICE_ID))).toEqual(['effect_failed']);
    const [item] = (await harness.state(INVOICE_ID)).reviews;
    expect(wordsOf(item).summary).toContain('RangeError: a fault of our own');

    mend();
    harness.platform.put(anInvoice()); // the next release reads it again
    await harness.rest();
    expect((await harness.state(INVOICE_ID)).invoice?.status).toBe('paid');
  });

  it('is shown although what it would write is refused', async () => {
    const { harness, db } = x;
    await held();
    await db.pool.query(
      `insert into invoice (invoice_id, status, platform_status, first_seen_at) values ('in_x', 'paid', 'paid', now())`,
    );
    await db.pool.query(
      `insert into payment (id, invoice_id, customer_id, origin, status, currency, mark, payment_record_id, recorded_at)
       values ('p_x', 'in_x', 'cus_x', 'renewal', 'succeeded', 'EUR', 'confirmed', 'pr_1', now())`,
    );
    harness.platform.put(anInvoice()); // finalized: it is marked, with the record that another invoice has
    harness.clock.advance(3_600_000);
    await db.pool.query('update lane set due_at = $1', [harness.clock.now()]);

    expect(await workUntilTried(10)).toEqual(WAITS);
    expect(await shown()).toEqual([ITEM]);
  });
});

describe('a lane whose log cannot be read', () => {
  it('keeps no other from being worked, parks none of its events, and is shown to a person', async () => {
    const { harness, db } = x;
    await held();
    await db.pool.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
       select lane, max(version) + 1, max(at), true, false, '{"f":99}' from lane_log group by lane`,
    );
    harness.platform.put(anInvoice({ invoiceId: 'in_other' }));
    const [late, other] = [
      aPaymentFailed({ paymentId: 'pay_late' }),
      aPaymentSucceeded({ invoiceId: 'in_other', paymentId: 'pay_2' }),
    ];
    await x.inbox.store([late, other]);

    expect(await workUntilTried(10)).toEqual(WAITS);
    expect(harness.platform.invoices.get('in_other')?.status).toBe('paid');
    expect(await shown()).toEqual([ITEM]);
    const events = await db.pool.query('select lane, status, attempts from inbox_event order by id offset 1');
    expect(events.rows).toEqual([
      { lane: INVOICE_ID, status: 'received', attempts: 0 },
      { lane: 'in_other', status: 'done', attempts: 0 },
    ]);
  });

  it.each([
    ['retry', 2],
    ['dismiss', 1],
  ])('after a `%s` that did not help has items: %i', async (resolution, items) => {
    const { harness, db } = x;
    await held();
    await db.pool.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
       select lane, max(version) + 1, max(at), true, false, '{"f":99}' from lane_log group by lane`,
    );
    harness.clock.advance(3_600_000);
    await db.pool.query('update lane set due_at = $1', [harness.clock.now()]);
    const said = (): Promise<unknown> =>
      db.pool.query(`update review set status = 'resolved', resolution = $1, resolved_at = now()`, [resolution]);
    expect(await workUntilTried(12, said)).toEqual([...WAITS, 3_600, 3_600]);
    expect(await shown()).toHaveLength(items);
  });
});

// Claims and a lane that keeps failing, in a real PostgreSQL.
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type LaneState } from '../../src/shared/domain/model.js';
import { LaneChanges } from '../../src/engine/lane-changes.js';
import { type Claim, LaneFenced, type LaneWork } from '../../src/engine/lane.repository.js';
import { LaneWorker } from '../../src/engine/lane-worker.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { LaneSignal } from '../../src/engine/lane-signal.js';
import { WorkLaneService } from '../../src/engine/work-lane.service.js';
import { Database } from '../../src/frames/store/database.js';
import { INVOICE_ID, aPaymentFailed, aPaymentSucceeded, anInvoice, invoiceEvent } from '../support/builders/events.js';
import { openKinds } from '../support/rigs/lane-harness.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { NoChannels } from '../support/fakes/no-channels.js';
import { type Result } from '../../src/engine/commanded.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

// Claims in a real PostgreSQL: one worker at a time, the oldest lanes first, nothing lost to a dead worker, nothing written by a late one.
describe('Claims', () => {
  let x: LaneOnPostgres;
  laneForEach((opened) => (x = opened));

  const LEASE = 25_000;

  function write(lane: string, fence: bigint | null, change: (state: LaneState) => LaneState): LaneWork<null> {
    return { lane, fence, decide: ({ state }) => ({ state: change(state), outcomes: [], dueAt: null, value: null }) };
  }

  const dueNow: LaneWork<null>['decide'] = ({ state, now }) => ({ state, outcomes: [], dueAt: now, value: null });

  const events = (count: number) =>
    Array.from({ length: count }, (_, k) => aPaymentSucceeded({ invoiceId: `in_${k}`, paymentId: `pay_${k}` }));

  it("two workers claiming work at the same time never get the same invoice's lane", async () => {
    await x.inbox.store(events(40));
    const others = [x.harness.repository, new PgLaneRepository(x.db, x.harness.clock, { parsed: parsedEvents() })];
    const seen: Claim[] = [];
    for (let round = 0; round < 8; round++) {
      const both = await Promise.all(others.map((s, k) => s.claim(`w${k}`, 7, LEASE)));
      seen.push(...both.flat());
    }
    expect(seen).toHaveLength(40);
    expect(new Set(seen.map((c) => c.lane)).size).toBe(40);
    expect(new Set(seen.map((c) => c.fence)).size).toBe(40);
    expect(seen.every((c) => c.events.some((e) => e.type === 'payment.succeeded'))).toBe(true);
  });

  it('a decision about one invoice changes no event of another invoice, even if a failover gave both events the same number', async () => {
    await x.inbox.store(events(2));
    const { rows } = await x.db.pool.query<{ id: string; lane: string }>(
      'select id, lane from inbox_event order by id',
    );
    const verdicts = rows.map(({ id }) => ({ id: BigInt(id), status: 'done' as const, reason: null }));
    const own = rows[0]?.lane ?? '';
    await x.harness.repository.transact({
      ...write(own, null, (s) => s),
      decide: ({ state }) => ({ state, outcomes: verdicts, dueAt: null, value: null }),
    });
    const left = await x.db.pool.query('select status from inbox_event order by id');
    expect(left.rows).toEqual([{ status: 'done' }, { status: 'received' }]);
  });

  it('three workers claim first the invoice lanes that waited longest', async () => {
    const { repository, clock } = x.harness;
    const [WORKERS, EACH, LANES] = [3, 7, 210];
    const since = new Map<string, number>();
    for (let n = 0; n < LANES; n++) {
      const lane = `in_${(n * 97) % LANES}`; // of every age, in any order of names
      since.set(lane, clock.now().getTime());
      if (n % 3 !== 0) await x.inbox.store([aPaymentSucceeded({ invoiceId: lane, paymentId: `pay_${n}` })]);
      else await repository.transact({ ...write(lane, null, (s) => s), decide: dueNow });
      clock.advance(1_000);
    }
    const workers = Array.from(
      { length: WORKERS },
      () => new PgLaneRepository(x.db, clock, { parsed: parsedEvents() }),
    );
    const rounds: string[][] = [];
    while (since.size > rounds.flat().length) {
      const taken = await Promise.all(workers.map((w, k) => w.claim(`w${k}`, EACH, LEASE)));
      for (const one of taken) expect(one.map((c) => c.lane)).toEqual(one.map((c) => c.lane).sort(byAge));
      rounds.push(taken.flat().map((c) => c.lane));
      expect(rounds.at(-1)).not.toEqual([]);
    }
    function byAge(one: string, other: string): number {
      return (since.get(one) ?? 0) - (since.get(other) ?? 0);
    }
    const inTheirOrder = [...since.keys()].sort(byAge);
    const overtakenBy = rounds.flat().map((lane, place) => place - inTheirOrder.indexOf(lane));
    expect(rounds.flat().sort()).toEqual([...since.keys()].sort());
    expect(Math.max(...overtakenBy)).toBeLessThan(WORKERS * EACH);
    expect(rounds.map((r) => r.length)).toEqual(Array.from({ length: LANES / WORKERS / EACH }, () => WORKERS * EACH));
  });

  it("if a person's request waits on an invoice's due lane, a worker claims the lane before the lanes with only events", async () => {
    const { harness, inbox } = x;
    const changes = new LaneChanges(harness.repository, harness.context, new LaneSignal());
    await inbox.store(events(6));
    harness.clock.advance(3_600_000);
    const changed = (): Result<{ id: string }> => ({ ok: true, value: { id: 'asked' } });
    await changes.change('in_asked', changed);
    await changes.change('in_4', changed); // it has an event in the backlog too
    const soon = new Date(harness.clock.now().getTime() + 60_000);
    await harness.repository.transact({
      ...write('in_later', null, (s) => s),
      awaited: true,
      decide: ({ state }) => ({ state, outcomes: [], dueAt: soon, value: null }),
    });
    const lanes = (claims: readonly Claim[]): string[] => claims.map((c) => c.lane);
    expect(lanes(await harness.repository.claim('w', 3, LEASE))).toEqual(['in_4', 'in_asked', 'in_0']);
    expect(lanes(await harness.repository.claim('w', 9, LEASE))).toEqual(['in_1', 'in_2', 'in_3', 'in_5']);
    harness.clock.set(soon);
    expect(lanes(await harness.repository.claim('w', 9, LEASE))).toContain('in_later');
  });

  it('a worker claims invoice lanes due at the same moment in the order of their ids, under any query plan', async () => {
    const { repository } = x.harness;
    const names = Array.from({ length: 30 }, (_, n) => `in_${String((n * 7) % 30).padStart(2, '0')}`);
    for (const name of names) await repository.transact({ ...write(name, null, (s) => s), decide: dueNow });
    const taken: string[] = [];
    for (const off of ['enable_seqscan', 'enable_indexscan', 'enable_bitmapscan']) {
      const db = new pg.Client({ connectionString: x.url });
      await db.connect();
      const { rows } = await db.query<{ name: string }>('select current_database() as name');
      await db.query(`alter database ${rows[0]?.name ?? ''} set ${off} = off`);
      await db.end();
      const fresh = await Database.open({ url: x.url, poolSize: 1, onError: () => undefined });
      taken.push(
        ...(await new PgLaneRepository(fresh, x.harness.clock, { parsed: parsedEvents() }).claim('w', 10, LEASE)).map(
          (c) => c.lane,
        ),
      );
      await fresh.close();
    }
    expect(taken).toEqual(names.toSorted());
  });

  it('a worker skips an invoice lane locked by another session and claims the lane afterwards', async () => {
    const { repository } = x.harness;
    await repository.transact({ ...write('in_1', null, (s) => s), decide: dueNow });
    await x.inbox.store(events(3));
    const other = await x.db.pool.connect();
    try {
      await other.query(`begin; select 1 from lane where key = 'in_1' for update`);
      expect((await repository.claim('w', 5, LEASE)).map((c) => c.lane)).toEqual(['in_0', 'in_2']);
      await other.query('commit');
    } finally {
      other.release();
    }
    expect((await repository.claim('w', 5, LEASE)).map((c) => c.lane)).toEqual(['in_1']);
  });

  it("another worker claims an invoice's lane after the first worker's lease ended, and the first worker can no longer write", async () => {
    await x.inbox.store(events(1));
    const { repository, clock } = x.harness;
    const [first] = await repository.claim('slow', 5, LEASE);
    clock.advance(LEASE - 1);
    expect(await repository.claim('fast', 5, LEASE)).toEqual([]);
    clock.advance(1);
    const [second] = await repository.claim('fast', 5, LEASE);
    expect(second?.lane).toBe('in_0');
    expect(second?.fence).toBeGreaterThan(first?.fence ?? 0n);
    await expect(repository.transact(write('in_0', first?.fence ?? 0n, (s) => s))).rejects.toBeInstanceOf(LaneFenced);
    await repository.release('in_0', first?.fence ?? 0n); // gives back nothing
    expect(await repository.claim('third', 5, LEASE)).toEqual([]);
    await repository.transact(write('in_0', second?.fence ?? 0n, (s) => s));
  });

  it("a worker writes nothing to an invoice's log after a failover of the database lost the log's last steps", async () => {
    await x.inbox.store(events(1));
    const { repository, clock } = x.harness;
    const [claim] = await repository.claim('w', 5, LEASE);
    const step = (line: string): Promise<null> =>
      repository.transact(write('in_0', claim?.fence ?? 0n, (s) => ({ ...s, journal: [lineOf(line)] })));
    const lineOf = (text: string): LaneState['journal'][number] => ({
      lane: 'in_0',
      at: clock.now(),
      kind: 'decision',
      ref: null,
      text,
      detail: null,
    });
    await step('first');
    await step('second');
    const standby = new pg.Client({ connectionString: x.url });
    await standby.connect();
    try {
      await standby.query(`set session_replication_role = replica`); // losses of a failover fire no trigger
      await standby.query(`delete from lane_log where lane = 'in_0' and version = 2`);
      await expect(step('third')).rejects.toBeInstanceOf(LaneFenced);
      const { rows } = await standby.query<{ version: number }>('select version from lane_log order by version');
      expect(rows.map((r) => r.version)).toEqual([1]);
    } finally {
      await standby.end();
    }
    // A fresh read goes on from the present state.
    await step('second again');
  });

  it('a worker renews its leases on invoice lanes, except for a lane another worker has claimed since', async () => {
    await x.inbox.store(events(2));
    const { repository, clock } = x.harness;
    const claims = await repository.claim('w', 5, LEASE);
    clock.advance(20_000);
    expect(await repository.renew(claims, LEASE)).toEqual(new Set(['in_0', 'in_1']));
    clock.advance(20_000);
    expect(await repository.claim('other', 5, LEASE)).toEqual([]);
    clock.advance(LEASE);
    const [taken] = await repository.claim('other', 1, LEASE);
    const left = taken?.lane === 'in_0' ? 'in_1' : 'in_0';
    expect(await repository.renew(claims, LEASE)).toEqual(new Set([left]));
  });

  it("a worker claims an invoice's lane with a timer when the timer is due, and no earlier", async () => {
    const { repository, clock } = x.harness;
    const at = new Date(clock.now().getTime() + 60_000);
    await repository.transact({
      lane: 'in_t',
      fence: null,
      decide: ({ state }) => ({ state, outcomes: [], dueAt: at, value: null }),
    });
    expect(await repository.claim('w', 5, LEASE)).toEqual([]);
    clock.set(at);
    expect((await repository.claim('w', 5, LEASE)).map((c) => c.lane)).toEqual(['in_t']);
  });

  it("a worker's claim of an invoice's lane returns the lane's waiting events, oldest first", async () => {
    const { harness, inbox } = x;
    await inbox.store([invoiceEvent('invoice.created'), aPaymentSucceeded({ eventId: 'evt_paid' })]);
    const [claim] = await harness.repository.claim('w', 1, LEASE);
    expect(claim?.events.map((e) => e.type)).toEqual(['invoice.created', 'payment.succeeded']);
  });

  it("a worker claims other invoices' lanes although one invoice has more waiting events than a claim reads", async () => {
    const crowd = Array.from({ length: 30 }, (_, k) =>
      aPaymentSucceeded({ invoiceId: 'in_crowd', eventId: `evt_${k}` }),
    );
    await x.inbox.store([...crowd, ...events(3)]);
    const first = await x.harness.repository.claim('w', 2, LEASE);
    const second = await x.harness.repository.claim('w', 2, LEASE);
    const third = await x.harness.repository.claim('w', 2, LEASE);
    expect([...first, ...second, ...third].map((c) => c.lane).sort()).toEqual(['in_0', 'in_1', 'in_2', 'in_crowd']);
  });
});

// A lane failing on and on with no event to blame: it waits longer each time, and in the end a person learns it, once.
describe('A lane that keeps failing', () => {
  let x: LaneOnPostgres;
  laneForEach((opened) => (x = opened));

  /** A release with a failure at every read of an invoice. Returns the way back. */
  function breakReads(): () => void {
    const { platform } = x.harness;
    platform.readInvoice = async () => {
      throw new RangeError('a fault of our own');
    };
    return () => Reflect.deleteProperty(platform, 'readInvoice');
  }

  /** A worker with a failing lane; returns its waits, in seconds, try by try. `notifiedAt`: the first try with an item. */
  async function workUntilTried(
    times: number,
    notifiedAt: number,
    onceNotified: () => Promise<unknown> = async () => null,
  ): Promise<readonly number[]> {
    const { harness, db } = x;
    const { clock, context, gateway, platform, relay, repository } = harness;
    const service = new WorkLaneService(
      repository,
      platform,
      gateway,
      relay,
      context,
      { expected: null },
      new NoChannels(),
    );
    const worker = new LaneWorker(repository, service, new LaneSignal(), clock, {
      owner: 'w',
      concurrency: 2,
      leaseMs: 25_000,
      pollMs: 0,
    });
    let given = 0;
    let notified = 0;
    const tellStuck = service.tellStuck.bind(service);
    service.tellStuck = async (...args) => {
      await tellStuck(...args).finally(() => notified++);
    };
    const release = repository.release.bind(repository);
    repository.release = async (...args) => {
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
      // A person gets the item after the lane's release; time passing before would count as a wait.
      await until(() => given > waits.length && notified > waits.length - notifiedAt + 1);
      const seen = await db.pool.query<{ due_at: Date }>('select due_at from lane where key = $1', [INVOICE_ID]);
      waits.push(((seen.rows[0]?.due_at.getTime() ?? 0) - clock.now().getTime()) / 1_000);
      if (waits.length === notifiedAt) {
        await until(async () => (await db.pool.query('select 1 from review')).rowCount === 1);
        await onceNotified();
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

  /** Ends the log of each lane with an entry of a later release. */
  const garbleLog = (): Promise<unknown> =>
    x.db.pool.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
       select lane, max(version) + 1, max(at), true, false, '{"f":99}' from lane_log group by lane`,
    );

  it('a worker retries a failing invoice lane after 2, 4, 8 … seconds, then hourly, and opens a review item after ten tries', async () => {
    const { harness } = x;
    await held();
    await harness.repository.transact({
      lane: INVOICE_ID,
      fence: null,
      decide: ({ state: s }) => {
        const now = harness.clock.now();
        const invoice = s.invoice === null ? null : { ...s.invoice, holdUntil: now, readAt: null };
        return { state: { ...s, invoice }, outcomes: [], dueAt: now, value: null };
      },
    });

    const mend = breakReads();
    expect(await workUntilTried(12, 10)).toEqual([...WAITS, 3_600, 3_600]);
    expect(openKinds(await harness.state(INVOICE_ID))).toEqual(['effect_failed']);
    const [item] = (await harness.state(INVOICE_ID)).reviews;
    expect(item?.fact).toMatchObject({ code: 'lane-stuck', why: expect.stringContaining('RangeError') });

    mend();
    harness.platform.put(anInvoice()); // the next release reads it again
    await harness.idle();
    expect((await harness.state(INVOICE_ID)).invoice?.status).toBe('paid');
  });

  it("an event that waits in an invoice's failing lane is not blamed, and is decided as soon as the lane works again", async () => {
    const { harness, db, inbox } = x;
    harness.platform.put(anInvoice());
    await inbox.store([aPaymentFailed({ paymentId: 'pay_first' }), aPaymentSucceeded()]);
    const mend = breakReads();
    expect(await workUntilTried(11, 10)).toEqual([...WAITS, 3_600]);
    expect(await shown()).toEqual([ITEM]);
    const events = (): Promise<{ rows: unknown[] }> =>
      db.pool.query('select status, attempts from inbox_event order by id');
    const waiting = { status: 'received', attempts: 0 };
    expect((await events()).rows).toEqual([waiting, waiting]);
    mend();
    await harness.idle();
    const done = { status: 'done', attempts: 0 };
    expect((await events()).rows).toEqual([done, done]);
    expect((await harness.state(INVOICE_ID)).invoice?.status).toBe('paid');
  });

  it("Crossbill opens a review item for an invoice's failing lane although the database refuses the lane's rows", async () => {
    const { harness, db } = x;
    await held();
    await db.pool.query(
      `insert into invoice (invoice_id, status, platform_status, first_seen_at) values ('in_x', 'paid', 'paid', now())`,
    );
    await db.pool.query(
      `insert into payment (id, invoice_id, customer_id, origin, status, currency, mark, payment_record_id, recorded_at)
       values ('p_x', 'in_x', 'cus_x', 'renewal', 'succeeded', 'EUR', 'confirmed', 'pr_1', now())`,
    );
    harness.platform.put(anInvoice()); // finalized: it gets its mark, with another invoice's record
    harness.clock.advance(3_600_000);
    await db.pool.query('update lane set due_at = $1', [harness.clock.now()]);

    expect(await workUntilTried(10, 10)).toEqual(WAITS);
    expect(await shown()).toEqual([ITEM]);
  });

  it('an invoice lane with an unreadable log opens one review item at its first try, through restarts, and stops no other lane', async () => {
    const { harness, db } = x;
    await held();
    await garbleLog();
    harness.platform.put(anInvoice({ invoiceId: 'in_other' }));
    const [late, other] = [
      aPaymentFailed({ paymentId: 'pay_late' }),
      aPaymentSucceeded({ invoiceId: 'in_other', paymentId: 'pay_2' }),
    ];
    await x.inbox.store([late, other]);
    const release = harness.repository.release.bind(harness.repository);
    const notifiedBefore: unknown[] = []; // a worker may be killed after any release
    harness.repository.release = async (lane, ...how) => {
      if (lane === INVOICE_ID) notifiedBefore.push(await shown());
      await release(lane, ...how);
    };

    expect(await workUntilTried(1, 1)).toEqual([3_600]);
    expect(notifiedBefore).toEqual([[ITEM]]);
    expect(await workUntilTried(2, 1)).toEqual([3_600, 3_600]); // another worker
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
  ])(
    "after a person chose `%s` for an invoice's lane whose log stays unreadable, Crossbill shows %i review items",
    async (resolution, items) => {
      const { harness, db } = x;
      await held();
      await garbleLog();
      harness.clock.advance(3_600_000);
      await db.pool.query('update lane set due_at = $1', [harness.clock.now()]);
      const said = (): Promise<unknown> =>
        db.pool.query(`update review set status = 'resolved', resolution = $1, resolved_at = now()`, [resolution]);
      expect(await workUntilTried(3, 1, said)).toEqual([3_600, 3_600, 3_600]);
      expect(await shown()).toHaveLength(items);
    },
  );
});

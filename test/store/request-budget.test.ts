// The request budget of all replicas in a real PostgreSQL, second by second of the test's own clock.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { grant, type Slice } from '../../src/frames/store/budget-slices.js';
import { PgRequestBudget } from '../../src/frames/store/pg-request-budget.js';
import { ManualClock } from '../support/fakes/clock.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/rigs/lane-on-postgres.js';

let x: LaneOnPostgres;
/** The clock of the database and of the running replicas. */
let clock: ManualClock;
let running: Replica[];
/** Number of borrowed connections: one for each question about the budget. */
let asked: number;
beforeEach(async () => {
  x = await laneOnPostgres();
  clock = new ManualClock();
  running = [];
  asked = 0;
  x.db.pool.on('acquire', () => asked++);
});
afterEach(() => x.close());

/** Runs everything until only the clock can move it. */
async function settled(): Promise<void> {
  const { pool } = x.db;
  for (let calm = 0; calm < 3; calm++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (pool.waitingCount > 0 || pool.idleCount < pool.totalCount) calm = -1;
  }
}

const STEP_MS = 5;
/** Lets time go by. */
async function pass(ms: number): Promise<void> {
  await settled();
  for (let gone = 0; gone < ms; gone += STEP_MS) {
    clock.advance(STEP_MS);
    for (const replica of running) replica.own.advance(STEP_MS);
    await settled();
  }
}

/** Lets time go by until the work is done, and returns its length in milliseconds. */
async function passed(work: Promise<unknown>): Promise<number> {
  const began = clock.now().getTime();
  let done = false;
  void work.finally(() => (done = true));
  for (await settled(); !done;) await pass(STEP_MS);
  await work;
  return clock.now().getTime() - began;
}

/** A daemon: its requests to each endpoint, with their times. */
class Replica {
  readonly sent: { endpoint: string; at: number }[] = [];
  readonly budget: PgRequestBudget;

  constructor(
    perSecond: number,
    readonly own = new ManualClock(clock.now()),
  ) {
    this.budget = new PgRequestBudget(x.db, own, clock, perSecond);
    running.push(this);
  }

  async call(endpoint: string): Promise<void> {
    await this.budget.take(endpoint);
    this.sent.push({ endpoint, at: this.own.now().getTime() });
  }

  /** `lanes`, each with always one more request to make. */
  busy(lanes: number, endpoints: readonly string[] = ['a', 'b']): this {
    const lane = async (count: number): Promise<void> => {
      for (;;) await this.call(endpoints[count++ % endpoints.length] ?? 'a');
    };
    for (let n = 0; n < lanes; n++) void lane(n).catch(() => undefined);
    return this;
  }

  /** Killed: no time goes by for it any more. */
  die(): void {
    running = running.filter((r) => r !== this);
  }
}

/** The most requests of all of them within a second, wherever it begins. */
function mostInASecond(replicas: readonly Replica[], endpoint?: string): number {
  const times = replicas
    .flatMap((r) => r.sent.filter((s) => endpoint === undefined || s.endpoint === endpoint).map((s) => s.at))
    .sort((a, b) => a - b);
  return Math.max(...times.map((from) => times.filter((t) => t >= from && t < from + 1_000).length));
}

const countOf = (replicas: readonly Replica[]): number => replicas.reduce((n, r) => n + r.sent.length, 0);

it("three replicas together stay within Stripe's request limit, and use all of the limit", async () => {
  const all = [new Replica(20).busy(32), new Replica(20).busy(32), new Replica(20).busy(32)];
  await pass(10_000);
  expect(countOf(all)).toBeGreaterThanOrEqual(195);
  // Each of them may be one request ahead of its slice.
  expect(mostInASecond(all)).toBeLessThanOrEqual(20 + 3);
  expect(countOf(all)).toBeLessThanOrEqual(200 + 3 * 3);
  for (const one of all) expect(one.sent.length).toBeGreaterThan(50);
});

it('the request budget for Stripe costs a replica about one commit a second, for any number of calls', async () => {
  const one = new Replica(200).busy(32);
  await pass(2_000);
  asked = 0;
  one.sent.length = 0;
  await pass(5_000);
  expect(one.sent.length).toBeGreaterThan(450); // two endpoints, each a quarter of the pace
  expect(asked).toBeLessThanOrEqual(6);
});

it("the request budget costs a single renewal one commit, and does not delay the renewal's calls to Stripe", async () => {
  const one = new Replica(20);
  for (const endpoint of ['read', 'report', 'attach']) await passed(one.call(endpoint));
  await pass(10_000);
  asked = 0;
  let waited = 0;
  for (const endpoint of ['read', 'report', 'attach']) {
    waited += await passed(one.call(endpoint));
    await pass(150);
  }
  expect(asked).toBe(1);
  expect(waited).toBeLessThan(100);
});

it("a replica with few calls leaves the rest of Stripe's request budget to a busy replica", async () => {
  const busy = new Replica(20).busy(32);
  const calm = new Replica(20);
  await pass(3_000);
  busy.sent.length = 0;
  const began = clock.now().getTime();
  const waits: number[] = [];
  for (let n = 0; n < 10; n++) {
    waits.push(await passed(calm.call('a')));
    await pass(500);
  }
  expect(Math.max(...waits)).toBeLessThanOrEqual(1_100);
  expect(Math.max(...waits.slice(4))).toBeLessThanOrEqual(500);
  const seconds = (clock.now().getTime() - began) / 1_000;
  expect(busy.sent.length).toBeGreaterThanOrEqual(16 * seconds);
  expect(mostInASecond([busy, calm])).toBeLessThanOrEqual(22);
});

it("a live replica gets a dead replica's share of Stripe's request budget within two seconds", async () => {
  const [dead, alive] = [new Replica(20).busy(32), new Replica(20).busy(32)];
  await pass(3_000);
  expect(alive.sent.length).toBeLessThan(40);
  dead.die();
  await pass(2_000);
  alive.sent.length = 0;
  await pass(3_000);
  expect(alive.sent.length).toBeGreaterThanOrEqual(58);
});

it('two replicas together stay within the request limit of one Stripe endpoint', async () => {
  const all = [new Replica(100).busy(32, ['a']), new Replica(100).busy(32, ['a'])]; // an endpoint has 25 of the 100
  await pass(4_000);
  expect(mostInASecond(all, 'a')).toBeLessThanOrEqual(25 + 2);
  expect(countOf(all)).toBeGreaterThanOrEqual(95);
});

it('a 429 from Stripe to one replica halves the request budget of all replicas for some seconds', async () => {
  const [one, two] = [new Replica(20), new Replica(20).busy(32)];
  await pass(2_000);
  one.budget.throttled('a', null, 'global-rate');
  one.budget.throttled('b', null, null); // of the same crowd: it counts once
  await pass(2_000); // the pause, and the part the other still holds
  two.sent.length = 0;
  await pass(1_000);
  expect(two.sent.length).toBeGreaterThanOrEqual(10);
  expect(two.sent.length).toBeLessThanOrEqual(16);
  await pass(5_000);
  two.sent.length = 0;
  await pass(1_000);
  expect(two.sent.length).toBeGreaterThanOrEqual(19);
});

it('a 429 from Stripe about one endpoint slows that endpoint alone, in every replica', async () => {
  const [one, two] = [new Replica(100), new Replica(100).busy(32, ['a']).busy(32, ['b'])];
  await pass(2_000);
  one.budget.throttled('a', null, 'endpoint-rate');
  await pass(1_100); // the part the other still holds
  two.sent.length = 0;
  await pass(2_000);
  const [a, b] = ['a', 'b'].map((e) => two.sent.filter((s) => s.endpoint === e).length);
  expect(a).toBeLessThanOrEqual(40);
  expect(b).toBeGreaterThanOrEqual(48);
});

it('all replicas wait as long as Stripe asks for in a 429', async () => {
  const [one, two] = [new Replica(20), new Replica(20)];
  one.budget.throttled('a', 30_000, null);
  await settled();
  const calls = Promise.all([one.call('b'), two.call('a')]);
  await pass(29_900);
  expect(countOf([one, two])).toBe(0);
  expect(await passed(calls)).toBeLessThanOrEqual(1_500);
});

it('a replica with a clock an hour ahead sends to Stripe again as soon as somebody corrects the clock', async () => {
  class WrongClock extends ManualClock {
    aheadMs = 3_600_000;
    override now(): Date {
      return new Date(super.now().getTime() + this.aheadMs);
    }
  }
  const row = `insert into request_budget (name, slices, paused_until) values ('stripe', $1, $2)`;
  const end = clock.now().getTime() + 3_601_000; // the server's clock
  await x.db.pool.query(row, [{ other: [20, 20, end] }, new Date(end)]);
  const own = new WrongClock(clock.now()); // and its own
  const one = new Replica(20, own);
  await passed(one.call('a'));
  one.budget.throttled('b', 60_000, 'endpoint-rate');
  own.aheadMs = 0;
  expect(await passed(one.call('a'))).toBeLessThanOrEqual(1_100);
  expect(await passed(one.call('b'))).toBeLessThanOrEqual(60_000);
});

it('a replica sends nothing to Stripe while the database does not grant a share of the request budget', async () => {
  const one = new Replica(20);
  await x.db.pool.query('alter table request_budget rename to gone');
  await expect(one.call('a')).rejects.toThrow('request_budget');
  await x.db.pool.query('alter table gone rename to request_budget');
  await passed(one.call('a'));
  expect(one.sent).toHaveLength(1);
});

it("the replicas' shares together never exceed Stripe's request limit, and use the whole limit while a replica wants more", () => {
  const wishes = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 6 });
  const small = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 }); // together less than there is
  fc.assert(
    fc.property(fc.oneof(wishes, small), fc.array(fc.nat(5), { minLength: 20, maxLength: 40 }), (wanted, turns) => {
      const slices: (Slice | undefined)[] = wanted.map(() => undefined);
      const turn = (index: number): void => {
        const others = slices.filter((s, j): s is Slice => s !== undefined && j !== index);
        const perSecond = grant(20, wanted[index] ?? 0, others, 0);
        slices[index] = { perSecond, wanted: wanted[index] ?? 0, untilMs: 1 };
      };
      for (const t of turns) turn(t % wanted.length);
      const held = () => slices.reduce((sum, s) => sum + (s?.perSecond ?? 0), 0);
      expect(held()).toBeLessThanOrEqual(20 + 1e-9);
      for (let round = 0; round < 3; round++) for (const i of wanted.keys()) turn(i);
      expect(held()).toBeLessThanOrEqual(20 + 1e-9);
      const all = wanted.reduce((a, b) => a + b, 0);
      expect(held()).toBeGreaterThanOrEqual(Math.min(20, all) - 1e-9);
      for (const [i, wish] of wanted.entries()) {
        expect(slices[i]?.perSecond).toBeGreaterThanOrEqual(Math.min(wish, 20 / wanted.length) - 1e-9);
      }
    }),
  );
});

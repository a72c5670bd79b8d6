// A fixed part of the simulation: a few seeds, every single fault of two stories, some orders of arrival, and the simulation itself.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { type FaultKind, type GivenFault } from '../src/simulate/machine/faults.js';
import { drawPair, singleFaults } from '../src/simulate/runs/exhaustive.js';
import { brokenOrders } from '../src/simulate/runs/permutations.js';
import { readOptions } from '../src/simulate/options.js';
import { plainRun, type RunResult, seededRun } from '../src/simulate/runs/run.js';
import { never } from '../../../test/support/never.js';
import { keptCases } from '../src/simulate/runs/kept.js';
import { type Outcome, type Recipe, shrink } from '../src/simulate/runs/shrink.js';
import { SimRepository } from '../src/simulate/machine/sim-repository.js';
import { goldenStories, storyNamed } from '../src/simulate/stories/golden.js';
import { type World } from '../src/simulate/machine/world.js';
import { freshDatabase, type TestDatabase } from '../../../test/support/rigs/database.js';

// A busy machine may be ten times slower than a quiet one, and slow is not wrong.
jest.setTimeout(300_000);

let database: TestDatabase;
let repository: SimRepository;

beforeAll(async () => {
  database = await freshDatabase();
  repository = await SimRepository.open(database.url);
});

afterAll(async () => {
  await repository.close();
  await database.drop();
});

/** A broken rule with everything needed to see it again. */
function notifiedOf({ name, broken, injected }: RunResult): string[] {
  const faults = injected.map((f) => `#${f.at} ${f.fault} at ${f.label}`).join(', ');
  return broken.map((b) => `${name}: ${b} [${faults}]`);
}

it('the simulated shops of the seeds 1 to 8 keep every rule under random faults', async () => {
  const notified: string[] = [];
  for (let seed = 1; seed <= 8; seed++) notified.push(...notifiedOf(await seededRun(seed, repository, false)));
  expect(notified).toEqual([]);
});

it('the simulation takes the same steps for the same seed, and different steps for another seed', async () => {
  const first = await seededRun(11, repository, false);
  expect((await seededRun(11, repository, false)).digest).toBe(first.digest);
  expect((await seededRun(12, repository, false)).digest).not.toBe(first.digest);
});

// Two lanes due at one moment: their rows lie in another order than their index.
it('the simulation takes the same steps for the same seed, even if PostgreSQL runs its queries by other query plans', async () => {
  const first = await seededRun(700, repository, false);
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const name = (await admin.query<{ name: string }>('select current_database() as name')).rows[0]?.name ?? '';
  try {
    for (const off of ['enable_indexscan', 'enable_bitmapscan', 'enable_indexonlyscan'])
      await admin.query(`alter database ${name} set ${off} = off`);
    const scanning = await SimRepository.open(database.url);
    const second = await seededRun(700, scanning, false).finally(() => scanning.close());
    expect(second.digest).toBe(first.digest);
  } finally {
    await admin.query(`alter database ${name} reset all`);
    await admin.end();
  }
});

it('without faults, the simulation keeps every rule in each fixed story (one for each way money moves)', async () => {
  const notified: string[] = [];
  for (const story of goldenStories) notified.push(...notifiedOf(await plainRun(story, repository)));
  expect(notified).toEqual([]);
});

// Every fault would take minutes here: `npm run simulate -- --exhaustive` takes them.
it.each([
  ['renewal payment_record finalize', 31],
  ['refunds in two parts payment_record', 97],
  ['the backend is notified of a decline, a success and a refund', 131],
  ['a renewal and its refund, with a standby payment_record', 211],
])('the simulation keeps every rule after a single fault anywhere in the story: %s', async (name, every) => {
  const { faults } = await singleFaults(storyNamed(name), repository);
  const notified: string[] = [];
  for (const [n, fault] of faults.entries()) {
    if (n % every !== 0) continue;
    notified.push(...notifiedOf(await plainRun(storyNamed(name), repository, [[fault.at, fault.fault]])));
  }
  expect(notified).toEqual([]);
});

it('the simulation keeps every rule after two faults in short succession', async () => {
  const notified: string[] = [];
  for (const [n, { name }] of goldenStories.entries()) {
    if (n % 13 !== 0) continue;
    const given = await drawPair(name, n, repository);
    notified.push(...notifiedOf(await plainRun(storyNamed(name), repository, given)));
  }
  expect(notified).toEqual([]);
});

it("the simulation reaches the same state, whatever the order of an invoice's events", async () => {
  expect(await brokenOrders(repository, 29)).toEqual([]);
});

it.each(keptCases().map((kept) => [kept.why, kept] as const))(
  'the simulation keeps every rule in a run that failed before: %s',
  async (_, kept) => {
    const { seed, faults, without } = kept;
    const small = { faults: faults === null ? null : new Map(faults), without };
    expect(notifiedOf(await seededRun(seed, repository, false, small))).toEqual([]);
  },
);

async function withFault(name: string, label: RegExp, fault: FaultKind): Promise<RunResult> {
  const { golden } = await singleFaults(storyNamed(name), repository);
  const point = golden.points.find((p) => label.test(p.label) && p.legal.includes(fault));
  if (point === undefined) throw new Error(`no step ${label.source} takes ${fault}`);
  return plainRun(storyNamed(name), repository, [[point.at, fault]], { keepTrace: true });
}
const renewal = 'renewal payment_record finalize';

it('the simulation notices a renewal charged to another customer’s method', async () => {
  const { name, plan, settings } = storyNamed(
    'two trials are confirmed in the other order, and each renewal is paid by its own customer',
  );
  const confused = async (world: World): Promise<void> => {
    const { cards, mor } = world.sandbox;
    cards.book.methodOf = () => [...mor.customers.values()].flatMap((c) => c.methods).at(-1) ?? null;
    await plan(world);
  };
  const { broken } = await plainRun(
    { name, plan: confused, ...(settings === undefined ? {} : { settings }) },
    repository,
  );
  expect(broken.map((line) => line.slice(0, 3))).toEqual(['P1:']);
});

it("the simulation restarts a crashed replica while another replica continues the crashed replica's work", async () => {
  const { trace, broken } = await withFault(renewal, /report_payment/, 'crash_after');
  expect(broken).toEqual([]);
  expect(trace.some((l) => /[AB]1 crashes/.test(l))).toBe(true);
  expect(trace.filter((l) => l.includes('POST /v1/payment_records/report_payment'))).toHaveLength(2);
});

it("the simulation lets a worker sleep past its lease, and the database refuses the worker's late write", async () => {
  const { trace, broken } = await withFault(renewal, /attach_payment/, 'pause_after');
  expect(broken).toEqual([]);
  expect(trace.some((l) => l.includes('lanes.transact failed: Error lane'))).toBe(true);
});

it("the simulated Stripe delivers an event again if Crossbill stores the event but loses the database's answer", async () => {
  const { trace, broken } = await withFault(renewal, /inbox.store/, 'db_answer_lost');
  expect(broken).toEqual([]);
  const first = trace.find((l) => l.includes('[db_answer_lost]')) ?? '';
  expect(first).toContain('inbox.store');
  expect(trace.filter((l) => l.includes('delivers invoice.created')).length).toBeGreaterThan(1);
});

it.each([
  renewal,
  'a replica dies with its slice of the request budget',
  'a backup from the middle of a refund is restored',
])('the simulation can inject even the last fault on its list for the fixed story: %s', async (name) => {
  const { faults } = await singleFaults(storyNamed(name), repository);
  const { at, fault } = faults.at(-1) ?? never();
  const { injected, broken } = await plainRun(storyNamed(name), repository, [[at, fault]]);
  expect(injected).toContainEqual(expect.objectContaining({ at, fault }));
  expect(broken).toEqual([]);
});

it('the simulation reports a run as failed if a requested fault never happens', async () => {
  const { broken } = await plainRun(storyNamed(renewal), repository, [[29_999, 'crash_after']]);
  expect(broken).toEqual(['the fault 29999:crash_after never came']);
});

it('the simulation shrinks a failing run to the few faults and story parts still breaking the same rule', async () => {
  const faults = Array.from({ length: 9 }, (_, at): GivenFault => [at, at % 2 === 0 ? 'crash_after' : 'refuse']);
  let runs = 0;
  // The faults of steps 2 and 7 together break the rule, while part 3 plays. A fault at step 5 finds no step.
  const act = (recipe: Recipe): Promise<Outcome> => {
    runs++;
    const has = (at: number): boolean => recipe.faults.some(([step]) => step === at);
    const broken = has(2) && has(7) && !recipe.without.includes(3) ? ['T9: twice in one place'] : [];
    return Promise.resolve({
      broken: has(0) ? ['T1: another rule', ...broken] : broken,
      injected: recipe.faults.filter(([step]) => step !== 5),
    });
  };
  const { rule, recipe } = await shrink({ broken: ['T9: twice'], injected: faults }, 6, act, () => undefined);
  expect([rule, recipe]).toEqual(['T9', { faults: [faults[2], faults[7]], without: [0, 1, 2, 4, 5] }]);
  expect(runs).toBeLessThan(60);
});

it('the simulation can play a random story again without one of its parts, and keeps all other parts', async () => {
  const whole = await seededRun(11, repository, false);
  const faults = new Map(whole.injected.map(({ at, fault }) => [at, fault]));
  expect((await seededRun(11, repository, false, { faults, without: [] })).digest).toBe(whole.digest);
  const left = 3; // those before are in every story
  const less = await seededRun(11, repository, true, { faults: new Map(), without: [left] });
  expect(less.parts).toEqual(whole.parts);
  expect(less.trace.filter((line) => line.endsWith(` ${whole.parts[left] ?? ''}`))).toEqual([]);
  expect(less.broken).toEqual([]);
});

it('the simulation reads its command line and refuses wrong options with a clear error', () => {
  expect(readOptions(['--seeds', '7', '--from', '40'])).toMatchObject({ mode: 'seeds', seeds: 7, from: 40 });
  expect(readOptions(['--exhaustive', '--story', 'signup'])).toMatchObject({ mode: 'exhaustive', story: 'signup' });
  expect(readOptions(['--story', 'signup', '--faults', '3:twice,9:crash_after'])).toMatchObject({
    mode: 'story',
    faults: [
      [3, 'twice'],
      [9, 'crash_after'],
    ],
  });
  expect(() => readOptions(['--story', 'signup', '--faults', '3:nothing'])).toThrow('there is no fault nothing');
  expect(() => readOptions(['--seeds', 'many'])).toThrow('--seeds must be a whole number from 1 on');
});

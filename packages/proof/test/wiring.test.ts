// The simulation's replica is put together by hand, since a world starts six of them and Nest needs 50 ms for each: a
// third on top of every seed. So this test compares both: each part of a replica has the same parts as in the daemon.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../../src/app.module.js';
import { loadConfig } from '../../../src/shared/config/index.js';
import { createLogger, Metrics } from '../../../src/shared/observe/index.js';
import { Database } from '../../../src/frames/store/database.js';
import { minimal } from '../../../test/support/builders/minimal-settings.js';
import { freshDatabase, type TestDatabase } from '../../../test/support/rigs/database.js';
import { SimRepository } from '../src/simulate/machine/sim-repository.js';
import { World } from '../src/simulate/machine/world.js';
import { settingsOf } from '../src/simulate/runs/run.js';

/** What stands in for what in a simulated world. */
const STAND_INS: Readonly<Record<string, readonly string[]>> = {
  SimClock: ['SystemClock', 'ServerTime'],
  Seeded: ['SystemRng'],
  CountingIds: ['SystemIds'],
  SimReceiver: ['HttpReceiver'],
};

/** What a replica does without, each with its reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  'VerifyJob.metrics': 'no Prometheus',
  'VerifyJob.reports': 'the world takes the reports',
  'VerifyService.loss': 'no log of the open times of the endpoints',
  'WorkLaneService.account': 'the sandbox has one account, and no live mode',
};

/** Neither parts of the daemon nor anything with such parts. */
const PLAIN = new Set(['Object', 'Array', 'Map', 'Set', 'WeakSet', 'Date', 'Buffer', 'Promise', 'Secret']);
/** The ways out to the database and to Stripe: the world has its own behind them. */
const ENDS = new Set(['Database', 'BoundPool', 'EntityManager', 'Repository', 'StripeClient', 'MorTransport']);

/** The kinds of each part's own parts: class name, then member, then class names. */
type Wiring = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** By the prototype: a replica's repositories are proxies, which answer even for their constructor. */
const classOf = (value: object): string =>
  (Object.getPrototypeOf(value) as { readonly constructor: { readonly name: string } } | null)?.constructor.name ??
  'Object';

function wiringOf(roots: readonly unknown[]): Wiring {
  const wiring = new Map<string, Map<string, string>>();
  const seen = new Set<unknown>();
  for (const todo = [...roots]; todo.length > 0;) {
    const part = todo.pop();
    if (typeof part !== 'object' || part === null || seen.has(part)) continue;
    seen.add(part);
    const name = classOf(part);
    if (PLAIN.has(name) || ENDS.has(name) || STAND_INS[name] !== undefined) continue;
    const members = wiring.get(name) ?? new Map<string, string>();
    wiring.set(name, members);
    for (const [member, value] of Object.entries(part) as [string, unknown][]) {
      if (typeof value !== 'object' || value === null || PLAIN.has(classOf(value))) continue;
      members.set(member, classOf(value));
      todo.push(value);
    }
  }
  return wiring;
}

let database: TestDatabase;
let repository: SimRepository;
let daemon: INestApplicationContext;

beforeAll(async () => {
  database = await freshDatabase();
  repository = await SimRepository.open(database.url);
  const db = await Database.open({ url: database.url, poolSize: 4, onError: () => undefined });
  const config = loadConfig({ ...minimal, NODE_ENV: 'test', DATABASE_URL: database.url });
  const log = createLogger({ level: 'error', secrets: [], pretty: false });
  const metrics = new Metrics({ eventTypes: [], now: () => new Date() });
  const parts = { config, db, log, metrics };
  daemon = await NestFactory.createApplicationContext(AppModule.withoutJobs(parts), { logger: false });
});
afterAll(async () => {
  await daemon.close(); // closes its database too
  await repository.close();
  await database.drop();
});

type Container = {
  getModules(): ReadonlyMap<string, { readonly providers: ReadonlyMap<unknown, { readonly instance: unknown }> }>;
};

it('each part of a simulated replica is wired to the same parts as in the daemon', () => {
  const settings = settingsOf({ name: 'none', plan: () => Promise.resolve() });
  const world = new World({ seed: '1', settings, shuffled: false, keepTrace: false, repository });
  const simulated = wiringOf([world.replica(0)]);
  world.end();
  const { container } = daemon as unknown as { readonly container: Container };
  const providers = [...container.getModules().values()].flatMap((module) => [...module.providers.values()]);
  const real = wiringOf(providers.map(({ instance }) => instance));

  const differences: string[] = [];
  let compared = 0;
  for (const [part, members] of simulated) {
    const own = real.get(part);
    if (own === undefined) {
      if (part !== 'Replica') differences.push(`${part} is not in the daemon`);
      continue;
    }
    compared++;
    for (const member of new Set([...members.keys(), ...own.keys()])) {
      const [has, wanted] = [members.get(member) ?? 'nothing', own.get(member) ?? 'nothing'];
      const stands = has === wanted || STAND_INS[has]?.includes(wanted) === true;
      if (!stands && WITHOUT[`${part}.${member}`] === undefined)
        differences.push(`${part}.${member} is ${has}, in the daemon ${wanted}`);
    }
  }
  expect(differences).toEqual([]);
  expect(compared).toBeGreaterThan(45);
});

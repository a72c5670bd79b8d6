// The means of every chaos run: a folder, a PostgreSQL, a world (`world.ts`), a merchant, the fast clock, the report.
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding } from '@crossbill/sandbox/demo/check.js';
import { handedOn } from '@crossbill/sandbox/demo/options.js';
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { Seeded } from '../simulate/machine/seeded.js';
import { type Asked, isIdle, compareBooks } from './books.js';
import { Life, type LifeOptions } from './life.js';
import { type ChaosOptions } from './options.js';
import { PgBouncer } from './pgbouncer.js';
import { findPrograms, RealPostgres, type ServerOptions } from './postgres.js';
import { isClean, type Numbers, reportLines } from './report.js';
import { startWorld, type World } from './world.js';
import { chooseRunAs } from '@crossbill/embedded-postgres';

/** The sandbox's clock runs twenty times as fast as real time: senders retry and drafts end within a run. */
const TICK_MS = 1_000;
const TICK_SEC = 20;
export const FIRST_CUSTOMERS = 8;

/** The part of a PostgreSQL server every kind of run needs. */
export type Served = Pick<RealPostgres, 'url' | 'starts' | 'end'>;

export type Stage<S extends Served = RealPostgres> = {
  readonly options: ChaosOptions;
  readonly progress: Progress;
  readonly folder: string;
  readonly server: S;
  readonly world: World;
  readonly life: Life;
};

/** Functions to end everything this process started, at any kind of exit. */
export const owned = new Set<() => void>();

export type StageOptions = {
  readonly acts: LifeOptions['acts'];
  readonly tax?: boolean;
  readonly pooler?: boolean;
};

/** Makes a folder for this run, open to every user, because root runs PostgreSQL as another user. */
export function makeFolder(seed: string): string {
  const folder = mkdtempSync(join(tmpdir(), `crossbill-chaos-${seed.replace(/[^\w-]/g, '_')}-`));
  chmodSync(folder, 0o755);
  return folder;
}

/** Starts everything and signs up the first customers. */
export async function setStage(
  options: ChaosOptions,
  progress: Progress,
  folder: string,
  of: StageOptions & { readonly server?: Partial<ServerOptions> },
): Promise<Stage> {
  const programs = findPrograms(chooseRunAs('/nowhere'));
  progress.line(`${programs.about}; logs in ${folder}`);
  const server = await RealPostgres.make(
    { folder: join(folder, 'primary'), logFile: join(folder, 'postgres.log'), ...of.server },
    programs,
  );
  owned.add(() => void server.end('SIGQUIT'));
  return setStageOn(server, options, progress, folder, of);
}

/** The same as `setStage`, on a server already running. */
export async function setStageOn<S extends Served>(
  server: S,
  options: ChaosOptions,
  progress: Progress,
  folder: string,
  of: StageOptions,
): Promise<Stage<S>> {
  const pooler = of.pooler === true ? await PgBouncer.start(server.url, join(folder, 'pooler')) : null;
  if (pooler !== null) owned.add(() => void pooler.kill());
  const environment = handedOn(process.env);
  const world = await startWorld({ seed: options.seed, folder, environment, databaseUrl: server.url, pooler });
  owned.add(() => world.kill());
  const random = new Seeded(`life:${options.seed}`);
  const life = new Life(world, { random, seed: options.seed, acts: of.acts, tax: of.tax ?? true });
  await world.control.post('/_sandbox/mor/hearing', { direct: false }); // the MoR gets `invoice.created` by the relay
  await life.begin(FIRST_CUSTOMERS);
  progress.done(`PostgreSQL, two daemons and both peers run; ${FIRST_CUSTOMERS} customers have signed up`);
  return { options, progress, folder, server, world, life };
}

/** Moves the sandbox's clock until `ended` returns true. */
export async function fastClock(world: World, ended: () => boolean): Promise<void> {
  while (!ended()) {
    await world.control.post('/_sandbox/clock', { advance_sec: TICK_SEC }).catch(() => undefined);
    await sleep(TICK_MS);
  }
}

/** Waits for the end of all work, compares the ledger with Stripe and the MoR, reports. True if every rule holds. */
export async function conclude(
  stage: Stage<Served>,
  databaseUrl: string,
  numbers: Pick<Numbers, 'title' | 'lastedMs' | 'strikes' | 'more'>,
  findings: readonly Finding[] = [],
  unused: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const { world, progress, life, server, folder, options } = stage;
  progress.line('everything is healed; waiting for rest');
  const say = (text: string): void => progress.line(text);
  const asked: Asked = { world, databaseUrl, refundsAsked: life.refundsAsked.size, unused, say };
  const unrest = await isIdle(asked);
  progress.done(unrest.length === 0 ? 'at rest; comparing all books' : 'it does not come to rest; comparing all books');
  const compared = await compareBooks(asked, unrest);
  const outcome = { ...compared, findings: [...findings, ...compared.findings] };
  const clean = isClean(outcome);
  const logs = clean && !options.keep ? null : `${folder}-logs`;
  const daemonDeaths = world.daemons.reduce((sum, d) => sum + d.deaths, 0);
  const lines = reportLines(outcome, { ...numbers, done: life.done, daemonDeaths, serverStarts: server.starts, logs });
  for (const line of lines) progress.line(line);
  if (logs === null) return clean;
  writeFileSync(join(folder, 'report.txt'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'books.json'), JSON.stringify(outcome, null, 1));
  cpSync(folder, logs, { recursive: true, filter: (path) => !/\/(primary|standby|patroni|disk|pooler)$/.test(path) });
  return clean;
}

/** Ends every process that was started, and removes the folder of the run. */
export async function clear({ world, server, folder }: Stage<Served>): Promise<void> {
  await world.stop();
  await world.pooler?.kill();
  await server.end('SIGINT');
  rmSync(folder, { recursive: true, force: true });
}

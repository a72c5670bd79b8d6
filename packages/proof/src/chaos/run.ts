// The chaos run: a merchant's life, and strikes by a schedule.
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { type ChaosOptions } from './options.js';
import { counted } from './report.js';
import { drawStrikes, KINDS } from './schedule.js';
import { clear, conclude, fastClock, makeFolder, setStage } from './stage.js';
import { Strikes } from './strikes.js';

const MINUTE_MS = 60_000;
const ACTS = ['signups', 'renewals', 'refunds', 'portal', 'disputes', 'mends', 'dashboard', 'transfers'] as const;

/** Returns true if every rule holds. */
export async function runChaos(options: ChaosOptions, progress: Progress): Promise<boolean> {
  const lastsMs = options.minutes * MINUTE_MS;
  const schedule = drawStrikes({
    seed: options.seed,
    lastsMs,
    everyMs: options.every * 1000,
    pooler: options.pgbouncer,
  });
  const about = `${options.minutes} minutes, ${counted(schedule.length, 'strike')}`;
  progress.line(`Chaos, seed ${options.seed}: ${about}${options.pgbouncer ? ', through PgBouncer' : ''}`);
  const stage = await setStage(options, progress, makeFolder(options.seed), { acts: ACTS, pooler: options.pgbouncer });
  const { world, server, life } = stage;
  const startedAt = performance.now();
  let ended = false;
  const isOver = (): boolean => ended || performance.now() - startedAt > lastsMs;
  const strikes = new Strikes(world, server, ({ kind, part, forMs }) => {
    progress.line(`${clock(performance.now() - startedAt)}  ${part}: ${KINDS[kind]}, ${(forMs / 1000).toFixed(1)} s`);
  });
  const teller = setInterval(() => {
    const counts = `${counted(strikes.count, 'strike')}, ${counted(life.count('renewals'), 'renewal')}`;
    progress.line(`${clock(performance.now() - startedAt)}  so far ${counts}, ${counted(life.customers, 'customer')}`);
  }, MINUTE_MS);
  let lastedMs = lastsMs;
  try {
    const clockRuns = fastClock(world, isOver);
    const living = life.goOn(isOver);
    await strikes.carryOut(schedule, isOver);
    while (!isOver()) await new Promise((resolve) => setTimeout(resolve, 100));
    lastedMs = performance.now() - startedAt;
    await strikes.heal();
    await living; // everything is back, so every request gets its answer
    await clockRuns;
  } finally {
    ended = true;
    clearInterval(teller);
  }
  const title = `Chaos, seed ${options.seed}`;
  const clean = await conclude(stage, server.url, { title, lastedMs, strikes: strikes.done, more: [] });
  await clear(stage);
  return clean;
}

function clock(ms: number): string {
  const sec = Math.floor(ms / 1000);
  return `${String(Math.floor(sec / 60)).padStart(2, '0')}:${String(sec % 60).padStart(2, '0')}`;
}

// The machine of the primary dies under load. Patroni makes the synchronous standby the primary, and no event is
// missing. Then the old primary comes back as the standby.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { AFTER_MS, asFinding, BEFORE_MS, missed } from './failover.js';
import { type ChaosOptions } from './options.js';
import { findPatroni, Patroni } from './patroni.js';
import { untilFollowed } from './postgres.js';
import { untilReady } from './processes.js';
import { counted } from './report.js';
import { clear, conclude, fastClock, makeFolder, setStageOn } from './stage.js';

/** Returns true if every rule holds, or if this machine has no Patroni. */
export async function runPatroni(options: ChaosOptions, progress: Progress): Promise<boolean> {
  const programs = findPatroni();
  if (programs === null) {
    progress.line(
      'Skipped: this needs Patroni, etcd and PostgreSQL as Debian has them (apt install patroni etcd-server postgresql).',
    );
    return true;
  }
  const title = `Failover by Patroni, two nodes in synchronous mode, seed ${options.seed}`;
  progress.line(title);
  const folder = makeFolder('failover-patroni');
  progress.line(`logs in ${folder}`);
  const cluster = await Patroni.make(folder, programs);
  progress.done('Patroni runs a primary and a synchronous standby');
  const acts = ['signups', 'renewals', 'refunds', 'portal', 'mends', 'disputes'] as const;
  const stage = await setStageOn(cluster, options, progress, folder, { acts });
  const { world, life } = stage;
  const { database } = world.ways;

  let ended = false;
  const isOver = (): boolean => ended;
  const startedAt = performance.now();
  try {
    const clockRuns = fastClock(world, isOver);
    const living = life.goOn(isOver);
    await sleep(BEFORE_MS);
    const old = await cluster.primary();
    await untilFollowed(old, 'synchronously');
    old.kill();
    database.set('cut'); // cuts the daemons off, so no delivery arrives again before the check
    const diedAt = performance.now();
    const since = (): string => `${((performance.now() - diedAt) / 1000).toFixed(1)} s`;
    progress.done("the primary is dead, with its Patroni and all of PostgreSQL's processes");
    const primary = await cluster.primary();
    const promoted = since();
    const missing = await missed(stage, primary.url);
    database.set('pass');
    await Promise.all(world.daemonUrls.map((url, i) => untilReady(url, `daemon ${i + 1}`)));
    const ready = since();
    progress.done(
      `Patroni made the other one the primary after ${promoted}; it lacks ${counted(missing.length, 'event')} answered 200`,
    );
    await sleep(AFTER_MS);
    old.start();
    await untilFollowed(primary, 'synchronously');
    progress.done('the old primary is back as a synchronous standby');
    await sleep(AFTER_MS / 2);
    ended = true;
    await living;
    await clockRuns;
    const lastedMs = performance.now() - startedAt;
    const more = [
      `Patroni made the standby the primary ${promoted} after the kill, and both daemons were ready after ${ready} without a restart.`,
      ...(missing.length > 0 ? [] : ['No event answered 200 is missing after the failover.']),
      'The dead node came back as a synchronous standby.',
    ];
    const numbers = { title, lastedMs, strikes: new Map(), more };
    return await conclude(stage, cluster.url, numbers, missing.map(asFinding));
  } finally {
    ended = true;
    await clear(stage).catch(() => undefined);
  }
}

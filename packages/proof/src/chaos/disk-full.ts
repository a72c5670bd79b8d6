// Fills the disk of PostgreSQL while deliveries arrive. The webhook endpoints must reply 503 and lose nothing. When the
// disk has room again, the daemons must go on.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding } from '@crossbill/sandbox/demo/check.js';
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { type ChaosOptions } from './options.js';
import { counted } from './report.js';
import { clear, conclude, fastClock, makeFolder, owned, setStage, type Stage } from './stage.js';

const DISK_MB = 200;
const BEFORE_MS = 20_000;
const FULL_MS = 45_000;
const AFTER_MS = 20_000;
/** Adds a megabyte of unused text to the write-ahead log. */
const MUCH_LOG = `select pg_logical_emit_message(false, 'chaos', repeat('x', 1000000))`;
/** With these settings PostgreSQL has no spare segment of its log when the disk is full. */
const SMALL_WAL = { max_wal_size: '4MB', min_wal_size: '2MB', wal_recycle: 'off', wal_init_zero: 'on' };

/** Returns true if every rule holds, or if this machine cannot mount a small disk. */
export async function runDiskFull(options: ChaosOptions, progress: Progress): Promise<boolean> {
  const title = `A disk that fills up, seed ${options.seed}`;
  progress.line(title);
  const folder = makeFolder('disk');
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=0755`, 'tmpfs', disk], {
    encoding: 'utf8',
  });
  if (mounted.status !== 0) {
    progress.line(
      `Skipped: nothing can be mounted here (${(mounted.error?.message ?? mounted.stderr).trim()}); root may.`,
    );
    rmSync(folder, { recursive: true, force: true });
    return true;
  }
  const unmount = (): void => void spawnSync('umount', ['-l', disk]);
  owned.add(unmount);
  const acts = ['renewals', 'refunds', 'portal', 'mends', 'disputes'] as const;
  const server = { folder: join(disk, 'postgres'), settings: SMALL_WAL };
  const stage = await setStage(options, progress, folder, { acts, server });
  const { world, life } = stage;
  let ended = false;
  const isOver = (): boolean => ended;
  const startedAt = performance.now();
  try {
    const clockRuns = fastClock(world, isOver);
    const living = life.goOn(isOver);
    await sleep(BEFORE_MS);
    const fullAt = new Date().toISOString();
    fill(join(disk, 'filler'));
    progress.done('the disk is full');
    let crashes = 0;
    const filledAt = performance.now();
    for (; performance.now() < filledAt + FULL_MS; await sleep(500)) {
      if (stage.server.runs) {
        // In the first half only the tables lack room. Then the test fills the log too, until PostgreSQL ends.
        if (performance.now() > filledAt + FULL_MS / 2) await stage.server.query(MUCH_LOG).catch(() => undefined);
        continue;
      }
      crashes += 1;
      await stage.server.start(10_000).catch(() => undefined); // on a full disk the server may not even start
    }
    rmSync(join(disk, 'filler'));
    await stage.server.start();
    const freedAt = new Date().toISOString();
    progress.done(`there is room again; PostgreSQL had ended or could not start ${counted(crashes, 'time')}`);
    await sleep(AFTER_MS);
    ended = true;
    await living;
    await clockRuns;
    const lastedMs = performance.now() - startedAt;
    const { findings, more } = await seenMeanwhile(stage, fullAt, freedAt);
    more.push(`PostgreSQL ended, or could not start, ${counted(crashes, 'time')} while there was no room for its log.`);
    return await conclude(stage, stage.server.url, { title, lastedMs, strikes: new Map(), more }, findings);
  } finally {
    ended = true;
    await clear(stage).catch(() => undefined);
    unmount();
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(path: string): void {
  const file = openSync(path, 'w');
  for (const size of [1 << 20, 1 << 12, 1]) {
    const zeros = Buffer.alloc(size);
    try {
      while (writeSync(file, zeros) === size);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }
  closeSync(file);
}

/** Checks that the daemons answered 503, never 4xx, and logged the full disk. */
async function seenMeanwhile(
  { world, folder }: Stage,
  fullAt: string,
  freedAt: string,
): Promise<{ readonly findings: readonly Finding[]; readonly more: string[] }> {
  const log = (await world.control.get('/_sandbox/deliveries')).list('data');
  const refused = log.filter((d) => d.amountOrNull('status') === 503).length;
  const ended = log.filter((d) => (d.amountOrNull('status') ?? 0) >= 400 && (d.amountOrNull('status') ?? 0) < 500);
  const lines = world.daemons
    .flatMap((_, i) => readFileSync(join(folder, `daemon-${i + 1}.log`), 'utf8').split('\n'))
    .filter((line) => /"level":"(warn|error|fatal)"/.test(line))
    .filter((line) => within(line, fullAt, freedAt));
  const said = lines.filter((line) => /No space left on device|disk.{0,20}full/i.test(line));
  return {
    findings: [
      ...(refused === 0 ? [{ about: 'the endpoints', what: 'answered no delivery 503 while the disk was full' }] : []),
      ...(said.length === 0 ? [{ about: 'the log', what: 'says nowhere that the disk is full' }] : []),
      ...ended.map((d) => ({
        about: d.text('event_id'),
        what: `was answered ${d.amount('status')}, which ends its delivery`,
      })),
    ],
    more: [
      `While the disk was full ${counted(refused, 'delivery', 'deliveries')} were answered 503; ` +
        `${counted(said.length, 'line')} of the daemons' logs name the cause, ${lines.length} report an error.`,
    ],
  };
}

function within(line: string, from: string, to: string): boolean {
  const at = /"time":"([^"]+)"/.exec(line)?.[1] ?? '';
  return at >= from && at <= to;
}

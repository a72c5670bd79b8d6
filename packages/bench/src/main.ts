// `npm run bench`: prints every figure as a ratio within one run, as tables and as JSON. `--only intake,path` chooses
// measurements, `--scale 0.2` makes a short run. `--only pages --data folder` measures every page of the console on a
// database with ten million ledger rows, and the folder keeps the rows for another run. DATABASE_URL names another
// server to measure. The growth benchmark always starts an embedded server.
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { connectAlone, poolConfig } from '#src/frames/store/connect.js';
import { Database } from '#src/frames/store/database.js';
import { migrate } from '#src/frames/store/migrations.js';
import { burst } from './burst.js';
import { bareMarks } from './durable-limit.js';
import { measureGrowth } from './growth.js';
import { intake } from './intake.js';
import { processorTime, spent } from './processor-time.js';
import { perRenewal, type Written, writtenBy } from './written.js';
import { measurePages } from './pages.js';
import { replicas } from './replicas.js';
import { type Rig, withPeer } from './rig.js';
import { benchServer } from './server.js';
import { stopUnderLoad } from './stop.js';
import { verifyMany } from './verify-many.js';
import { drain, type PathResult, storeRenewals } from './whole-path.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'intake,path,growth,stop,replicas,burst,verify' },
    scale: { type: 'string', default: '1' },
    json: { type: 'string' },
    data: { type: 'string' },
  },
});
const parts = new Set(options.only.split(','));
const scale = Number(options.scale);

const server = await benchServer(process.env['DATABASE_URL']);
const found: Record<string, unknown> = {};

function table(title: string, rows: readonly Record<string, string | number>[]): void {
  console.log(`\n${title}`);
  const columns = Object.keys(rows[0] ?? {});
  const text = rows.map((r) => columns.map((c) => String(r[c])));
  const widths = columns.map((c, i) => Math.max(c.length, ...text.map((r) => r[i]?.length ?? 0)));
  for (const line of [columns, ...text])
    console.log(`  ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`);
}

/** Runs `work` on a separate database. */
async function fresh<T>(work: (url: string) => Promise<T>): Promise<T> {
  const admin = await connectAlone(server.adminUrl, { name: 'crossbill-bench', statementMs: 0 });
  const name = `bench_${Math.random().toString(36).slice(2)}`;
  await admin.query(`create database ${name}`);
  const url = server.adminUrl.replace(/\/[^/?]+(\?|$)/, `/${name}$1`);
  try {
    await migrate(url);
    return await work(url);
  } finally {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  }
}

function start(file: string, ...args: string[]): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${file} ended`)));
    child.stdout.on('data', (text: Buffer) => {
      const port = /port (\d+)/.exec(text.toString())?.[1];
      if (port !== undefined) resolve({ child, port: Number(port) });
    });
  });
}

/**
 * The results of the bare loop, the upper limit of marks. Processor times of one run are comparable even if the machine
 * does other work.
 */
type Bare = Pick<PathResult, 'perSecond' | 'cpuMsPerRenewal'> & { readonly postgresMs: number };

/** The results of a run. `intake`: the database's writes for storing the two events of a renewal. */
type Run = PathResult & { readonly intake: Written; readonly postgresMs: number };

async function path(): Promise<void> {
  const count = Math.round(5_000 * scale);
  const bare = (durable: boolean): Promise<Bare> =>
    fresh((url) =>
      withPeer(rig, { delayMs: 0 }, async (peerUrl) => {
        const pool = new pg.Pool({ ...poolConfig(url, { name: 'crossbill-bench', statementMs: 0 }), max: 2 });
        pool.on('error', () => undefined); // dropping the database ends idle connections: no error of the bench
        await bareMarks(peerUrl, null, 500); // warms up
        const used = await processorTime(undefined, server.pid);
        const perSecond = await bareMarks(peerUrl, durable ? pool : null, count);
        const { load, postgres } = spent(used, await processorTime(undefined, server.pid), count);
        await pool.end();
        return { perSecond, cpuMsPerRenewal: load / 1_000, postgresMs: postgres / 1_000 };
      }),
    );
  const run = (count: number, delayMs: number, concurrency: number): Promise<Run> =>
    fresh((url) =>
      withPeer(rig, { delayMs }, async (peerUrl) => {
        const db = await Database.open({ url, poolSize: 10, onError: (e) => console.error(e.message) });
        const warm = delayMs === 0 ? 1_000 : 64;
        await storeRenewals(db, 9_000_000, warm);
        await drain(db, warm, concurrency, peerUrl);
        const empty = await writtenBy(db);
        await storeRenewals(db, 0, count);
        const intake = perRenewal(empty, await writtenBy(db), count);
        const used = await processorTime(undefined, server.pid);
        const result = await drain(db, count, concurrency, peerUrl);
        const { postgres } = spent(used, await processorTime(undefined, server.pid), count);
        await db.close();
        return { ...result, intake, postgresMs: postgres / 1_000 };
      }),
    );
  const loop = await bare(false);
  const before = await bare(true);
  const instant = await run(count, 0, 64);
  const after = await bare(true);
  const slow = await run(Math.round(3_000 * scale), 150, 32);
  const mean = (of: keyof Bare): number => (before[of] + after[of]) / 2;
  const limit = mean('perSecond');
  const durable = { perSecond: limit, cpuMsPerRenewal: mean('cpuMsPerRenewal'), postgresMs: mean('postgresMs') };
  const bound = 32 / 0.45;
  const bareRow = (what: string, bare: Bare): Record<string, string | number> => ({
    what,
    'per second': Math.round(bare.perSecond),
    ratio: (bare.perSecond / limit).toFixed(2),
    'calls per renewal': 3,
    'commits per renewal': '-',
    'cpu ms': bare.cpuMsPerRenewal.toFixed(2),
    'PostgreSQL ms': bare.postgresMs.toFixed(2),
  });
  const row = (what: string, run: Run, of: number): Record<string, string | number> => ({
    what,
    'per second': run.perSecond.toFixed(1),
    ratio: (run.perSecond / of).toFixed(2),
    'calls per renewal': run.callsPerRenewal,
    'commits per renewal': run.commitsPerRenewal.toFixed(3),
    'cpu ms': run.cpuMsPerRenewal.toFixed(2),
    'PostgreSQL ms': run.postgresMs.toFixed(2),
  });
  const writes = (what: string, written: Written): Record<string, string | number> => ({
    what,
    rows: written.rows.toFixed(1),
    'index entries at most': written.indexEntries.toFixed(1),
    'log KB': (written.walBytes / 1024).toFixed(1),
    'updates within their page': `${written.hotUpdates.toFixed(1)} of ${written.updates.toFixed(1)}`,
  });
  table('Whole path: from the stored webhook to the confirmed mark', [
    bareRow('bare loop of the three calls, nothing written', loop),
    bareRow('durable limit: the same, each step group-committed first', durable),
    row('answers at once, 64 lanes', instant, limit),
    row(`answers after 150 ms, 32 lanes (bound ${bound.toFixed(1)}/s)`, slow, bound),
  ]);
  table('What a renewal writes', [
    writes('its two events, stored', instant.intake),
    writes('the rest, answers at once', instant.written),
    writes('the rest, answers after 150 ms', slow.written),
  ]);
  found['path'] = { loop, durable, limit, instant, slow, bound };
}

async function stop(): Promise<void> {
  const rows = [];
  for (let run = 0; run < 5; run++) {
    const r = await fresh(stopUnderLoad);
    rows.push({
      'gone after ms': Math.round(r.exitMs),
      'exit code': String(r.exitCode),
      'answered 200': r.stored,
      'answered 503': r.refused,
      'no answer': r.unanswered,
      'acknowledged and not stored': r.lost,
      'leases left': r.leasesLeft,
    });
  }
  table('SIGTERM under load: 50 connections send invoices and payments, Stripe answers after 150 ms', rows);
  found['stop'] = rows;
}

const rig: Rig = { scale, dataDir: options.data ?? null, postgresPid: () => server.pid, fresh, start, table, found };
/** The measurements in the order of a run. */
const measurements: Readonly<Record<string, () => Promise<void>>> = {
  intake: () => intake(rig),
  path,
  growth: () => measureGrowth(rig),
  pages: () => measurePages(rig),
  stop,
  replicas: () => replicas(rig),
  burst: () => burst(rig),
  verify: () => verifyMany(rig),
};
try {
  for (const part of parts)
    if (!(part in measurements)) throw new Error(`--only takes ${Object.keys(measurements).join(', ')}, not ${part}`);
  for (const [part, measure] of Object.entries(measurements)) if (parts.has(part)) await measure();
  console.log(`\n${JSON.stringify(found)}`);
  if (options.json !== undefined) await writeFile(options.json, JSON.stringify(found, null, 2));
} finally {
  await server.stop();
}

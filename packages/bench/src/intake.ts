// Compares intake with its upper limit: events per second, response times, commits, and the processor time of each
// process.
import { setTimeout as pause } from 'node:timers/promises';
import { connectAlone } from '#src/frames/store/connect.js';
import { invoiceCreated, signedRequest } from './events.js';
import { load, type LoadResult } from './load.js';
import { type ProcessorTime, processorTime, spent } from './processor-time.js';
import { type Rig } from './rig.js';

const CONNECTIONS = 50;
const WARM = 2_000;

export type IntakeResult = LoadResult & {
  readonly commits: number;
  /** Processor time per event, in microseconds. */
  readonly cpu: ProcessorTime;
};

/** Sends `count` events of 3.9 KB to a server of the bench on a separate database. */
function measureIntake(rig: Rig, count: number, file: string, ...args: string[]): Promise<IntakeResult> {
  return rig.fresh(async (url) => {
    const { child, port } = await rig.start(file, url, ...args);
    try {
      await load(port, events(10_000_000, WARM), CONNECTIONS);
      const requests = events(0, count);
      const commits = await commitsOf(url);
      const before = await processorTime(child.pid, rig.postgresPid());
      const result = await load(port, requests, CONNECTIONS);
      const after = await processorTime(child.pid, rig.postgresPid());
      await pause(1_200); // PostgreSQL publishes its statistics a second late
      return { ...result, commits: (await commitsOf(url)) - commits, cpu: spent(before, after, count) };
    } finally {
      child.kill('SIGKILL');
    }
  });
}

export async function intake(rig: Rig): Promise<void> {
  const count = Math.round(20_000 * rig.scale);
  const bare = await measureIntake(rig, count, './bare-server.js');
  const idle = await measureIntake(rig, count, './endpoints-server.js', 'idle');
  const busy = await measureIntake(rig, count, './endpoints-server.js', 'work');
  const again = await measureIntake(rig, count, './bare-server.js');
  const limit = (bare.perSecond + again.perSecond) / 2;
  const rows = Object.entries({
    'bare limit': bare,
    'intake, workers idle': idle,
    'intake, workers busy': busy,
    'bare limit again': again,
  });
  rig.table(
    `Intake: ${count} signed events of 3.9 KB over ${CONNECTIONS} connections`,
    rows.map(([what, r]) => ({
      what,
      'per second': Math.round(r.perSecond),
      'of the limit': (r.perSecond / limit).toFixed(2),
      'p50 ms': r.p50Ms.toFixed(1),
      'p99 ms': r.p99Ms.toFixed(1),
      'commits per event': (r.commits / r.requests).toFixed(3),
      refused: r.refused,
    })),
  );
  rig.table(
    'Processor time of an event in µs',
    rows.map(([what, { cpu }]) => ({
      what,
      'thread of the endpoint': Math.round(cpu.thread),
      'its helpers': Math.round(cpu.helpers),
      PostgreSQL: Math.round(cpu.postgres),
      load: Math.round(cpu.load),
      sum: Math.round(cpu.thread + cpu.helpers + cpu.postgres + cpu.load),
    })),
  );
  rig.found['intake'] = { limit, bare, idle, busy, again };
}

function events(from: number, count: number): Buffer[] {
  return Array.from({ length: count }, (_, i) =>
    signedRequest('/webhooks/stripe', 'Stripe-Signature', invoiceCreated(from + i)),
  );
}

async function commitsOf(url: string): Promise<number> {
  const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
  const r = await db.query<{ n: string }>(
    'select xact_commit as n from pg_stat_database where datname = current_database()',
  );
  await db.end();
  return Number(r.rows[0]?.n ?? 0);
}

// The surroundings of the day benchmark: a fresh copy of a filled database, and the process of Stripe and the MoR.
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/frames/store/connect.js';
import { migrate } from '#src/frames/store/migrations.js';
import { fillBooks, type Filling } from '../fill-books.js';
import { fillDatabases, PER_RENEWAL, quiet, urlOf } from '../filled.js';
import { type Rig } from '../rig.js';
import { type Notified } from './peers.js';
import { type Plan } from './plan.js';

export type Peers = { readonly url: string; readonly child: ChildProcess };

/**
 * Runs `work` on a copy of the filled database: `customers` customers, each with one renewal. The original stays in the
 * folder `--data`, or on the server of DATABASE_URL.
 */
export async function withBooks(
  rig: Rig,
  customers: number,
  said: (text: string) => void,
  work: (url: string, postgresPid: number) => Promise<void>,
): Promise<void> {
  const size = customers * PER_RENEWAL;
  const filling: Filling = { restDays: 0.05, logOfEach: 10, ofCustomer: 1, said };
  const own = process.env['DATABASE_URL'];
  const dataDir = own ? '' : (rig.dataDir ?? (await mkdtemp(join(tmpdir(), 'crossbill-day-'))));
  if (!own) await fillDatabases(dataDir, [size], filling);
  const server = own ? null : await startEmbeddedPostgres({ dataDir, log: quiet });
  const adminUrl = own ?? server?.adminUrl ?? '';
  const admin = await connectAlone(adminUrl, { name: 'crossbill-bench', statementMs: 0 });
  const books = new URL(urlOf(adminUrl, size)).pathname.slice(1);
  try {
    if (own) {
      const there = await admin.query('select from pg_database where datname = $1', [books]);
      if (there.rowCount === 0) await admin.query(`create database ${books}`);
      await migrate(urlOf(adminUrl, size));
      await fillBooks(urlOf(adminUrl, size), customers, filling);
    }
    await admin.query('drop database if exists bench_day with (force)');
    const { rows } = await admin.query<{ n: number }>(`select current_setting('server_version_num')::int as n`);
    // Copying files writes less to the write-ahead log.
    const copying = (rows[0]?.n ?? 0) >= 150_000 ? 'strategy file_copy' : '';
    await admin.query(`create database bench_day template ${books} ${copying}`);
    await settle(adminUrl.replace(/\/[^/?]+(\?|$)/, '/bench_day$1'));
    await admin.query('checkpoint');
    said('the books are copied');
    await work(adminUrl.replace(/\/[^/?]+(\?|$)/, '/bench_day$1'), own ? rig.postgresPid() : (server?.pid ?? 0));
  } finally {
    await admin.query('drop database if exists bench_day with (force)').catch(() => undefined);
    await admin.end();
    await server?.stop();
    if (!own && rig.dataDir === null) await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Settles the filled rows, so verify finds no differences in them. The fill gave rare statuses to the oldest renewals,
 * for the lists by status. It also invented a verify run with differences, and some waiting calls. The last statement
 * keeps the daemon from its own daily verify: only the benchmark runs verify.
 */
async function settle(url: string): Promise<void> {
  const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
  await db.query(
    `update payment set status = 'succeeded', mark = 'confirmed' where succeeded_at is not null and mark not in ('confirmed', 'closed')`,
  );
  await db.query(`update invoice set status = 'paid' where status = 'open'`);
  await db.query(`update refund set status = 'succeeded' where status = 'failed'`);
  await db.query(`update verify_run set outcome = 'clean', differences = '[]' where outcome <> 'clean'`);
  await db.query('delete from open_call');
  await db.query(
    `insert into lane (key, lease_until) values ('job:verify', now() + interval '1 day')
     on conflict (key) do update set lease_until = excluded.lease_until`,
  );
  await db.end();
}

/** Starts the process of Stripe and the MoR. They do nothing before `/_set?began=` sets the start of the day. */
export async function withPeers(plan: Plan, work: (peers: Peers) => Promise<void>): Promise<void> {
  const child = fork(fileURLToPath(new URL('./peers.js', import.meta.url)), [plan.renewals, plan.dayMs].map(String));
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the peers ended')));
    child.once('message', (notice: Notified) => resolve(notice.what === 'port' ? notice.port : 0));
  });
  try {
    await work({ url: `http://127.0.0.1:${port}`, child });
  } finally {
    child.removeAllListeners('exit').kill('SIGKILL');
  }
}

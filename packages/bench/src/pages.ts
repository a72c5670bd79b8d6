// Requests every page of the console several times over HTTP, from a normal daemon on a database with ten million old
// ledger rows.
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { configureHttp } from '#src/frames/api/http.js';
import { AppModule } from '#src/app.module.js';
import { loadConfig } from '#src/shared/config/index.js';
import { Clock } from '#src/shared/domain/ports/clock.js';
import { DaysRepository } from '#src/features/overview/days.repository.js';
import { Readiness } from '#src/core/health/readiness.js';
import { notificationWebhooks } from '#src/features/notifications/notification.schema.js';
import { createLogger, Metrics } from '#src/shared/observe/index.js';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { Database } from '#src/frames/store/database.js';
import { consolePages, type PageAsked } from './console-pages.js';
import { fillDatabases, PER_RENEWAL, quiet, urlOf } from './filled.js';
import { questions } from './growth-questions.js';
import { logIn } from './log-in.js';
import { meterOf, type Spent } from './meter.js';
import { type Rig, withPeer } from './rig.js';

const LEDGER_ROWS = 10_000_000;
const ROUNDS = 5;
const POOL = 10; // DATABASE_POOL_SIZE
/** The bench prints each page above one of these limits: such a page needs work. */
const [MOST_CPU_MS, MOST_BYTES] = [100, 100_000];
const DAYS = 30;
const KEY = 'ops-key-for-the-bench-0123456789abcdef';

/**
 * At scale 1 this takes 28 GB of disk and half an hour, nearly all of it to write the old rows. `--data` keeps them for
 * another run. The newest row dates from the fill, so today's pages are as full as on a real day.
 */
export async function measurePages(rig: Rig): Promise<void> {
  const dataDir = rig.dataDir ?? (await mkdtemp(join(tmpdir(), 'crossbill-pages-')));
  const rows = Math.round(LEDGER_ROWS * rig.scale);
  const began = performance.now();
  const said = (done: string): void => console.log(`${((performance.now() - began) / 1000).toFixed(0)} s: ${done}`);
  try {
    await fillDatabases(dataDir, [rows], { restDays: 0, logOfEach: 100, said });
    const server = await startEmbeddedPostgres({ dataDir, log: quiet });
    try {
      await withPeer(rig, { delayMs: 0 }, (peerUrl) => measure(rig, urlOf(server.adminUrl, rows), rows, peerUrl, said));
    } finally {
      await server.stop();
    }
  } finally {
    if (rig.dataDir === null) await rm(dataDir, { recursive: true, force: true });
  }
}

type Asked = Pick<PageAsked, 'what' | 'freshSec'> & { readonly ask: () => Promise<Got | null> };
type Seen = Spent & { readonly ms: number; readonly bytes: number };

async function measure(
  rig: Rig,
  url: string,
  rows: number,
  peerUrl: string,
  said: (done: string) => void,
): Promise<void> {
  const db = await Database.open({ url, poolSize: POOL, onError: (e) => console.error(e.message) });
  const asking = await Database.open({ url, poolSize: 2, onError: (e) => console.error(e.message) });
  const config = loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: url,
    API_KEYS: `bench:ops:${KEY}`,
    STRIPE_API_KEY: 'sk_test_0123456789abcdef',
    STRIPE_API_BASE: peerUrl,
    STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
    MOR_BASE_URL: peerUrl,
    MOR_AUTH_URL: peerUrl,
    MOR_CLIENT_ID: 'bench',
    MOR_CLIENT_SECRET: 'client-secret-0123456789',
    MOR_PAYMENT_WEBHOOK_SECRETS: 'mor-secret-0123456789',
  });
  const log = createLogger({ level: 'error', secrets: [], pretty: false });
  const metrics = new Metrics({ eventTypes: [], now: () => new Date() });
  const app = await NestFactory.create<NestExpressApplication>(
    AppModule.withoutJobs({ config, db, log, metrics }),
    new ExpressAdapter(),
    { logger: false, bodyParser: false, abortOnError: false },
  );
  configureHttp(app, notificationWebhooks());
  await app.listen(0, '127.0.0.1');
  try {
    const clock = app.get(Clock);
    let aheadMs = 0;
    clock.now = () => new Date(Date.now() + aheadMs);
    app.get(Readiness).set(true, 'ready');
    while ((await app.get(DaysRepository).countOne(clock.now(), DAYS)) !== null);
    said('days counted');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const cookie = await logIn(port, KEY);
    const n = middle(rows);
    const pages = consolePages(n).map((p): Asked => ({ ...p, ask: () => get(port, cookie, p) }));
    const asked = questions(asking, `old${n}`, n).map((q): Asked => ({
      what: q.what,
      ask: () => q.ask().then(() => null),
    }));
    const seen = new Map<string, Seen[]>();
    for (let round = 0; round <= ROUNDS; round++) {
      if (round === 1) seen.clear(); // the first round only warms plans and caches
      const inTurn = async (of: readonly Asked[], at: Database): Promise<void> => {
        const nothing = await spend(at, () => Promise.resolve(null));
        for (const a of of) {
          aheadMs += (a.freshSec ?? 0) * 1_000;
          const spent = await spend(at, a.ask);
          seen.set(a.what, [...(seen.get(a.what) ?? []), less(spent, nothing)]);
        }
      };
      await inTurn(pages, db);
      await inTurn(asked, asking);
      said(`round ${round} of ${ROUNDS}`);
    }
    tell(rig, `pages of the console above ${rows} ledger rows`, pages, seen);
    tell(rig, `questions to the books above ${rows} ledger rows`, asked, seen);
    for (const { what } of pages) {
      const [cpuMs = 0, bytes = 0] = (['cpuMs', 'bytes'] as const).map((of) => medianOf(seen.get(what) ?? [], of));
      if (cpuMs > MOST_CPU_MS) console.log(`${what} takes ${cpuMs.toFixed(0)} ms of PostgreSQL's processor time`);
      if (bytes > MOST_BYTES) console.log(`${what} has ${bytes} bytes`);
    }
    rig.found['pages'] = { rows, seen: Object.fromEntries(seen) };
  } finally {
    await app.close(); // closes the database too
    await asking.close();
  }
}

/** The number of an old renewal with a refund, from the middle of the old ones. */
const middle = (rows: number): number => Math.max(1, Math.floor(rows / PER_RENEWAL / 200)) * 100;

type Got = { readonly at: number; readonly bytes: number };

/** Requests a page. Returns the time when the whole page, or the start of a CSV, arrived. Reads the whole CSV too. */
async function get(port: number, cookie: string, { path, status = 200 }: PageAsked): Promise<Got> {
  const res = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', headers: { cookie } });
  const began = performance.now();
  const body = await res.arrayBuffer();
  const csv = path.includes('format=csv');
  const at = csv ? began : performance.now();
  if (res.status !== status) console.error(`${path} was answered ${res.status}, not ${status}`);
  return { at, bytes: csv ? 0 : body.byteLength };
}

async function spend(db: Pick<Database, 'pool'>, work: () => Promise<Got | null>): Promise<Seen> {
  const before = await meterOf(db);
  const began = performance.now();
  const got = await work();
  const ms = (got?.at ?? performance.now()) - began;
  const after = await meterOf(db);
  const { cpuMs, pages } = after;
  return { ms, bytes: got?.bytes ?? 0, cpuMs: cpuMs - before.cpuMs, pages: pages - before.pages, walBytes: 0 };
}

const medianOf = (seen: readonly Seen[], field: keyof Seen): number =>
  seen.map((s) => s[field]).sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;

/** Subtracts the meter's own cost. */
const less = (spent: Seen, nothing: Seen): Seen => ({
  ...spent,
  cpuMs: spent.cpuMs - nothing.cpuMs,
  pages: spent.pages - nothing.pages,
});

function tell(
  rig: Rig,
  title: string,
  asked: readonly { readonly what: string }[],
  seen: ReadonlyMap<string, Seen[]>,
): void {
  const rows = asked.map(({ what }) => {
    const of = seen.get(what) ?? [];
    const median = (field: keyof Seen): number => medianOf(of, field);
    return {
      what,
      'median ms': median('ms').toFixed(1),
      'most ms': Math.max(0, ...of.map((s) => s.ms)).toFixed(1),
      'PostgreSQL ms': median('cpuMs').toFixed(1),
      pages: median('pages').toFixed(0),
      KB: (median('bytes') / 1_000).toFixed(1),
    };
  });
  rig.table(`${ROUNDS} times each: ${title}`, rows);
}

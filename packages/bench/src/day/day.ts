// The day benchmark: `npm run bench -- --only day` plays the busiest 24 hours of a month to a real daemon in
// `--minutes`. The database has a million old customers at `--scale 1`. The load: a burst of `--renewals`, declines
// with retries, disputes, refunds by API, notifications to a slow receiver, people at the console, exports, and a
// verify run in the middle. The run fails if a final count or sum differs from the plan, or if an answer was wrong.
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectAlone } from '#src/frames/store/connect.js';
import { freePort, memoryOf, type Rig } from '../rig.js';
import { beginningOf, compare, unrest } from './accounts.js';
import { Replies } from './replies.js';
import { Client } from './client.js';
import { type Daemon, KEY, settingsOf, startDaemon, verify } from './daemon.js';
import { EndpointTraffic } from './endpoints.js';
import { type PeersSeen, type Notified } from './peers.js';
import { People } from './people.js';
import { budgetFor, type Plan, RECEIVER_WELL_AT, totalsOf, VERIFY_AT } from './plan.js';
import { type Peers, withBooks, withPeers } from './stage.js';
import { accountRows, byKind, byMinute, byTable, soFar } from './tell.js';
import { type Verified } from './verified.js';
import { type TableSeen, tablesOf, Watch } from './watch.js';

const CUSTOMERS = 1_000_000;
const RENEWALS = 100_000;
const MINUTES = 30;
/** The pause between the daemon's start and the first event. */
const BREATH_MS = 15_000;
/** After the day the bench waits at most this long until no work is left, then pauses before it reads the memory. */
const IDLE_WITHIN_MS = 25 * 60_000;
const AFTER_IDLE_MS = 30_000;
const SAY_EVERY = 2; // print progress with every second sample

export type DayAsked = { readonly renewals: string | undefined; readonly minutes: string | undefined };

export async function day(rig: Rig, asked: DayAsked): Promise<void> {
  const customers = Math.round(CUSTOMERS * rig.scale);
  const renewals = Number(asked.renewals ?? Math.round(RENEWALS * rig.scale));
  const dayMs = Number(asked.minutes ?? MINUTES) * 60_000;
  if (!(renewals >= 1 && renewals < customers && dayMs > 0))
    throw new Error('--renewals must be fewer than the customers in the books, and --minutes above 0');
  const began = performance.now();
  const said = (text: string): void => console.log(`${((performance.now() - began) / 1000).toFixed(0)} s: ${text}`);
  const plan: Plan = { renewals, dayMs };
  await withBooks(rig, customers, said, (url, postgresPid) =>
    withPeers(plan, (peers) => new Day(rig, plan, customers, said).run(url, postgresPid, peers)),
  );
}

type Seen = {
  readonly watch: Watch;
  readonly endpoints: EndpointTraffic;
  readonly people: People;
  readonly client: Client;
  readonly peers: PeersSeen;
  readonly tables: readonly [ReadonlyMap<string, TableSeen>, ReadonlyMap<string, TableSeen>];
  readonly memory: { readonly rest: number; readonly now: number; readonly most: number };
  readonly verified: readonly [Verified, Verified];
  /** The errors in the daemon's log. */
  readonly errors: ReadonlyMap<string, number>;
  /** Milliseconds from the end of the day until no work was left. Null: work was left at the deadline. */
  readonly restedMs: number | null;
  /** The 99th percentile of the bench's own event-loop delay: how late the bench sends. */
  readonly lateMs: number;
};

class Day {
  private readonly replies = new Replies();

  constructor(
    private readonly rig: Rig,
    private readonly plan: Plan,
    private readonly customers: number,
    private readonly said: (text: string) => void,
  ) {}

  async run(url: string, postgresPid: number, peers: Peers): Promise<void> {
    const port = await freePort();
    const settings = settingsOf(this.plan, url, peers.url, port);
    const db = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
    // Read this before the start: a starting daemon may send notifications about the old rows at once.
    const before = await beginningOf(db);
    const daemon = await startDaemon(settings);
    const beganMs = Date.now() + BREATH_MS;
    const client = new Client(`http://127.0.0.1:${port}`, beganMs, this.replies);
    try {
      await fetch(`${peers.url}/_set?began=${beganMs}`);
      const seen = await this.through({ db, daemon, postgresPid, client, peers, settings, port, beganMs });
      const accounts = await compare(db, before, {
        plan: this.plan,
        taken: seen.endpoints.taken,
        seen: seen.peers,
        verified: seen.verified[1],
      });
      this.tell(seen, accountRows(accounts));
      const others = accounts.filter((a) => a.expected !== a.seen).length;
      if (others + this.replies.wrongCount > 0) {
        console.log(
          `FAILED: ${others} accounts do not agree, ${this.replies.wrongCount} answers were not as they should be`,
        );
        process.exitCode = 1;
      }
    } finally {
      daemon.child.removeAllListeners('exit').kill('SIGKILL');
      await client.close();
      await db.end();
    }
  }

  private async through(at: {
    readonly db: pg.Client;
    readonly daemon: Daemon;
    readonly postgresPid: number;
    readonly client: Client;
    readonly peers: Peers;
    readonly settings: Record<string, string>;
    readonly port: number;
    readonly beganMs: number;
  }): Promise<Seen> {
    const { db, daemon, client, peers, settings, beganMs } = at;
    const { plan, replies } = this;
    const endpoints = new EndpointTraffic(plan, beganMs, client, (k) => people.refundLater(k));
    const people = new People(plan, client, KEY, endpoints.marked, this.customers);
    peers.child.on('message', (notice: Notified) => endpoints.heard(notice));
    const watch = new Watch(
      db,
      { daemon: daemon.child.pid ?? 0, postgres: at.postgresPid },
      () => client.now(),
      () => people.metrics,
      () => endpoints.marked.length,
    );
    const first = await tablesOf(db);
    await client.until(0);
    const isIdle = await memoryOf(daemon.child.pid);
    this.said(`the day begins; the daemon has ${isIdle.now} MB`);
    const late = monitorEventLoopDelay();
    late.enable();
    const watching = watch.run((s) => {
      if (watch.samples.length % SAY_EVERY === 0) this.said(soFar(s, replies, endpoints.taken));
    });
    const dead = new Promise<never>((_, reject) =>
      daemon.child.once('exit', () => reject(new Error('the daemon ended'))),
    );
    const middle = client.until(VERIFY_AT * plan.dayMs).then(() => this.verify(settings, beganMs));
    const cure = client.until(RECEIVER_WELL_AT * plan.dayMs).then(() => fetch(`${peers.url}/_set?notify=0`));
    await Promise.race([dead, Promise.all([endpoints.run(), people.run(at.port), cure, client.until(plan.dayMs)])]);
    const lateMs = lateOf(late);
    this.said('the day is over');
    const restedMs = await Promise.race([dead, this.restOf(db, client, endpoints, people)]);
    this.said(restedMs === null ? 'it never came to rest' : `at rest ${(restedMs / 1_000).toFixed(0)} s after the day`);
    const during = await middle;
    await fetch(`${peers.url}/_set?stripe=0`);
    const after = await this.verify(settings, beganMs);
    await pause(AFTER_IDLE_MS);
    people.ended = true;
    watch.stop();
    await watching;
    return {
      watch,
      endpoints,
      people,
      client,
      peers: (await (await fetch(`${peers.url}/_seen`)).json()) as PeersSeen,
      tables: [first, await tablesOf(db)],
      memory: { ...(await memoryOf(daemon.child.pid)), rest: isIdle.now },
      verified: [during, after],
      errors: daemon.errors,
      restedMs,
      lateMs,
    };
  }

  private async verify(settings: Record<string, string>, beganMs: number): Promise<Verified> {
    this.said('verify begins');
    const verified = await verify(settings, new Date(beganMs - 60_000));
    this.said(`verify ended with exit code ${verified.exitCode} after ${verified.seconds.toFixed(0)} s`);
    return verified;
  }

  /**
   * Waits until every planned mark, refund and dispute has happened and no work is left, three times in a row. Returns
   * the milliseconds since the end of the day. Null: work was left at the deadline.
   */
  private async restOf(
    db: pg.Client,
    client: Client,
    endpoints: EndpointTraffic,
    people: People,
  ): Promise<number | null> {
    const { paid, refunds, disputes } = totalsOf(this.plan.renewals);
    for (let calm = 0; client.now() < this.plan.dayMs + IDLE_WITHIN_MS;) {
      const { lanes, notifications } = await unrest(db);
      const done =
        endpoints.marked.length === paid && people.refundsAsked === refunds && endpoints.disputes === disputes;
      const sent = endpoints.waiting + people.waiting + client.underWay === 0;
      calm = done && sent && lanes + notifications === 0 ? calm + 1 : 0;
      if (calm === 3) return client.now() - this.plan.dayMs;
      await pause(1_000);
    }
    return null;
  }

  private tell(seen: Seen, accounts: ReturnType<typeof accountRows>): void {
    const { rig, plan, replies } = this;
    const { watch, endpoints, people, client, memory, verified, restedMs } = seen;
    const minutes = plan.dayMs / 60_000;
    const [first, last] = [watch.samples[0], watch.samples.at(-1)];
    const all = (of: 'walMb' | 'databaseMb'): string => ((last?.[of] ?? 0) - (first?.[of] ?? 0)).toFixed(0);
    const title = `A day of ${plan.renewals} renewals in ${minutes} minutes, ${this.customers} customers in the books, STRIPE_MAX_RPS=${budgetFor(plan)}`;
    const rows = {
      minutes: byMinute(replies, watch.samples),
      kinds: byKind(replies),
      tables: byTable(...seen.tables),
      whole: [
        { what: 'events taken; deliveries sent away to come again', seen: `${endpoints.taken}, ${endpoints.again}` },
        { what: 'answers that were not as they should be', seen: replies.wrongCount },
        {
          what: 'refunds asked for; of them answered 202, the MoR not having answered in time',
          seen: `${people.refundsAsked}, ${people.refundsUnknown}`,
        },
        { what: 'requests under way at once, at most', seen: client.mostUnderWay },
        {
          what: 'requests to Stripe, repeats among them',
          seen: `${seen.peers.stripe.calls}, ${seen.peers.stripe.repeats}`,
        },
        {
          what: 'relayed to the MoR; notifications delivered',
          seen: `${seen.peers.mor.relayed}, ${seen.peers.receiver.notified}`,
        },
        { what: 'exported, MB', seen: (people.exported / 1_048_576).toFixed(1) },
        { what: 'memory MB before, most, after', seen: `${memory.rest}, ${memory.most}, ${memory.now}` },
        { what: 'database grew MB; log written MB', seen: `${all('databaseMb')}, ${all('walMb')}` },
        { what: 'autovacuums, autoanalyzes', seen: `${last?.vacuums ?? 0}, ${last?.analyzes ?? 0}` },
        {
          what: 'verify in the middle: exit code, seconds',
          seen: `${verified[0].exitCode}, ${verified[0].seconds.toFixed(0)}`,
        },
        {
          what: 'verify at the end: exit code, seconds',
          seen: `${verified[1].exitCode}, ${verified[1].seconds.toFixed(0)}`,
        },
        { what: 'at rest, seconds after the day', seen: restedMs === null ? 'never' : (restedMs / 1_000).toFixed(0) },
        { what: 'the load itself was late, p99 ms', seen: seen.lateMs.toFixed(1) },
      ],
    };
    rig.table(`${title}: minute by minute, times in ms`, rows.minutes);
    rig.table('From when each request was due until its answer was there', rows.kinds);
    rig.table('Tables that grew', rows.tables);
    rig.table('The accounts at the end', accounts);
    rig.table(title, rows.whole);
    for (const wrong of replies.wrong) console.log(`not as it should be: ${wrong}`);
    for (const [message, n] of seen.errors) console.log(`logged as an error, ${n} times: ${message}`);
    for (const v of verified) if (v.exitCode !== 0) console.log(`verify found: ${JSON.stringify(v)}`);
    rig.found['day'] = {
      plan,
      customers: this.customers,
      ...rows,
      accounts,
      memory,
      verified,
      refundsUnknown: people.refundsUnknown,
      mostUnderWay: client.mostUnderWay,
      restedMs,
      wrong: replies.wrong,
      errors: Object.fromEntries(seen.errors),
    };
  }
}

function lateOf(late: IntervalHistogram): number {
  late.disable();
  return late.percentile(99) / 1e6;
}

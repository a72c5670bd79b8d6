// The database: there, new enough, its schema current, and what waits in it for a person.
import { type DatabaseChoice } from '../../config/index.js';
import { type Backlog, HealthStore } from '../../health/health.store.js';
import { type LossWindow, showLossWindow } from '../../verify/rules/loss-window.js';
import { LossWindowFlow } from '../../verify/loss-window.flow.js';
import { type Logger } from '../../observe/index.js';
import { databaseUrl } from '../../open-database.js';
import { Database, DatabaseRefused } from '../../store/database.js';
import { DoorAnswersStore } from '../../intake/door-answers.store.js';
import { type DoorRefusal } from '../../domain/door-answers.js';
import { whatToCheck } from '../../domain/refusal.js';
import { schemaState } from '../../store/migrations.js';
import { isUntested, shownVersion } from '../../store/server.js';
import { age } from '../table.js';
import { type Check, fail, ok, warn } from './check.js';
import { EventsStore } from '../../events/events.store.js';
import { type World } from '../world.js';

const SILENT_MS = 24 * 3_600_000;
/** Each deploy, browser and broken connection causes these. */
const OF_NOBODY: ReadonlySet<string> = new Set(['stopping', 'method_not_allowed', 'aborted']);
const SLOW_SEC = 300;
const RECENT_MS = 7 * 24 * 3_600_000;

/** Whether the flows can be built on it. */
export type DatabaseFound = { readonly checks: readonly Check[]; readonly usable: boolean };

export async function databaseChecks(choice: DatabaseChoice, production: boolean, log: Logger): Promise<DatabaseFound> {
  const checks: Check[] = [];
  if (choice.kind === 'embedded') {
    const todo = 'Fine for trying it out. Set DATABASE_URL for anything that matters: this one has no backup.';
    checks.push(warn('embedded PostgreSQL', `in ${choice.dir}${production ? ', in production' : ''}`, todo));
  }
  let stop = (): Promise<void> => Promise.resolve();
  let db: Database | null = null;
  try {
    const source = await databaseUrl(choice, log);
    stop = () => source.stop();
    db = await Database.open({ url: source.url, poolSize: 2, onError: () => undefined });
    checks.push(versionCheck(db.server.version));
    const { missing, unknown } = await schemaState(db.orm);
    if (missing.length > 0)
      checks.push(fail('schema', `behind this release by ${missing.length}`, 'Run `crossbill migrate`.'));
    else checks.push(ok('schema', unknown.length === 0 ? 'current' : 'of a newer release, which this one can use'));
    return { checks, usable: missing.length === 0 };
  } catch (e) {
    if (e instanceof DatabaseRefused) {
      checks.push(fail('database', e.whatIsWrong, `${e.whatToDo}.`));
      return { checks, usable: false };
    }
    const why = e instanceof Error ? e.message : 'no answer';
    checks.push(fail('database', `cannot be reached: ${why}`, 'See that it runs and that DATABASE_URL is right.'));
    return { checks, usable: false };
  } finally {
    await db?.close();
    await stop();
  }
}

/** A version that is too old was refused already. */
export function versionCheck(version: number): Check {
  if (!isUntested(version)) return ok('database', shownVersion(version));
  return warn(
    'database',
    `${shownVersion(version)}, newer than this release was tested on`,
    'Use 14 to 18 for real money.',
  );
}

/** What came in and what lies there. */
export async function trafficChecks(world: World): Promise<Check[]> {
  const [health, inbox] = [world.get(HealthStore), world.get(EventsStore)];
  const [events, backlog, quarantined] = [await inbox.lastEvents(), await health.backlog(), await inbox.quarantined()];
  const now = Date.now();
  const refusals = (await world.get(DoorAnswersStore).refusals(1)).filter((r) => !OF_NOBODY.has(r.why));
  const checks = events.map(({ source, at }): Check => {
    const name = `traffic from ${source}`;
    const todo = `See that the sender's endpoint points at this daemon, and look for refusals at crossbill_webhook_refusals_total.`;
    const ago = at === null ? 'nothing was ever taken' : `last event ${age((now - at.getTime()) / 1000)} ago`;
    // A stranger, or one delivery in a rotation, is answered by the next that is taken.
    const isNews = (r: DoorRefusal): boolean => (at === null || r.at > at) && now - r.at.getTime() < SILENT_MS;
    const refused = refusals.find((r) => r.door === source && isNews(r));
    if (refused !== undefined) {
      const since = `a delivery from ${refused.address} was refused since: ${refused.why}`;
      return warn(name, `${ago}; ${since}`, whatToCheck(source, refused.why));
    }
    if (at === null) return warn(name, ago, todo);
    // Proforma invoices and disputes are rare; renewals are not.
    return now - at.getTime() > SILENT_MS && source !== 'mor_events' ? warn(name, ago, todo) : ok(name, ago);
  });
  const outages = lossCheck(await world.get(LossWindowFlow).windows(new Date(now - RECENT_MS)));
  return [...checks, outages, ...backlogChecks(backlog, quarantined), await integrationCheck(health, now)];
}

async function integrationCheck(health: HealthStore, now: number): Promise<Check> {
  const name = 'tax integration at the MoR';
  const { count, last } = await health.integrationRefusals(new Date(now - SILENT_MS));
  if (last === null) return ok(name, 'no refusal');
  const ago = age((now - last.getTime()) / 1000);
  const todo = 'Ask the MoR to set up or mend its tax provider for this merchant (integration_… refusals); then retry.';
  return fail(name, `${count} calculations were refused for it, the last ${ago} ago`, todo);
}

function lossCheck(windows: readonly LossWindow[]): Check {
  const name = 'outages';
  const last = windows.at(-1);
  if (last === undefined) return ok(name, 'none in a week that the MoR would not have waited out');
  return warn(
    name,
    showLossWindow(last),
    'Run `crossbill verify`: it looks up what can be looked up and names the rest.',
  );
}

function backlogChecks(b: Backlog, quarantined: number): Check[] {
  const reviews = [...b.openReviews.values()].reduce((n, k) => n + k, 0);
  const kinds = [...b.openReviews].map(([kind, n]) => `${n} ${kind}`).join(', ');
  const waiting = `${b.waitingEvents} events and ${b.pendingMessages} calls, oldest ${age(b.oldestSeconds)}`;
  return [
    b.oldestSeconds > SLOW_SEC
      ? warn(
          'queue',
          waiting,
          'See that a daemon runs and what its log says of failing calls; `crossbill explain` an invoice.',
        )
      : ok('queue', waiting),
    b.parkedEvents > 0
      ? warn(
          'parked events',
          String(b.parkedEvents),
          '`crossbill events list --status parked`, then `crossbill retry`.',
        )
      : ok('parked events', 'none'),
    quarantined > 0
      ? warn(
          'quarantine',
          `${quarantined} authentic deliveries had no effect`,
          '`crossbill events list --status quarantined`; check the clock.',
        )
      : ok('quarantine', 'empty'),
    reviews > 0 ? warn('open review items', kinds, '`crossbill reviews list`.') : ok('open review items', 'none'),
  ];
}

// Checks the database: its connection, version and schema, and the work waiting in it.
import { type DatabaseChoice } from '../../../shared/config/index.js';
import { type EndpointRefusal } from '../../../shared/domain/endpoint-replies.js';
import { whatToCheck } from '../../../shared/domain/refusal.js';
import { EventsRepository } from '../../../core/events/events.repository.js';
import { type Backlog, HealthRepository } from '../../../core/health/health.repository.js';
import { EndpointRepliesRepository } from '../../intake/endpoint-replies.repository.js';
import { type Logger } from '../../../shared/observe/index.js';
import { databaseUrl } from '../../../open-database.js';
import { DAY_MS } from '../../../shared/policy.js';
import { countersBehind } from '../../store/counters.js';
import { Database, DatabaseRefused } from '../../store/database.js';
import { schemaState } from '../../store/migrations.js';
import { isUntested, shownVersion } from '../../store/server.js';
import { age } from '../table.js';
import { type AppContext } from '../app-context.js';
import { type Check, check } from './check.js';

/** Refusal reasons that are nobody's fault: every deploy, browser or broken connection causes such refusals. */
const OF_NOBODY: ReadonlySet<string> = new Set(['stopping', 'method_not_allowed', 'aborted']);
const SLOW_SEC = 300;

/** The result of the checks. `usable`: true if the services can work with this database. */
export type DatabaseFound = { readonly checks: readonly Check[]; readonly usable: boolean };

export async function databaseChecks(choice: DatabaseChoice, production: boolean, log: Logger): Promise<DatabaseFound> {
  const { fail } = check('database');
  const checks: Check[] = [];
  if (choice.kind === 'embedded') {
    const todo = 'Fine for a trial. For real money set DATABASE_URL: the embedded PostgreSQL has no backup.';
    checks.push(check('embedded PostgreSQL').warn(`in ${choice.dir}${production ? ', in production' : ''}`, todo));
  }
  let stop = (): Promise<void> => Promise.resolve();
  let db: Database | null = null;
  try {
    const source = await databaseUrl(choice, log);
    stop = () => source.stop();
    db = await Database.open({ url: source.url, poolSize: 2, onError: () => undefined });
    const { missing, unknown } = await schemaState(db.orm);
    const schema = check('schema');
    checks.push(
      versionCheck(db.server.version),
      missing.length > 0
        ? schema.fail(`lacks ${missing.length} of the migrations`, 'Run `crossbill migrate`.')
        : schema.ok(unknown.length === 0 ? 'current' : 'from a newer release; this one can use it'),
    );
    const behind = missing.length > 0 ? [] : await countersBehind(db.pool);
    if (behind.length > 0) {
      const tables = behind.map((c) => c.table).join(', ');
      const todo = 'Start the daemon again: its start sets them forward. Nothing is lost, the senders repeat.';
      checks.push(check('counters of ids').fail(`behind the rows of ${tables}, as in a copy by replication`, todo));
    }
    return { checks, usable: missing.length === 0 };
  } catch (e) {
    const why = e instanceof Error ? e.message : 'no answer';
    checks.push(
      e instanceof DatabaseRefused
        ? fail(e.whatIsWrong, `${e.whatToDo}.`)
        : fail(`cannot be reached: ${why}`, 'Check the database and DATABASE_URL.'),
    );
    return { checks, usable: false };
  } finally {
    await db?.close();
    await stop();
  }
}

/**
 * Warns about a PostgreSQL newer than the tested versions. An older version never gets here: Crossbill refuses to
 * connect to it.
 */
export function versionCheck(version: number): Check {
  const { ok, warn } = check('database');
  if (!isUntested(version)) return ok(shownVersion(version));
  return warn(`${shownVersion(version)}, newer than this release was tested on`, 'Use 14 to 18 for real money.');
}

/** Checks the senders' deliveries, and the waiting work. */
export async function trafficChecks(app: AppContext): Promise<Check[]> {
  const [health, inbox] = [app.get(HealthRepository), app.get(EventsRepository)];
  const refusals = (await app.get(EndpointRepliesRepository).refusals(1)).filter((r) => !OF_NOBODY.has(r.why));
  const senders = (await inbox.lastEvents()).map((e) => senderCheck(e, refusals));
  const backlog = backlogChecks(await health.backlog(), await inbox.quarantined());
  return [...senders, ...backlog, await integrationCheck(health)];
}

type LastEvent = Awaited<ReturnType<EventsRepository['lastEvents']>>[number];

function senderCheck({ source, at }: LastEvent, refusals: readonly EndpointRefusal[]): Check {
  const { ok, warn } = check(`traffic from ${source}`);
  const silentMs = at === null ? Infinity : Date.now() - at.getTime();
  const ago = at === null ? 'no event so far' : `last event ${age(silentMs / 1000)} ago`;
  // Reports no refusal from before the last accepted delivery: an accepted delivery proves the sender's secret.
  const isNews = (endpointRefusal: EndpointRefusal): boolean =>
    (at === null || endpointRefusal.at > at) && Date.now() - endpointRefusal.at.getTime() < DAY_MS;
  const refused = refusals.find((r) => r.endpoint === source && isNews(r));
  if (refused !== undefined) {
    const since = `Crossbill has since refused a delivery from ${refused.address}: ${refused.why}`;
    return warn(`${ago}; ${since}`, whatToCheck(source, refused.why));
  }
  // The endpoint `mor_events` gets only rare events, such as disputes, so a day without any is normal. The other
  // endpoints get events about renewals every day.
  if (at !== null && (silentMs <= DAY_MS || source === 'mor_events')) return ok(ago);
  const todo = `Check the address of the endpoint at the sender. The metric crossbill_webhook_refusals_total counts refusals.`;
  return warn(ago, todo);
}

async function integrationCheck(health: HealthRepository): Promise<Check> {
  const { ok, fail } = check('tax integration at the MoR');
  const { count, last } = await health.integrationRefusals(new Date(Date.now() - DAY_MS));
  if (last === null) return ok('no refusal');
  const ago = age((Date.now() - last.getTime()) / 1000);
  const todo = 'Ask the MoR to repair its tax provider for this merchant (refusals integration_…). Then try again.';
  return fail(`the MoR refused ${count} tax requests, the last ${ago} ago`, todo);
}

function backlogChecks(backlog: Backlog, quarantined: number): Check[] {
  const waiting = `${backlog.waitingEvents} events and ${backlog.pendingCalls} calls, oldest ${age(backlog.oldestSeconds)}`;
  const unless = (
    name: string,
    isWell: boolean,
    { well, detail, todo }: { readonly well: string; readonly detail: string; readonly todo: string },
  ): Check => (isWell ? check(name).ok(well) : check(name).warn(detail, todo));
  const aside = `${quarantined} authentic deliveries had no effect`;
  const kinds = [...backlog.openReviews].map(([kind, n]) => `${n} ${kind}`).join(', ');
  const slow = 'Check that a daemon runs. `crossbill status` shows the failing calls.';
  const parked = 'Run `crossbill events list --status parked`, then `crossbill events retry <event>`.';
  const clock = 'Check the clock of this machine. Then run `crossbill events list --status quarantined`.';
  return [
    unless('queue', backlog.oldestSeconds <= SLOW_SEC, { well: waiting, detail: waiting, todo: slow }),
    unless('parked events', backlog.parkedEvents === 0, {
      well: 'none',
      detail: String(backlog.parkedEvents),
      todo: parked,
    }),
    unless('quarantine', quarantined === 0, { well: 'empty', detail: aside, todo: clock }),
    unless('open review items', kinds === '', { well: 'none', detail: kinds, todo: 'Run `crossbill reviews list`.' }),
  ];
}

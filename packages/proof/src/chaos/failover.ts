// The primary dies under load and its standby takes over. A synchronous standby has every event. An asynchronous
// standby lacks some: the steps of docs/backups.md bring them back.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripeInvoiceTypes } from '#src/shared/domain/events/stripe-event.js';
import { chooseRunAs } from '@crossbill/embedded-postgres';
import { type Finding } from '@crossbill/sandbox/demo/check.js';
import { type SignupCalls } from '@crossbill/sandbox/demo/drive-signups.js';
import { type JsonClient, Unexpected } from '@crossbill/sandbox/demo/http.js';
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { type Reading } from '@crossbill/sandbox/demo/read.js';
import { deliveries, inbox, verifyBooks } from './books.js';
import { type ChaosOptions } from './options.js';
import { findPrograms, untilFollowed } from './postgres.js';
import { counted } from './report.js';
import { type Delivered, lost } from './rules.js';
import { clear, conclude, fastClock, makeFolder, owned, type Served, setStage, type Stage } from './stage.js';
import { TcpProxy } from './tcp-proxy.js';

/** The three parts of the run: before the standby lags, while it lags, and after the failover. */
export const BEFORE_MS = 45_000;
const LAGGING_MS = 15_000;
export const AFTER_MS = 30_000;
/**
 * After the failover the backend repeats all signups since the standby lagged, and those of the minute before: one
 * signup takes several calls.
 */
const SIGNUP_MARGIN_MS = 60_000;
/** After the failover the MoR sends its events again, from this many virtual seconds before the standby lagged. */
const ASKED_FOR_SEC = 600;

/** Returns true if every rule holds, or if PostgreSQL cannot make a standby here. */
export async function runFailover(options: ChaosOptions, how: 'sync' | 'async', progress: Progress): Promise<boolean> {
  if (!findPrograms(chooseRunAs('/nowhere')).whole) {
    progress.line("Skipped: a standby needs Debian's PostgreSQL (apt install postgresql), missing here.");
    return true;
  }
  const follows = how === 'sync' ? 'synchronously' : 'asynchronously';
  const title = `Failover to a standby that follows ${follows}, seed ${options.seed}`;
  progress.line(title);
  // A signup with tax cannot be repeated after a loss (docs/backups.md), so this run makes none.
  const acts = ['signups', 'renewals', 'refunds', 'portal', 'mends'] as const;
  const stage = await setStage(options, progress, makeFolder(`failover-${how}`), { acts, tax: false });
  const { world, server, life, folder } = stage;
  const wal = await TcpProxy.before([{ host: '127.0.0.1', port: server.port }]);
  const standby = await server.standby(join(folder, 'standby'), wal.port);
  owned.add(() => void standby.end('SIGQUIT'));
  await untilFollowed(server, 'asynchronously');
  if (how === 'sync') {
    await server.query(`alter system set synchronous_standby_names = '*'`);
    await server.query('select pg_reload_conf()');
    await untilFollowed(server, follows);
  }
  progress.done(`a standby follows ${follows}`);

  let ended = false;
  const isOver = (): boolean => ended;
  const startedAt = performance.now();
  try {
    const clockRuns = fastClock(world, isOver);
    const living = life.goOn(isOver);
    await sleep(BEFORE_MS);
    const lagsSince = await world.control.get('/_sandbox/clock');
    const lagsSinceMs = Date.now();
    if (how === 'async') {
      wal.set('hang');
      progress.line('the standby hears nothing any more');
    }
    await sleep(LAGGING_MS);
    await server.die();
    progress.done('the primary is dead, with all of its processes');
    if (how === 'async') wal.set('cut');
    await standby.promote();
    const missing = await missed(stage, standby.url);
    world.ways.database.lead([{ host: '127.0.0.1', port: standby.port }]);
    progress.done(`the standby is the primary; it lacks ${counted(missing.length, 'event')} answered 200`);
    await sleep(AFTER_MS);
    ended = true;
    await living;
    await clockRuns;
    const lastedMs = performance.now() - startedAt;
    const env = { DATABASE_URL: standby.url };
    Object.assign(world.daemonEnv, env);
    const { findings, more } =
      how === 'sync'
        ? { findings: missing.map(asFinding), more: ['No event answered 200 is missing after the failover.'] }
        : await mended(stage, missing, lagsSince.amount('now_sec'), lagsSinceMs);
    const notified = how === 'sync' && missing.length > 0 ? [] : more;
    const unused = new Set(how === 'sync' ? [] : missing.filter((d) => !isUsed(d)).map((d) => d.eventId));
    const numbers = { title, lastedMs, strikes: new Map(), more: notified };
    const clean = await conclude(stage, standby.url, numbers, findings, unused);
    return clean;
  } finally {
    ended = true;
    await clear(stage).catch(() => undefined);
    await standby.end('SIGINT');
    await wal.close();
  }
}

/** Of Stripe's events, `crossbill verify` looks only for those about an invoice. */
const isUsed = (delivered: Delivered): boolean =>
  delivered.source !== 'stripe' || stripeInvoiceTypes.some((type) => type === delivered.type);

export const asFinding = (delivered: Delivered): Finding => ({
  about: delivered.eventId,
  what: `${delivered.type} was answered 200 and is not on the standby`,
});

/**
 * Returns the events the senders count as delivered and the new primary lacks. Call it before the daemons reach the new
 * primary: afterwards senders retry.
 */
export async function missed({ world }: Stage<Served>, url: string): Promise<readonly Delivered[]> {
  const stored = await inbox(url);
  return lost(await deliveries(world), stored);
}

/** Carries out the steps of docs/backups.md. */
async function mended(
  stage: Stage,
  missing: readonly Delivered[],
  sinceSec: number,
  sinceMs: number,
): Promise<{ readonly findings: readonly Finding[]; readonly more: readonly string[] }> {
  const { world, progress, life } = stage;
  const ofStripe = missing.filter((d) => d.source === 'stripe' && isUsed(d));
  const unused = missing.filter((d) => !isUsed(d)).length;
  progress.step('crossbill verify --repair');
  const first = await verifyBooks(world, ['--json']);
  const unnamed = ofStripe.filter((d) => first?.said.includes(d.eventId) !== true);
  const repaired = await verifyBooks(world, ['--repair', '--yes', '--wait', '600']);
  progress.done(`crossbill verify: ${first?.verdict ?? 'not run'}; after --repair: ${repaired?.verdict ?? 'not run'}`);
  const again = await world.control.post('/_sandbox/mor/payment-events/again', { since_sec: sinceSec - ASKED_FOR_SEC });
  // The backend repeats only the refunds the MoR lacks. As docs/backups.md says, it first reads the MoR's list.
  const atMor = (await world.control.get('/_sandbox/mor/refunds')).list('data');
  const made = new Set(atMor.filter((r) => r.text('source') === 'api').map((r) => r.text('payment_id')));
  const late = life.requests.filter((r) => r.atMs >= sinceMs);
  const unmade = late.filter((r) => !made.has(r.paymentId));
  for (const r of unmade) await world.api.post(r.path, r.body, r.key);
  // The backend requested these refunds while the primary died, and again after the failover. The daemon then answered
  // "no such payment", although the MoR had made the refund.
  const unnotified = life.unknownPayments.filter((r) => made.has(r.paymentId) && !life.refundsAsked.has(r.key));
  for (const r of unnotified) life.refundsAsked.add(r.key);
  const signups = life.signupCalls.filter((s) => s.atMs >= sinceMs - SIGNUP_MARGIN_MS);
  for (const calls of signups) {
    const { complete } = calls;
    const signup = await signUpAgain(world.api, calls);
    if (complete !== null) await world.api.post(`/v1/signups/${signup.text('id')}/complete`, complete);
  }
  const sent = again.strings('data').length;
  return {
    findings: unnamed.map((d) => ({ about: d.eventId, what: `${d.type} is missing, and verify did not name it` })),
    more: [
      `The new primary lacked ${counted(missing.length, 'event')} answered 200: ${ofStripe.length} of Stripe, ` +
        `${missing.length - ofStripe.length - unused} of the MoR, ${unused} of types Crossbill doesn't use.`,
      `verify named ${ofStripe.length - unnamed.length} of Stripe's ${ofStripe.length} and fetched them with --repair; ` +
        `the MoR sent ${counted(sent, 'event')} again; of ${counted(late.length, 'refund')} asked for since, ` +
        `${unmade.length} were missing at the MoR, and the backend asked again under their keys; ${unnotified.length} were at the MoR ` +
        'though Crossbill no longer knew their payment at the repeat.',
      `The backend repeated the calls of ${counted(signups.length, 'signup')} of the last minutes under their keys.`,
    ],
  };
}

/**
 * Repeats a signup as docs/backups.md says. If the new primary lost the signup and its invoice is paid by now, the
 * repeat names the sum instead of the invoice: the MoR gets the same request.
 */
async function signUpAgain(api: JsonClient, { key, create, complete }: SignupCalls): Promise<Reading> {
  try {
    return await api.post('/v1/signups', create, key);
  } catch (error) {
    if (!(error instanceof Unexpected) || error.status !== 409 || complete === null) throw error;
    const { amount, currency } = complete;
    return api.post('/v1/signups', { ...create, invoice_id: undefined, amount, currency }, key);
  }
}

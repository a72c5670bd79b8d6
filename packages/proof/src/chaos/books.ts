// Waits until nothing is under way any more, then compares the ledger with Stripe and the MoR.
import { setTimeout as sleep } from 'node:timers/promises';
import { disagreements, type Finding } from '@crossbill/sandbox/demo/check.js';
import { readSides, type Sides } from '@crossbill/sandbox/demo/sides.js';
import { runVerify, type VerifyResult } from '@crossbill/sandbox/demo/verify-step.js';
import { asked } from './postgres.js';
import { type Delivered, eventFindings, type Stored, twiceFindings } from './rules.js';
import { DAYS_AGO, type World } from './world.js';

const IDLE_WITHIN_MS = 40 * 60_000; // long for a busy machine; a real error does not go away by waiting
const POLL_MS = 1_500;
const VERIFY_WITHIN_MS = 15 * 60_000;
/**
 * While deliveries wait for a retry, the run moves the virtual clock by this many seconds, again and again. While
 * Stripe has drafts, it moves the clock twice as far: Stripe keeps a draft for an hour.
 */
const LEAP_SEC = 600;
const SENDING = 'deliveries under way';
const CALLS = 'calls under way';
const WAITING = 'deliveries that wait for their next try';
/** In the end the run moves the virtual clock by this many seconds: bank debits settle after days. */
const DEBIT_SEC = 4 * 86_400;

export type Outcome = {
  readonly sides: Sides;
  readonly delivered: readonly Delivered[];
  readonly stored: readonly Stored[];
  readonly findings: readonly Finding[];
  readonly verify: VerifyResult | null;
};

export type Asked = {
  readonly world: World;
  readonly databaseUrl: string;
  /** The number of different refunds the daemons accepted through their API. */
  readonly refundsAsked: number;
  /** Ids of events the inbox may lack: Crossbill does not use their types. */
  readonly unused: ReadonlySet<string>;
  readonly say: (text: string) => void;
};

/**
 * Waits until nothing is under way, forty minutes at most. Returns the findings at that time, empty if all is right.
 * Moves the virtual clock only between calls: Stripe could forget the key of a call, and a retry would act twice.
 */
export async function isIdle(asked: Asked): Promise<readonly Finding[]> {
  const { world } = asked;
  const deadline = performance.now() + IDLE_WITHIN_MS;
  let debits = false;
  let calm = 0;
  let seen: readonly Finding[] = [];
  for (let polls = 0; ; polls++) {
    const open = await underWay(asked);
    if (polls % 20 === 19)
      asked.say(
        `not at rest yet: ${(open.length > 0 ? open : seen.slice(0, 3).map((f) => `${f.about}: ${f.what}`)).join(', ')}`,
      );
    if (performance.now() > deadline) return [...open.map((what) => ({ about: 'not at rest', what })), ...seen];
    if (open.length > 0) {
      calm = 0;
      if (mayLeap(open)) await leap(world, LEAP_SEC);
      await sleep(POLL_MS);
      continue;
    }
    const sides = await readSides(world.api, world.control, world.notified);
    seen = [...disagreements(sides), ...twiceFindings(sides, asked.refundsAsked)];
    const drafts = sides.stripe.invoices.filter((i) => i.status === 'draft').length;
    if (drafts > 0) await leap(world, LEAP_SEC * 2);
    else if (seen.length === 0 && !debits) {
      debits = true;
      await leap(world, DEBIT_SEC);
    } else if (seen.length === 0 && (calm += 1) > 1) return [];
    await sleep(POLL_MS);
  }
}

/** Compares the ledger with Stripe and the MoR, and sent events with stored ones. Call it after `atRest`. */
export async function compareBooks(asked: Asked, unrest: readonly Finding[]): Promise<Outcome> {
  const { world } = asked;
  const [sides, delivered, stored] = [
    await readSides(world.api, world.control, world.notified),
    await deliveries(world),
    await inbox(asked.databaseUrl),
  ];
  const verify = await verifyBooks(world);
  const findings = [
    ...unrest.filter((f) => f.about === 'not at rest'),
    ...eventFindings(delivered, stored).filter((f) => !asked.unused.has(f.about)),
    ...disagreements(sides),
    ...twiceFindings(sides, asked.refundsAsked),
  ];
  return { sides, delivered, stored, findings, verify };
}

export function verifyBooks(world: World, more: readonly string[] = []): Promise<VerifyResult | null> {
  return runVerify(world.daemonEnv, world.folder, DAYS_AGO + 1, more, VERIFY_WITHIN_MS);
}

const SOURCES: Readonly<Record<string, string>> = {
  '/webhooks/stripe': 'stripe',
  '/webhooks/mor/payments': 'mor_payments',
  '/webhooks/mor/events': 'mor_events',
};

/** Reads the sandbox's log of deliveries: returns one entry for each event and webhook endpoint. */
export async function deliveries(world: World): Promise<readonly Delivered[]> {
  const log = (await world.control.get('/_sandbox/deliveries')).list('data');
  const found = new Map<string, Delivered>();
  for (const d of log) {
    const source = SOURCES[new URL(d.text('url')).pathname] ?? d.text('url');
    const eventId = d.text('event_id');
    const before = found.get(`${source} ${eventId}`);
    const acknowledged = before?.acknowledged === true || d.amountOrNull('status') === 200;
    found.set(`${source} ${eventId}`, { source, eventId, type: d.text('type'), acknowledged, state: d.text('state') });
  }
  return [...found.values()];
}

export async function inbox(databaseUrl: string): Promise<readonly Stored[]> {
  const { rows } = await asked(databaseUrl, 'select source, event_id, status, reason from inbox_event');
  return rows.map((r) => ({
    source: String(r['source']),
    eventId: String(r['event_id']),
    status: String(r['status']),
    reason: typeof r['reason'] === 'string' ? r['reason'] : null,
  }));
}

/** Lists the work under way, in words. Empty: no work is under way. */
async function underWay({ world, databaseUrl }: Asked): Promise<readonly string[]> {
  const states = (await deliveries(world)).map((d) => d.state);
  const sending = states.filter((s) => s === 'sending').length;
  const waiting = states.filter((s) => s === 'retry' || s === 'held').length;
  const { rows } = await asked(
    databaseUrl,
    `select (select count(*) from inbox_event where status = 'received') as undecided,
            (select count(*) from open_call where status = 'pending') as calls,
            (select count(*) from lane where due_at <= now()) as lanes,
            (select count(*) from notification where status = 'pending') as notifications`,
  );
  const some = (count: number, what: string): string[] => (count > 0 ? [`${count} ${what}`] : []);
  const of = (name: string): number => Number(rows[0]?.[name] ?? 0);
  return [
    ...some(sending, SENDING),
    ...some(of('undecided'), 'events not decided'),
    ...some(of('calls'), CALLS),
    ...some(of('lanes'), 'invoices with something due'),
    ...some(of('notifications'), 'notifications to tell'),
    ...some(waiting, WAITING),
  ];
}

/**
 * True if deliveries wait for their next try, and no call and no delivery is under way. Moving the clock during a call
 * or a delivery would flood the webhook endpoints.
 */
function mayLeap(open: readonly string[]): boolean {
  const waits = open.some((what) => what.endsWith(WAITING));
  return waits && !open.some((what) => what.endsWith(CALLS) || what.endsWith(SENDING));
}

async function leap(world: World, sec: number): Promise<void> {
  // Ignore a timeout: the sandbox may need longer to move its clock.
  await world.control.post('/_sandbox/clock', { advance_sec: sec }).catch(() => undefined);
}

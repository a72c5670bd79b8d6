// The parts common to all steps of the demo: its programs (world.ts), its customers (cast.ts), its waits (rest.ts).
import { type Character } from './cast.js';
import { type Progress } from './progress.js';
import { type Idle } from './idle.js';
import { type World } from './world.js';

export type Subscriber = Character & {
  readonly customerId: string;
  readonly subscriptionId: string;
  /** Number of renewals billed so far. */
  renewals: number;
};

/** Counts of the demo's steps. No list of the daemon, Stripe or the MoR shows these numbers. */
export type Tally = {
  /** Signups with a tax calculation on their intent. */
  taxed: number;
  /** Drafts that usage raised. */
  grown: number;
  /** Customers who gave another card after a hard decline. */
  otherCards: number;
  documents: number;
  eInvoices: number;
  disputesWon: number;
  disputesLost: number;
  merchants: number;
  endpoints: number;
};

export function newTally(): Tally {
  return {
    taxed: 0,
    grown: 0,
    otherCards: 0,
    documents: 0,
    eInvoices: 0,
    disputesWon: 0,
    disputesLost: 0,
    merchants: 0,
    endpoints: 0,
  };
}

/** The parts needed to sign somebody up or to create an invoice. */
export type Scene = {
  readonly world: Pick<World, 'stripe' | 'api' | 'control'>;
  /** Part of every idempotency key, so another run uses other keys. */
  readonly run: string;
  readonly subscribers: Subscriber[];
  readonly tally: Tally;
};

export type Story = Scene & {
  readonly world: World;
  readonly progress: Progress;
  readonly rest: Idle;
  readonly months: number;
};

const DAY_SEC = 86_400;
const DAY_MS = DAY_SEC * 1000;

/**
 * The last renewal is so many days ago. Debits, refunds and lost deliveries take eight to ten of these days, and the rest
 * passes at the end. The next renewals, of the trials, come after 14 days.
 */
const LAST_DAYS = 11;

/** How long ago the story begins, so that it ends now: months of Stripe's calendar, then the last days. */
export function startAgoMs(now: Date, months: number): number {
  const start = new Date(now.getTime() - LAST_DAYS * DAY_MS);
  const day = start.getUTCDate();
  start.setUTCDate(1);
  start.setUTCMonth(start.getUTCMonth() - months);
  const lastDay = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
  start.setUTCDate(Math.min(day, lastDay));
  return now.getTime() - start.getTime();
}

/** Advances the sandbox's clock. */
export async function pass(world: World, sec: number): Promise<void> {
  await world.control.post('/_sandbox/clock', { advance_sec: sec });
}

export const passDays = (world: World, days: number): Promise<void> => pass(world, days * DAY_SEC);

/** The virtual time in Unix seconds. */
export async function virtualNow(world: World): Promise<number> {
  return (await world.control.get('/_sandbox/clock')).amount('now_sec');
}

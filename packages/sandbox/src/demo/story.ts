// The common part of the story: the world, the cast, and how to wait for rest.
import { type Character } from './cast.js';
import { type Progress } from './progress.js';
import { type Rest } from './rest.js';
import { type World } from './world.js';

export type Subscriber = Character & {
  readonly customerId: string;
  readonly subscriptionId: string;
  /** Renewals billed so far. */
  renewals: number;
};

/** Acts without a count in any list of the three sides. */
export type Tally = {
  /** Signups with a tax calculation on their intent. */
  taxed: number;
  /** Customers with another card after a hard decline. */
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
    otherCards: 0,
    documents: 0,
    eInvoices: 0,
    disputesWon: 0,
    disputesLost: 0,
    merchants: 0,
    endpoints: 0,
  };
}

/** Enough to sign somebody up or to make an invoice. */
export type Scene = {
  readonly world: Pick<World, 'stripe' | 'api' | 'control'>;
  /** Names idempotency keys: another run has other ones. */
  readonly run: string;
  readonly subscribers: Subscriber[];
  readonly tally: Tally;
};

export type Story = Scene & {
  readonly world: World;
  readonly progress: Progress;
  readonly rest: Rest;
  readonly months: number;
};

const DAY_SEC = 86_400;

/** Moves the sandbox's clock on. */
export async function pass(world: World, sec: number): Promise<void> {
  await world.control.post('/_sandbox/clock', { advance_sec: sec });
}

export const passDays = (world: World, days: number): Promise<void> => pass(world, days * DAY_SEC);

/** Virtual time in Unix seconds. */
export async function virtualNow(world: World): Promise<number> {
  return (await world.control.get('/_sandbox/clock')).amount('now_sec');
}

// The account and the mode of STRIPE_API_KEY. Events of another account or of the other mode are not the merchant's own.
import { Injectable } from '@nestjs/common';
import { type Config, stripeMode } from '../config/index.js';
import { BillingReader } from '../domain/ports/billing-reader.js';
import { Clock } from '../domain/ports/clock.js';
import { type Lookup } from './lookup.js';
import { OWN_ACCOUNT_AGAIN_MS } from '../policy.js';

/**
 * - `own`, `other`: decided.
 * - `forbidden`: Stripe does not let the key read its account (403).
 * - `ask`: not read yet, or long enough ago to read again. `wait`: the last read failed a moment ago.
 */
export type AccountVerdict = 'own' | 'other' | 'forbidden' | 'ask' | 'wait';

export const FORBIDDEN =
  'the event names an account, and the key may not read its own: let the restricted key read the account (GET /v1/account), then retry this event';

export type LiveModeRule = { /** Null: the key does not tell. */ readonly expected: boolean | null };

/** The injection token of `LiveModeRule`. */
export const LIVE_MODE = Symbol('LIVE_MODE');

/** Stripe's keys tell their mode. */
export function liveMode(config: Config): LiveModeRule {
  const mode = stripeMode(config);
  return { expected: mode === 'unknown' ? null : mode === 'live' };
}

@Injectable()
export class OwnAccount {
  private accountId: string | null = null;
  private failed: { readonly at: Date; readonly forbidden: boolean } | null = null;

  constructor(
    private readonly reader: BillingReader,
    private readonly clock: Clock,
  ) {}

  /** Compares the accounts that an event names, one at least, with the key's own. */
  judge(named: readonly string[]): AccountVerdict {
    if (this.accountId !== null) return named.every((id) => id === this.accountId) ? 'own' : 'other';
    if (this.failed === null) return 'ask';
    // Either way: the clock may have been set back.
    if (Math.abs(this.clock.now().getTime() - this.failed.at.getTime()) >= OWN_ACCOUNT_AGAIN_MS) return 'ask';
    return this.failed.forbidden ? 'forbidden' : 'wait';
  }

  /** Reads the account once for all: a key never changes its account. */
  async read(): Promise<void> {
    const read = await this.reader.readAccount();
    if (read.ok) this.accountId = read.value.accountId;
    else this.failed = { at: this.clock.now(), forbidden: read.status === 403 };
  }
}

/** Which account does STRIPE_API_KEY belong to? The lane asks as long as one of its events waits for the answer. */
export const accountLookup: Lookup<null, void> = {
  name: 'read-account',
  wanted: () => null,
  ask: async (_, { account }) => account?.read(),
  take: () => undefined,
};

/** When a lane with an event that waits for the account is due: at `at`, or in time for the next read. */
export function lookBy(at: Date | null, now: Date): Date {
  const then = now.getTime() + OWN_ACCOUNT_AGAIN_MS;
  return at !== null && at.getTime() < then ? at : new Date(then);
}

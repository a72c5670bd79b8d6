// The Stripe account and the mode of STRIPE_API_KEY. An event of another account or mode does not belong to the
// merchant.
import { Injectable } from '@nestjs/common';
import { type Config, stripeMode } from '../shared/config/index.js';
import { BillingReader } from '../shared/domain/ports/billing-reader.js';
import { Clock } from '../shared/domain/ports/clock.js';
import { type Lookup } from './lookup.js';
import { OWN_ACCOUNT_AGAIN_MS } from '../shared/policy.js';

/**
 * - `own`: every account in the event is the key's account. `other`: at least one is not.
 * - `forbidden`: Stripe does not let the key read its own account (403).
 * - `ask`: a read of the key's account is due now. `wait`: the last read failed a moment ago.
 */
export type AccountMatch = 'own' | 'other' | 'forbidden' | 'ask' | 'wait';

export const FORBIDDEN =
  'the event names an account, and the key may not read its own: let the restricted key read the account (GET /v1/account), then retry this event';

export type LiveModeRule = { /** Null: the key does not show its mode. */ readonly expected: boolean | null };

/** The injection token of `LiveModeRule`. */
export const LIVE_MODE = Symbol('LIVE_MODE');

/** The mode (live or test) of the key, by its prefix. */
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

  /** Compares the Stripe accounts in an event with the key's account. `named`: the event's accounts. */
  judge(named: readonly string[]): AccountMatch {
    if (this.accountId !== null) return named.every((id) => id === this.accountId) ? 'own' : 'other';
    if (this.failed === null) return 'ask';
    // Takes the absolute difference: somebody may have set the clock back.
    if (Math.abs(this.clock.now().getTime() - this.failed.at.getTime()) >= OWN_ACCOUNT_AGAIN_MS) return 'ask';
    return this.failed.forbidden ? 'forbidden' : 'wait';
  }

  /** Reads the account. One successful read per process is enough: a key never changes its account. */
  async read(): Promise<void> {
    const read = await this.reader.readAccount();
    if (read.ok) this.accountId = read.value.accountId;
    else this.failed = { at: this.clock.now(), forbidden: read.status === 403 };
  }
}

/** Reads the Stripe account of STRIPE_API_KEY. `WorkLaneService` starts this lookup, so `wanted` has no question. */
export const accountLookup: Lookup<null, void> = {
  name: 'read-account',
  wanted: () => null,
  ask: async (_, { account }) => account?.read(),
  apply: () => undefined,
};

/** The due time of a lane if an event needs our account's id: the next read of the account, or `at` if earlier. */
export function pollBy(at: Date | null, now: Date): Date {
  const then = now.getTime() + OWN_ACCOUNT_AGAIN_MS;
  return at !== null && at.getTime() < then ? at : new Date(then);
}

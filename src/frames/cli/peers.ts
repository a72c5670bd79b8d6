// Clients of Stripe and the MoR for commands without a database. They send few requests, so they do not share the
// daemon's request budget.
import { type MorClient } from '@crossbill/mor';
import { type Config } from '../../shared/config/index.js';
import { SystemClock } from '../../engine/system-ports.js';
import { morClient } from '../mor/options.js';
import { morOptions } from '../mor/options-from-settings.js';
import { stripeOptions } from '../stripe/options-from-settings.js';
import { StripeBillingReader } from '../stripe/stripe-billing-reader.js';
import { StripeClient } from '../stripe/stripe-client.js';

export class Peers {
  readonly stripe: StripeClient;
  readonly reader: StripeBillingReader;
  readonly mor: MorClient;

  constructor(config: Config) {
    const noBudget = { take: () => Promise.resolve(), throttled: () => undefined };
    this.stripe = new StripeClient(
      stripeOptions(config, () => undefined),
      noBudget,
    );
    this.reader = new StripeBillingReader(this.stripe);
    this.mor = morClient(
      morOptions(config, () => undefined),
      new SystemClock(),
    );
  }

  async close(): Promise<void> {
    this.stripe.close();
    await this.mor.close();
  }
}

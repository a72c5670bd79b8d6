// Finds the mode of a Stripe key.
import { type Config } from './config.js';

/** The mode of the key. `unknown`: for example the key of an organization. */
export function stripeMode({ stripeApiKey }: Pick<Config, 'stripeApiKey'>): 'live' | 'test' | 'unknown' {
  const [, mode] = /^(?:sk|rk)_(live|test)_/.exec(stripeApiKey.reveal()) ?? [];
  return mode === 'live' || mode === 'test' ? mode : 'unknown';
}

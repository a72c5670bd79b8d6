// Which mode of Stripe a key is for, where the key tells.
import { type Config } from './config.js';

/** `unknown`: a key of an organization, for example, does not tell. */
export function stripeMode({ stripeApiKey }: Pick<Config, 'stripeApiKey'>): 'live' | 'test' | 'unknown' {
  const [, mode] = /^(?:sk|rk)_(live|test)_/.exec(stripeApiKey.reveal()) ?? [];
  return mode === 'live' || mode === 'test' ? mode : 'unknown';
}

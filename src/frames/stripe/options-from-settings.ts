// Makes the options of the Stripe adapter from the settings.
import { type Config } from '../../shared/config/index.js';
import { type OnCall } from '../../shared/observe/index.js';
import { type StripeOptions } from './stripe-options.js';

export function stripeOptions(config: Config, onCall: OnCall): StripeOptions {
  return {
    apiKey: config.stripeApiKey.reveal(),
    apiBase: config.stripeApiBase,
    customPaymentMethodType: config.stripeCustomPaymentMethodType,
    maxSockets: Math.max(32, config.workerConcurrency), // each worker may wait for one call
    sendsNothing: config.sendsNothing,
    proxies: config.proxies,
    onCall,
  };
}

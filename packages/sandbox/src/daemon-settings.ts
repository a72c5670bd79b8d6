// The settings of a daemon for a sandbox, as `npm run sandbox` prints them.
import { RELAY_PATH } from './mor/cards.js';
import { type Sandbox } from './sandbox.js';

/**
 * The settings a daemon needs for this sandbox. The secrets guard invented money, so the sandbox prints them on
 * purpose.
 */
export function daemonSettings(
  sandbox: Pick<Sandbox, 'secrets' | 'kernel' | 'mor' | 'cards' | 'morUrl' | 'stripeUrl'>,
): [string, string][] {
  const { secrets, kernel, mor, cards } = sandbox;
  const key = (role: string): string => `sandbox-${role}:${role}:${kernel.secret(`api-key-${role}`)}`;
  return [
    ['STRIPE_API_KEY', secrets.stripeApiKey],
    ['STRIPE_API_BASE', sandbox.stripeUrl],
    ['STRIPE_WEBHOOK_SECRETS', secrets.stripeWebhookSecret],
    ['MOR_BASE_URL', sandbox.morUrl],
    ['MOR_AUTH_URL', sandbox.morUrl],
    ['MOR_CLIENT_ID', secrets.merchant.clientId],
    ['MOR_CLIENT_SECRET', secrets.merchant.clientSecret],
    ['MOR_PARTNER_CLIENT_ID', secrets.partner.clientId],
    ['MOR_PARTNER_CLIENT_SECRET', secrets.partner.clientSecret],
    ['MOR_PSP', mor.psp],
    ['MOR_PAYMENT_WEBHOOK_SECRETS', secrets.paymentWebhookSecret],
    ['MOR_EVENT_WEBHOOK_SECRETS', secrets.eventWebhookSecret],
    ['MOR_RELAY_URL', `${sandbox.morUrl}${RELAY_PATH}`],
    ['MOR_RELAY_SECRET', secrets.relaySecret],
    // A MoR with its own endpoint at Stripe needs the relay only for retries.
    ['MOR_RELAY_EVENTS', cards.isDirect() ? 'retries' : 'created'],
    ['API_KEYS', [key('read'), key('signup'), key('ops')].join(',')],
  ];
}

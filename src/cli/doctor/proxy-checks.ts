// Which peers Crossbill reaches through a proxy of this host.
import { type Config, proxyFor, shownProxy } from '../../config/index.js';
import { type Check, check } from './check.js';

/** No check without a proxy. */
export function proxyChecks(config: Config, stripe: string): readonly Check[] {
  const { proxies } = config;
  if (proxies.http === null && proxies.https === null) return [];
  const peers = {
    Stripe: config.stripeApiBase ?? stripe,
    'the MoR': config.morBaseUrl,
    "the MoR's sign-in": config.morAuthUrl,
    'the relay': config.morRelayUrl?.reveal(),
    notifications: config.notifyUrl?.reveal(),
    'the identity provider': config.oidcIssuer,
  };
  const ways = Object.entries(peers).flatMap(([peer, url]) => {
    if (url === null || url === undefined) return [];
    const proxy = proxyFor(proxies, new URL(url));
    return [`${peer} ${proxy === null ? 'straight' : `through ${shownProxy(proxy)}`}`];
  });
  return [check('proxy').ok(ways.join('; '))];
}

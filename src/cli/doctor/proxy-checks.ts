// Which of the peers are reached through a proxy of this host, as its variables say.
import { type Config, proxyFor, shownProxy } from '../../config/index.js';
import { type Check, ok } from './check.js';

type Settings = Pick<
  Config,
  'proxies' | 'stripeApiBase' | 'morBaseUrl' | 'morAuthUrl' | 'morRelayUrl' | 'notifyUrl' | 'oidcIssuer'
>;

/** No check where no proxy is set. */
export function proxyChecks(config: Settings, stripe: string): readonly Check[] {
  const { proxies } = config;
  if (proxies.http === null && proxies.https === null) return [];
  const peers: readonly (readonly [string, string | null | undefined])[] = [
    ['Stripe', config.stripeApiBase ?? stripe],
    ['the MoR', config.morBaseUrl],
    ["the MoR's sign-in", config.morAuthUrl],
    ['the relay', config.morRelayUrl?.reveal()],
    ['notifications', config.notifyUrl?.reveal()],
    ['the identity provider', config.oidcIssuer],
  ];
  const said = peers.flatMap(([peer, url]) => {
    if (url === null || url === undefined) return [];
    const proxy = proxyFor(proxies, new URL(url));
    return [`${peer} ${proxy === null ? 'straight' : `through ${shownProxy(proxy)}`}`];
  });
  return [ok('proxy', said.join('; '))];
}

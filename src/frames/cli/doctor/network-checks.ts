// Compares our clock with the Date headers of Stripe and the MoR, because a signature is valid for minutes only. Also
// checks the proxies.
import { type Config, type Proxies, proxyFor, shownProxy } from '../../../shared/config/index.js';
import { WayOut } from '../../../shared/config/way-out.js';
import { sqlState, TLS } from '../../store/database-errors.js';
import { type Check, check } from './check.js';

const CERTIFICATE =
  'If a proxy of your company opens TLS, name the file of its certificate authority in NODE_EXTRA_CA_CERTS. If not, the certificate is wrong.';
const TIMEOUT_MS = 10_000;
const WARN_SEC = 30;

/**
 * Compares this machine's clock with the clock of `peer` (Stripe or the MoR).
 * @param toleranceSec beyond this difference Crossbill refuses authentic webhooks
 */
export async function clockCheck(peer: string, url: string, toleranceSec: number, proxies: Proxies): Promise<Check> {
  const { ok, warn, fail } = check(`clock against ${peer}`);
  const { origin, pathname, search, host } = new URL(url);
  const out = new WayOut(proxies, {});
  try {
    const before = Date.now();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { headers } = await out.to(origin).request({ origin, path: pathname + search, method: 'HEAD', signal });
    const theirs = Date.parse(String(headers['date']));
    if (Number.isNaN(theirs)) return warn('the answer has no time', 'Compare the clock by hand.');
    // The Date header has whole seconds. The server wrote it between `before` and now: the middle is the best guess.
    const offSec = Math.round(((before + Date.now()) / 2 - theirs) / 1000);
    const off = Math.abs(offSec);
    const detail = off <= 1 ? 'agrees' : `this machine is ${off} s ${offSec > 0 ? 'ahead' : 'behind'}`;
    const todo = 'Set the clock (NTP): Crossbill checks signatures against it.';
    if (off > toleranceSec) return fail(`${detail}: Crossbill refuses every webhook`, todo);
    return off > WARN_SEC ? warn(detail, todo) : ok(detail);
  } catch (e) {
    if (TLS.test(sqlState(e) ?? '')) return fail(`${host}: ${e instanceof Error ? e.message : ''}`, CERTIFICATE);
    const proxy = proxyFor(proxies, new URL(url));
    if (proxy === null) return fail(`${host} does not answer`, 'Check the address, the network and the firewall.');
    const todo = 'Check the address, the proxy and its rules. NO_PROXY names the hosts without a proxy.';
    return fail(`${host} does not answer through the proxy ${shownProxy(proxy)}`, todo);
  } finally {
    await out.destroy();
  }
}

/** Reports for each configured host, such as Stripe and the MoR, if a proxy is on the way. Empty without a proxy. */
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
    return [`${peer} ${proxy === null ? 'directly' : `through ${shownProxy(proxy)}`}`];
  });
  return [check('proxy').ok(ways.join('; '))];
}

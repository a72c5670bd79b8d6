// The merchant's receiver of notifications: what can be known of it without sending it anything.
import { lookup } from 'node:dns/promises';
import { type Config, type Proxies, proxyFor, shownProxy } from '../../config/index.js';
import { type Notifications } from '../../domain/ports/notifications.js';
import { refusedAddress } from '../../notifications/receiver.js';
import { type Check, fail, ok, warn } from './check.js';

const NAME = 'notifications';
const TRIGGER =
  'Whether it takes them cannot be known without sending: `crossbill trigger invoice.paid` sends a sample.';

export async function notifyChecks(
  config: Pick<Config, 'notifyUrl' | 'shadow' | 'proxies'>,
  notifications: Notifications,
): Promise<Check[]> {
  if (config.notifyUrl === null) return [ok(NAME, 'NOTIFY_URL is not set: your backend gets no notifications')];
  const url = new URL(config.notifyUrl.reveal());
  const { pending, dead, goneAt } = await notifications.standing();
  const checks = [await addressCheck(url, config.proxies)];
  if (config.shadow) checks.push(ok(NAME, 'shadow mode: your backend gets no notifications'));
  if (goneAt !== null) {
    const todo = 'Set another NOTIFY_URL, or say `crossbill trigger invoice.paid` once the receiver is back.';
    checks.push(
      fail(NAME, `the receiver answered 410 at ${goneAt.toISOString()}: nothing is sent, ${pending} wait`, todo),
    );
  }
  if (dead > 0) {
    const todo = 'Mend the receiver, then `crossbill notifications replay --all-dead`.';
    checks.push(warn(NAME, `${dead} were given up after three days`, todo));
  }
  return checks;
}

/** Where its name leads; the path is not shown, since it may be a secret. */
async function addressCheck(url: URL, proxies: Proxies): Promise<Check> {
  const { hostname, origin } = url;
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await lookup(host, { all: true });
    const refused = found
      .map(({ address }) => refusedAddress(address, url.protocol === 'http:'))
      .find((why) => why !== null);
    if (refused !== undefined && refused !== null) return fail(NAME, refused, 'Check the host of NOTIFY_URL.');
    return { ...ok(NAME, `${origin} is an address that may be sent to`), todo: TRIGGER };
  } catch {
    const proxy = proxyFor(proxies, url);
    if (proxy !== null)
      return {
        ...ok(NAME, `${origin} is reached through the proxy ${shownProxy(proxy)}, which alone knows the name`),
        todo: TRIGGER,
      };
    return fail(
      NAME,
      `the name ${host} cannot be resolved here`,
      'Check the host of NOTIFY_URL and the DNS of this machine.',
    );
  }
}

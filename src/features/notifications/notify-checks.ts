// Checks the merchant's receiver of notifications. Sends no notification.
import { lookup } from 'node:dns/promises';
import { type Config, notifies, type Proxies, proxyFor, shownProxy } from '../../shared/config/index.js';
import { Notifications } from '../../frames/store/notifications.js';
import { UNSENT } from '../../shared/domain/ports/call.js';
import { refusedAddress } from './receiver.js';
import { type FeatureChecks } from '../../frames/cli/slots.js';
import { type Check, check } from '../../frames/cli/doctor/check.js';

const { ok, warn, fail } = check('notifications');
const TRIGGER = 'To test the receiver, send it a sample: `crossbill trigger invoice.paid`.';

export const checks: FeatureChecks = async ({ app }) => ({
  checks: await notifyChecks(app.config, app.get(Notifications)),
});

async function notifyChecks(
  config: Pick<Config, 'notifyUrl' | 'sendsNothing' | 'proxies'>,
  notifications: Notifications,
): Promise<Check[]> {
  if (config.notifyUrl === null) return [ok('NOTIFY_URL is not set: your backend gets no notifications')];
  const { pending, dead, goneAt } = await notifications.status();
  const checks = [await addressCheck(new URL(config.notifyUrl.reveal()), config.proxies)];
  if (!notifies(config)) checks.push(ok(`${UNSENT.message} Your backend gets no notifications.`));
  if (goneAt !== null) {
    const todo = 'Set another NOTIFY_URL, or run `crossbill trigger invoice.paid` once the receiver is back.';
    checks.push(
      fail(`the receiver answered 410 at ${goneAt.toISOString()}: Crossbill sends nothing, ${pending} wait`, todo),
    );
  }
  const replay = 'Repair the receiver, then run `crossbill notifications replay --all-dead`.';
  if (dead > 0) checks.push(warn(`Crossbill gave up on ${dead} after three days`, replay));
  return checks;
}

/** Resolves the host name of the receiver. Leaves out the URL's path, because the path may contain a secret. */
async function addressCheck(url: URL, proxies: Proxies): Promise<Check> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  try {
    const found = await lookup(host, { all: true });
    const refused = found.map((a) => refusedAddress(a.address, url.protocol === 'http:')).find((why) => why !== null);
    if (refused) return fail(refused, 'Check the host of NOTIFY_URL.');
    return ok(`${url.origin} is an allowed address`, TRIGGER);
  } catch {
    const proxy = proxyFor(proxies, url);
    if (proxy === null)
      return fail(
        `the name ${host} cannot be resolved here`,
        'Check the host of NOTIFY_URL and the DNS of this machine.',
      );
    return ok(
      `Crossbill reaches ${url.origin} through the proxy ${shownProxy(proxy)}; only the proxy can resolve the name`,
      TRIGGER,
    );
  }
}

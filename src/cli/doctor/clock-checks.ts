// Is our clock right? Both peers say the time in each answer; signatures are good for a few minutes only.
import { type Proxies, proxyFor, shownProxy } from '../../config/index.js';
import { WayOut } from '../../config/way-out.js';
import { type Check, fail, ok, warn } from './check.js';

const PATIENCE_MS = 10_000;
const WARN_SEC = 30;

/** @param toleranceSec beyond this, authentic webhooks are turned away */
export async function clockCheck(peer: string, url: string, toleranceSec: number, proxies: Proxies): Promise<Check> {
  const name = `clock against ${peer}`;
  const { origin, pathname, search, host } = new URL(url);
  const out = new WayOut(proxies, {});
  try {
    const before = Date.now();
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const { headers } = await out.to(origin).request({ origin, path: pathname + search, method: 'HEAD', signal });
    const after = Date.now();
    const theirs = Date.parse(String(headers['date']));
    if (Number.isNaN(theirs)) return warn(name, 'the answer has no time', 'Compare the clock by hand.');
    // The header counts whole seconds and was written between the two moments.
    const offSec = Math.round(((before + after) / 2 - theirs) / 1000);
    const detail =
      Math.abs(offSec) <= 1 ? 'agrees' : `ours is ${Math.abs(offSec)} s ${offSec > 0 ? 'ahead' : 'behind'}`;
    const todo = 'Set the clock (NTP): signatures are checked against it.';
    if (Math.abs(offSec) > toleranceSec) return fail(name, `${detail}: every webhook is turned away`, todo);
    return Math.abs(offSec) > WARN_SEC ? warn(name, detail, todo) : ok(name, detail);
  } catch {
    const proxy = proxyFor(proxies, new URL(url));
    if (proxy === null)
      return fail(name, `${host} does not answer`, 'Check the address, the network and the firewall.');
    const todo = `Check the address, the proxy and what it lets through; NO_PROXY names hosts that are reached without it.`;
    return fail(name, `${host} does not answer through the proxy ${shownProxy(proxy)}`, todo);
  } finally {
    await out.destroy();
  }
}

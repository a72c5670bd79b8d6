// Delivers one notification to the merchant's receiver: with limits on time and sockets, without redirects, and with a
// check of each IP address.
import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type OnApplicationShutdown } from '@nestjs/common';
import { NO_PROXIES, type Proxies, proxyFor, type Secret } from '../../shared/config/index.js';
import { isForbiddenAddress, isPrivateAddress } from '../../shared/config/addresses.js';
import { type Delivery, type DeliveryResult, Receiver } from '../../shared/domain/ports/receiver.js';
import { WayOut } from '../../shared/config/way-out.js';
import { signedHeaders } from './signature.js';
import { NOTIFY_TIMEOUT_MS } from './rules/limits.js';
import { RETRY_AFTER_LONGEST_MS } from '../../shared/policy.js';

const MAX_SOCKETS = 8;
/** Crossbill reads and drops a reply of up to this many bytes. Then the connection stays usable. */
const MAX_REPLY_BYTES = 64 * 1024;

/** The error if the receiver's name resolves to a forbidden address. */
class ForbiddenAddress extends Error {
  readonly code = 'CROSSBILL_FORBIDDEN_ADDRESS';
}

export class HttpReceiver extends Receiver implements OnApplicationShutdown {
  readonly enabled: boolean;
  readonly #url: URL | null;
  readonly #out: WayOut;
  readonly #resolver: Resolver;

  readonly #proxies: Proxies;
  readonly #timeoutMs: number;

  /** `url` null: Crossbill sends nothing. `timeoutMs` and `resolver` are for tests. */
  constructor(
    url: Secret | null,
    private readonly secrets: readonly Secret[],
    options: { readonly proxies?: Proxies; readonly timeoutMs?: number; readonly resolver?: Resolver } = {},
  ) {
    const { proxies = NO_PROXIES, timeoutMs = NOTIFY_TIMEOUT_MS, resolver = resolveAll } = options;
    super();
    this.enabled = url !== null;
    this.#url = url === null ? null : new URL(url.reveal());
    [this.#proxies, this.#timeoutMs, this.#resolver] = [proxies, timeoutMs, resolver];
    // The abort signal is the only deadline.
    const limits = { connections: MAX_SOCKETS, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
    const lookup = lookupFor(this.#url?.protocol === 'http:', resolver);
    this.#out = new WayOut(proxies, limits, { timeout: Math.min(5_000, timeoutMs), lookup });
  }

  async send(delivery: Delivery, at: Date): Promise<DeliveryResult> {
    const startedAt = performance.now();
    const outcome = await this.#post(delivery, at);
    return { ...outcome, elapsedMs: Math.round(performance.now() - startedAt) };
  }

  async close(): Promise<void> {
    await this.#out.destroy();
  }

  /** NestJS calls this at the end of the shutdown. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /**
   * Checks the receiver's address before a request through a proxy. The proxy resolves the name and connects, so
   * Crossbill cannot check the connection. Instead Crossbill resolves the name itself. A name known only to the proxy
   * passes.
   */
  #mustBeAllowed({ hostname, protocol }: URL): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolver(hostname.replace(/^\[|\]$/g, ''), (_error, found) => {
        const refused = found
          .map(({ address }) => refusedAddress(address, protocol === 'http:'))
          .find((why) => why !== null);
        if (refused === undefined || refused === null) resolve();
        else reject(new ForbiddenAddress(refused));
      });
    });
  }

  async #post(delivery: Delivery, at: Date): Promise<Omit<DeliveryResult, 'elapsedMs'>> {
    if (this.#url === null) return failed(null, 'NOTIFY_URL is not set');
    const { origin, pathname, search } = this.#url;
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      if (proxyFor(this.#proxies, this.#url) !== null) await this.#mustBeAllowed(this.#url);
      const reply = await this.#out.to(origin).request({
        origin,
        path: pathname + search,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'crossbill',
          ...signedHeaders(delivery, this.secrets, at),
        },
        body: delivery.body,
        signal,
      });
      const { statusCode: status, headers } = reply;
      await reply.body.dump({ limit: MAX_REPLY_BYTES, signal }).catch(() => undefined); // only the status counts
      return judged(status, headers['retry-after']);
    } catch (error) {
      if (signal.aborted) return failed(null, `no answer within ${this.#timeoutMs / 1000} s`);
      return failed(null, whyOf(error));
    }
  }
}

function judged(status: number, retryAfter: string | string[] | undefined): Omit<DeliveryResult, 'elapsedMs'> {
  if (status >= 200 && status < 300) return { outcome: 'delivered', status, why: null, retryAfterMs: null };
  if (status === 410) return { outcome: 'gone', status, why: 'the receiver is gone (410)', retryAfterMs: null };
  if (status >= 300 && status < 400) {
    return failed(status, `the receiver redirects (${status}): Crossbill does not follow; change NOTIFY_URL`);
  }
  const sec = /^\d{1,9}$/.test(String(retryAfter)) ? Number(retryAfter) : null;
  const retryAfterMs = sec === null ? null : Math.min(sec * 1000, RETRY_AFTER_LONGEST_MS);
  return { ...failed(status, `the receiver answered ${status}`), retryAfterMs };
}

const failed = (status: number | null, why: string): Omit<DeliveryResult, 'elapsedMs'> => ({
  outcome: 'failed',
  status,
  why,
  retryAfterMs: null,
});

/** The reason for a failure, in our words and an error code: without address, path or reply. */
function whyOf(error: unknown): string {
  if (error instanceof ForbiddenAddress) return error.message;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : null;
  const code = codeOf(error) ?? codeOf(first);
  return code === null ? 'the connection failed' : `the connection failed (${code})`;
}

function codeOf(error: unknown): string | null {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : null;
}

type Resolver = (hostname: string, done: (error: Error | null, found: readonly LookupAddress[]) => void) => void;

const resolveAll: Resolver = (hostname, done) => resolve(hostname, { all: true }, (e, found) => done(e, found ?? []));

/** Why Crossbill must not send to this IP address. Null: Crossbill may send. `plain`: the URL is plain http. */
export function refusedAddress(address: string, plain: boolean): string | null {
  if (isForbiddenAddress(address))
    return 'the name of the receiver leads to a link-local or metadata address: Crossbill sends nothing there';
  return plain && !isPrivateAddress(address)
    ? 'the name of the receiver leads to a public address: Crossbill sends no plain http there; use https'
    : null;
}

/** Checks the IP address at each connection: the name may resolve to another IP address by then. */
function lookupFor(plain: boolean, resolver: Resolver): LookupFunction {
  return (hostname, options, callback) => {
    resolver(hostname, (error, found) => {
      const refused = found.map(({ address }) => refusedAddress(address, plain)).find((why) => why !== null);
      const [first] = found;
      if (error === null && refused === undefined && first !== undefined) {
        if (options.all === true) callback(null, [...found]);
        else callback(null, first.address, first.family);
        return;
      }
      const why = refused === undefined ? error : new ForbiddenAddress(refused);
      callback(why ?? new Error(`no address of ${isIP(hostname) === 0 ? 'the name' : 'the address'}`), '', 0);
    });
  };
}

// The bearer token of one pair of credentials. The source fetches a token, shares it among all callers, and renews it
// in time.
import { Secret } from './secret.js';
import { type Failure } from './outcome.js';
import { failure, failureWithoutReply, retryAfterMs } from './failure.js';
import { type Exchange, type Line } from './http-line.js';
import { type Clock, type MorCredentials, secretOf } from './options.js';

const PATH = '/oauth2/token';
/** Document 2, "Authentication", rule 2: the token is cached for `expires_in` minus 300 seconds. */
const EARLY_SEC = 300;
/** The life of a token in seconds, if the answer does not give it. */
const SHORT_SEC = 60;
const LONGEST_SEC = 86_400;
/** The pause after repeated failures to get a token: 0.5 s, doubling to 8 s. A single failure causes no pause. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;

export type TokenOutcome = { readonly ok: true; readonly token: Secret } | Failure;

/** The life of a token in seconds, from the `expires_in` of its answer. */
export function tokenLifeSec(expiresIn: unknown): number {
  if (typeof expiresIn !== 'number' || !Number.isFinite(expiresIn) || expiresIn <= 0) return SHORT_SEC;
  if (expiresIn > EARLY_SEC + SHORT_SEC) return Math.min(expiresIn, LONGEST_SEC) - EARLY_SEC;
  return Math.min(SHORT_SEC, expiresIn / 2);
}

export class TokenSource {
  readonly #credentials: MorCredentials;
  #held: { readonly token: Secret; readonly usableUntil: number } | null = null;
  #refresh: Promise<TokenOutcome> | null = null;
  #failures = 0;
  #pause: { readonly until: number; readonly failure: Failure } | null = null;

  constructor(
    private readonly line: Line,
    private readonly authUrl: string,
    credentials: MorCredentials,
    private readonly clock: Clock,
    private readonly timeoutMs: number,
  ) {
    this.#credentials = credentials;
  }

  /**
   * Returns the known token or a new one. Concurrent callers share one fetch. `signal` ends only this caller's wait.
   */
  async get(signal: AbortSignal): Promise<TokenOutcome> {
    const now = this.clock.now().getTime();
    if (this.#held !== null && now < this.#held.usableUntil) return { ok: true, token: this.#held.token };
    // Ignore a pause longer than the maximum: it began before somebody set the clock back.
    const pauseMs = this.#pause === null ? 0 : this.#pause.until - now;
    if (this.#pause !== null && pauseMs > 0 && pauseMs <= LONGEST_PAUSE_MS) return this.#pause.failure;
    this.#refresh ??= this.#fetch().finally(() => (this.#refresh = null));
    return unlessAborted(this.#refresh, signal);
  }

  /**
   * The API answered 401 to this token. The next `get` fetches a new token, unless another caller has done so already.
   */
  refused(token: Secret): void {
    if (this.#held?.token === token) this.#held = null;
  }

  async #fetch(): Promise<TokenOutcome> {
    const signal = AbortSignal.timeout(this.timeoutMs);
    let exchange = await this.#ask(signal);
    // A second request for a token is harmless, so one short failure leads to another try at once.
    const hiccup = exchange.answered ? exchange.status >= 500 : exchange.sent === 'maybe' && !exchange.timedOut;
    if (hiccup) exchange = await this.#ask(signal);
    const now = this.clock.now().getTime();
    const outcome = this.#read(exchange);
    if (outcome.ok) {
      this.#held = { token: outcome.token, usableUntil: now + outcome.lifeSec * 1000 };
      this.#failures = 0;
      this.#pause = null;
      return { ok: true, token: outcome.token };
    }
    this.#failures += 1;
    if (this.#failures > 1) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 2, 10), LONGEST_PAUSE_MS);
      this.#pause = { until: now + pauseMs, failure: outcome };
    }
    return outcome;
  }

  #ask(signal: AbortSignal): Promise<Exchange> {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: this.#credentials.clientId,
      client_secret: secretOf(this.#credentials),
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    return this.line.exchange(
      { method: 'POST', base: this.authUrl, path: PATH, headers, body: form.toString() },
      signal,
    );
  }

  /**
   * Reads the reply of the token endpoint. Without a token the client does not send the caller's request. So a failure
   * is `retry`, or `stopped` if a person must act.
   */
  #read(exchange: Exchange): { ok: true; token: Secret; lifeSec: number } | Failure {
    if (!exchange.answered) {
      return { ...failureWithoutReply("the MoR's token service", exchange), kind: 'retry' };
    }
    const { status } = exchange;
    const known = { retryAfterMs: retryAfterMs(exchange.header('retry-after'), this.clock) };
    if (status >= 500 || status === 429 || status === 408) {
      return failure('retry', `the MoR's token service answered ${status}`, known);
    }
    if (status >= 300 && status < 400) {
      const why = "the MoR's token service answered with a redirect; the client follows none";
      return failure('stopped', why, { code: 'unexpected_redirect' });
    }
    if (status >= 400) return failure('stopped', `the MoR's token service refused our credentials (${status})`);
    const read = readToken(exchange.text);
    return read ?? failure('retry', "the MoR's token service gave an answer without a usable token");
  }
}

function readToken(text: string | null): { ok: true; token: Secret; lifeSec: number } | null {
  const body = parseObject(text);
  const token = body?.access_token;
  // A header can carry only visible ASCII.
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null;
  return { ok: true, token: new Secret(token), lifeSec: tokenLifeSec(body?.expires_in) };
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return value !== null && typeof value === 'object' ? { ...value } : null;
  } catch {
    return null;
  }
}

/** The outcome, or `retry` if the caller's deadline comes first: the client has not sent the caller's request. */
function unlessAborted(outcome: Promise<TokenOutcome>, signal: AbortSignal): Promise<TokenOutcome> {
  return new Promise((resolve) => {
    const late = (): void => resolve(failure('retry', 'the deadline passed while waiting for a token'));
    if (signal.aborted) return late();
    signal.addEventListener('abort', late, { once: true });
    void outcome.then((value) => {
      signal.removeEventListener('abort', late);
      resolve(value);
    });
  });
}

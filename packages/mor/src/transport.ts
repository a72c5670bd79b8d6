// The one way to the Merchant of Record's API: credentials, deadlines, one retry after a 401, and sorted answers.
import { type Outcome, type WireRequest } from './outcome.js';
import { type MorCallName } from './error-guide.js';
import { failure, failureOf, failureWithoutReply, requestIdOf, retryAfterMs, unreadableReply } from './failure.js';
import { type Exchange, type HttpReply, HttpLine, type Line, straightSockets } from './http-line.js';
import { type Clock, DEFAULT_TIMEOUT_MS, type MorCredentials, type MorOptions, secretOf } from './options.js';
import { parseReply, Unreadable } from './read.js';
import { TokenSource } from './token-source.js';

/** An answer for the parsers. `body` is parsed JSON. Undefined: no body. */
export type MorReply = {
  readonly status: number;
  readonly body: unknown;
  readonly header: (name: string) => string | null;
  /** The wait from `Retry-After`, in milliseconds. Null: none. */
  readonly retryAfterMs: number | null;
};

export type MorCallOptions<T> = {
  readonly name: MorCallName;
  /** The credentials to use: the partner's for Document 1, the merchant's for Documents 2 and 3. */
  readonly as?: 'merchant' | 'partner';
  /** The `Idempotency-Key` header. Null or absent: no such header. */
  readonly key?: string | null;
  /** Parses a 2xx answer. Throws `Unreadable` if the answer differs from the document. */
  readonly accept: (reply: MorReply) => T;
  /** Turns an error answer into a result, if the document allows it. Null: it is an ordinary error. */
  readonly acceptError?: (reply: MorReply, code: string | null) => T | null;
};

export class MorTransport {
  readonly #line: Line;
  readonly #merchant: TokenSource;
  readonly #partner: TokenSource | null;
  readonly #options: MorOptions;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor(options: MorOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    this.#clock = options.clock ?? { now: () => new Date() };
    this.#line = options.line ?? new HttpLine(straightSockets(options.maxSockets));
    const source = (credentials: MorCredentials): TokenSource =>
      new TokenSource(this.#line, options.authUrl, credentials, this.#clock, this.#timeoutMs);
    this.#merchant = source(options.merchant);
    this.#partner = options.partner ? source(options.partner) : null;
  }

  /** False if there are no partner credentials. Every call of Document 1 is then `stopped`. */
  get hasPartner(): boolean {
    return this.#partner !== null;
  }

  /**
   * Sends stored bytes and parses the answer. After a 401 it sends the same bytes again with a new token. After a lost
   * connection it repeats only a read. Never throws.
   */
  async call<T>(wire: WireRequest, options: MorCallOptions<T>): Promise<Outcome<T>> {
    const kept = this.#options.gate?.(options.name, wire) ?? null;
    if (kept !== null) return kept;
    const startedAt = performance.now();
    const outcome = await this.#attempt(wire, options);
    this.#report(options.name, outcome, performance.now() - startedAt);
    return outcome;
  }

  /** Ends every connection, for shutdown. */
  async close(): Promise<void> {
    await this.#line.close();
  }

  async #attempt<T>(wire: WireRequest, options: MorCallOptions<T>): Promise<Outcome<T>> {
    const tokens = options.as === 'partner' ? this.#partner : this.#merchant;
    if (tokens === null) return failure('stopped', 'no partner credentials are configured');
    const signal = AbortSignal.timeout(this.#timeoutMs);
    const first = await tokens.get(signal);
    if (!first.ok) return first;
    let bearer = first.token.reveal();
    let exchange = await this.#send(wire, options.key ?? null, bearer, signal);
    if (exchange.answered && exchange.status === 401) {
      tokens.refused(first.token);
      const second = await tokens.get(signal);
      if (!second.ok) return second; // the first call got a 401 and had no effect; no second call went out
      bearer = second.token.reveal();
      exchange = await this.#send(wire, options.key ?? null, bearer, signal);
    }
    if (!exchange.answered) return failureWithoutReply('the MoR', exchange);
    return this.#judge(exchange, options, [...this.#secrets(), first.token.reveal(), bearer]);
  }

  async #send(wire: WireRequest, key: string | null, bearer: string, signal: AbortSignal): Promise<Exchange> {
    const request = {
      method: wire.method,
      base: this.#options.baseUrl,
      path: wire.path,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${bearer}`,
        ...(wire.body === null ? {} : { 'content-type': 'application/json' }),
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      body: wire.body,
    };
    const exchange = await this.#line.exchange(request, signal);
    const readAgain = wire.method === 'GET' && !exchange.answered && exchange.sent !== 'never' && !exchange.timedOut;
    return readAgain ? this.#line.exchange(request, signal) : exchange;
  }

  #judge<T>(reply: HttpReply, options: MorCallOptions<T>, secrets: readonly string[]): Outcome<T> {
    const body = parseReply(reply.text);
    const seen: MorReply = {
      status: reply.status,
      body: body.value,
      header: reply.header,
      retryAfterMs: retryAfterMs(reply.header('retry-after'), this.#clock),
    };
    if (reply.status >= 300) {
      const failed = failureOf(options.name, reply, { body: body.value, clock: this.#clock, secrets });
      const value = quietly(() => options.acceptError?.(seen, failed.code) ?? null);
      if (value === null) return failed;
      return { ok: true, value, status: reply.status, requestId: failed.requestId };
    }
    if (!body.readable) return unreadableReply('the MoR', reply, 'the body could not be read');
    try {
      const value = options.accept(seen);
      const answeredAt = timeOf(reply.header('date'));
      return { ok: true, value, status: reply.status, requestId: requestIdOf(reply), answeredAt };
    } catch (error) {
      const what = error instanceof Unreadable ? error.message : 'the body could not be read';
      return unreadableReply('the MoR', reply, what);
    }
  }

  #report(call: MorCallName, outcome: Outcome<unknown>, elapsedMs: number): void {
    const { status, requestId } = outcome;
    const kind = outcome.ok ? 'ok' : outcome.kind;
    const code = outcome.ok ? null : outcome.code;
    try {
      this.#options.onRequest?.({ call, status, kind, code, elapsedMs, requestId });
    } catch {
      // An error in a listener must not change the outcome of the call.
    }
  }

  #secrets(): readonly string[] {
    const { merchant, partner } = this.#options;
    return [merchant, partner].flatMap((one) => (one ? [secretOf(one)] : []));
  }
}

function timeOf(text: string | null): Date | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

function quietly<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

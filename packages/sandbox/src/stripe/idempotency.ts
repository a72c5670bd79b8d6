// Wraps every Stripe route: checks the API key and the rate limit, and keeps replies by idempotency key (Stripe docs,
// "Idempotent requests").
import { Refusal, type Reply, type SandboxRequest } from '../kernel/http.js';
import { type Kernel } from '../kernel/kernel.js';
import { StripeRefusal, errorReply } from './errors.js';

// A stored key. `reply` is null while its request still runs.
type Stored = { readonly fingerprint: string; readonly atMs: number; reply: Reply | null };

export const KEPT_MS = 24 * 3_600_000;
const KEY_LIMIT = 255;

export type RateLimit = { rps: number | null; perEndpoint: number | null };

export class Gate {
  readonly limit: RateLimit = { rps: null, perEndpoint: null };
  private readonly keys = new Map<string, Stored>();
  private second = 0;
  private inSecond = 0;
  private inSecondByPath = new Map<string, number>();
  private peak = 0;
  private peakAt: string | null = null;
  private total = 0;
  private refused = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly apiKey: string,
  ) {}

  /**
   * Authentication and rate limit come before the store (Stripe docs, "Low-level errors"), so the store never keeps a
   * 401 or a 429.
   */
  async around(request: SandboxRequest, run: () => Promise<Reply>): Promise<Reply> {
    const limited = this.count(request);
    if (limited !== null) return limited;
    if (request.headers['authorization'] !== `Bearer ${this.apiKey}`) {
      return errorReply(401, 'invalid_request_error', 'Invalid API Key provided.', {
        headers: { 'www-authenticate': 'Bearer realm="Stripe"' },
      });
    }
    const key = request.idempotencyKey;
    if (request.method !== 'POST' || key === null) return run();
    if (key === '' || key.length > KEY_LIMIT) {
      return errorReply(400, 'invalid_request_error', `Idempotency keys have 1 to ${KEY_LIMIT} characters.`);
    }
    return this.once(key, request, run);
  }

  stats(): object {
    const { peak, peakAt, total, refused, limit } = this;
    return {
      requests: total,
      rate_limited: refused,
      peak_per_second: peak,
      peak_at: peakAt,
      keys: this.keys.size,
      limit,
    };
  }

  private async once(key: string, request: SandboxRequest, run: () => Promise<Reply>): Promise<Reply> {
    const fingerprint = `${request.method} ${request.path} ${JSON.stringify(sorted(request.body ?? null))}`;
    const now = this.kernel.clock.nowMs();
    const found = this.keys.get(key);
    if (found !== undefined && found.atMs + KEPT_MS > now) {
      if (found.reply === null) {
        return errorReply(409, 'idempotency_error', 'Another request with this idempotency key is being processed.', {
          code: 'idempotency_key_in_use',
        });
      }
      if (found.fingerprint !== fingerprint) {
        return errorReply(
          400,
          'idempotency_error',
          'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        );
      }
      const headers = { ...found.reply.headers, 'idempotent-replayed': 'true', 'original-request': 'kept' };
      return { ...found.reply, headers };
    }
    const entry: Stored = { fingerprint, atMs: now, reply: null };
    this.keys.set(key, entry);
    return this.carryOut(key, entry, request, run);
  }

  private async carryOut(
    key: string,
    entry: Stored,
    request: SandboxRequest,
    run: () => Promise<Reply>,
  ): Promise<Reply> {
    try {
      if (request.fault?.kind === 'store_500') {
        if (request.fault.effect) await run().catch(() => undefined);
        entry.reply = errorReply(500, 'api_error', 'An unknown error occurred.');
        return entry.reply;
      }
      const reply = await run();
      entry.reply = reply;
      return reply;
    } catch (error) {
      if (error instanceof Refusal && !(error instanceof StripeRefusal && !error.stored)) entry.reply = error.reply;
      else this.keys.delete(key);
      throw error;
    }
  }

  /** Deletes all keys older than a day. `once` replaces such a key when a request uses it again. */
  prune(): void {
    const oldest = this.kernel.clock.nowMs() - KEPT_MS;
    for (const [key, entry] of this.keys) if (entry.atMs < oldest) this.keys.delete(key);
  }

  // Counts requests per second of the computer's clock: callers measure their budgets on clocks that nobody advances.
  private count(request: SandboxRequest): Reply | null {
    const second = Math.floor(this.kernel.clock.wallMs() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.inSecond = 0;
      this.inSecondByPath = new Map();
    }
    const path = `${request.method} ${request.path.replace(/\/[a-z]+_[A-Za-z0-9]{14,}/g, '/:id')}`;
    const onPath = (this.inSecondByPath.get(path) ?? 0) + 1;
    this.inSecondByPath.set(path, onPath);
    this.inSecond += 1;
    this.total += 1;
    if (this.inSecond > this.peak) {
      this.peak = this.inSecond;
      this.peakAt = new Date(second * 1000).toISOString();
    }
    if (this.limit.rps !== null && this.inSecond > this.limit.rps) return this.tooMany('global-rate');
    if (this.limit.perEndpoint !== null && onPath > this.limit.perEndpoint) return this.tooMany('endpoint-rate');
    return null;
  }

  private tooMany(reason: string): Reply {
    this.refused += 1;
    return errorReply(429, 'invalid_request_error', 'Request rate limit exceeded.', {
      code: 'rate_limit',
      headers: { 'stripe-rate-limited-reason': reason },
    });
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}

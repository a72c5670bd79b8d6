// Sends one request to Stripe: waits for the request budget, uses the `stripe` package, and returns a plain object or a
// sorted failure. Reports each request.
import Stripe from 'stripe';
import {
  type CallFailure,
  type CallOutcome,
  LIST_TOO_LONG,
  unsent,
  type WireRequest,
} from '../../shared/domain/ports/call.js';
import { type RequestBudget } from '../../shared/domain/ports/request-budget.js';
import { failure, limitOf, requestIdOf, toFailure } from './failure.js';
import { StripeHttpClient, type Transport } from './http-client.js';
import { isObject, type JsonObject, textOf } from '@crossbill/mor/read.js';
import { type StripeOptions } from './stripe-options.js';

/** The most pages of 100 objects for one list. A longer list gives "could not find out", never "not there". */
const MAX_PAGES = 200;

/**
 * Sends a stored request. The `stripe` package adds its headers and reads the reply. The body goes out byte for byte as
 * stored.
 */
class StoredRequests extends Stripe.StripeResource {
  override requestDataProcessor = (
    _method: string,
    { body }: { readonly body: string },
    _headers: unknown,
    done: (error: null, body: string) => void,
  ): void => done(null, body);

  post(path: string, body: string, idempotencyKey: string | null): Promise<unknown> {
    // Switches stack traces off for this call. The package writes a trace before each call, in case of an error. The
    // trace takes a fifth of the call's cost, and nobody reads it.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return this._makeRequest('POST', path, { body }, idempotencyKey === null ? {} : { idempotencyKey });
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

export class StripeClient {
  private readonly stripe: Stripe;
  private readonly requests: StoredRequests;
  private readonly transport: Transport & { close(): void };

  /** Makes the client. Throws if the base URL is invalid or has a path: requests would go to a wrong address. */
  constructor(
    private readonly options: StripeOptions,
    private readonly budget: RequestBudget,
  ) {
    this.transport = options.transport ?? new StripeHttpClient(options.maxSockets ?? 32, options.proxies);
    this.stripe = new Stripe(options.apiKey, {
      ...stripeAddress(options.apiBase),
      httpClient: this.transport,
      timeout: options.timeoutMs ?? 15_000,
      maxNetworkRetries: 0, // the engine retries, with the stored key and bytes
      telemetry: false, // with telemetry the package writes a file below the home directory
    });
    this.requests = new StoredRequests(this.stripe);
  }

  /** The API version of Stripe's replies. Null: unknown. */
  get apiVersion(): string | null {
    return textOf(this.stripe.getApiField('version'));
  }

  close(): void {
    this.transport.close();
  }

  /**
   * Sends one request, without a retry. `name`: the constant name of the route, for budget and metrics. Never throws.
   */
  async request(name: string, wire: WireRequest, key: string | null): Promise<CallOutcome<JsonObject>> {
    // The last check: even after a wrong decision, shadow mode changes nothing.
    if (this.options.sendsNothing === true && wire.method !== 'GET') return unsent();
    const isOurs = wire.body === null ? wire.method === 'GET' || wire.method === 'DELETE' : wire.method === 'POST';
    if (!isOurs || !wire.path.startsWith('/v1/')) {
      return failure('refused', 'invalid_stored_call', 'Crossbill did not write this stored request and sends nothing');
    }
    try {
      await this.budget.take(name);
    } catch {
      return failure('retry', 'budget_unavailable', 'the request budget did not answer; nothing was sent');
    }
    const startedAt = performance.now();
    const outcome = await this.exchange(name, wire, key);
    this.report(name, wire, outcome, performance.now() - startedAt);
    return outcome;
  }

  /** Sends a GET. Null: Stripe has no such object. */
  async read(name: string, path: string): Promise<CallOutcome<JsonObject | null>> {
    const outcome = await this.request(name, { method: 'GET', path, body: null }, null);
    if (outcome.ok || outcome.status !== 404 || outcome.kind !== 'refused') return outcome;
    // A wrong address also gives a 404, and such a 404 proves nothing about the object.
    const missing =
      outcome.code === 'resource_missing' || (outcome.code === null && !/unrecognized request/i.test(outcome.message));
    if (!missing) return outcome;
    return { ok: true, value: null, status: 404, requestId: outcome.requestId };
  }

  /** Reads one page of a list. */
  async page(name: string, path: string): Promise<CallOutcome<{ items: readonly unknown[]; next: string | null }>> {
    const outcome = await this.request(name, { method: 'GET', path, body: null }, null);
    if (!outcome.ok) return outcome;
    const { data, has_more: hasMore } = outcome.value;
    const last: unknown = Array.isArray(data) ? data.at(-1) : null;
    const next = hasMore === true && isObject(last) ? textOf(last['id']) : null;
    // If a page ends with the object it started after, the same page would follow for ever.
    const stands = next === null || next === new URLSearchParams(path.split('?')[1]).get('starting_after');
    if (!Array.isArray(data) || (hasMore === true && stands)) return notUnderstood(name, outcome);
    return { ...outcome, value: { items: data, next } };
  }

  /** Reads pages of a list until `enough` finds the wanted object. `path` already has a query. */
  async pages(
    name: string,
    path: string,
    enough: (items: readonly unknown[]) => boolean = () => false,
  ): Promise<CallOutcome<readonly unknown[]>> {
    const items: unknown[] = [];
    let after = '';
    for (let count = 0; count < MAX_PAGES; count++) {
      const page = await this.page(name, `${path}${after}`);
      if (!page.ok) return page;
      items.push(...page.value.items);
      if (page.value.next === null || enough(page.value.items)) return { ...page, value: items };
      after = `&starting_after=${encodeURIComponent(page.value.next)}`;
    }
    return failure('unknown', LIST_TOO_LONG, `Stripe: ${name} has more than ${MAX_PAGES} pages`);
  }

  /** Reads and parses one object. Null: Stripe has no such object. */
  async one<T>(name: string, path: string, parse: (object: unknown) => T | null): Promise<CallOutcome<T | null>> {
    const read = await this.read(name, path);
    if (!read.ok) return read;
    // Stripe still shows the id of a deleted object, with `deleted: true`.
    if (read.value === null || read.value['deleted'] === true) return { ...read, value: null };
    const value = parse(read.value);
    return value === null ? notUnderstood(name, read) : { ...read, value };
  }

  /** Reads and parses every object of a list. One unreadable object makes the whole list unreadable. */
  async all<T>(name: string, path: string, parse: (object: unknown) => T | null): Promise<CallOutcome<readonly T[]>> {
    const pages = await this.pages(name, path);
    if (!pages.ok) return pages;
    const items: T[] = [];
    for (const object of pages.value) {
      const item = parse(object);
      if (item === null) return notUnderstood(name, pages);
      items.push(item);
    }
    return { ...pages, value: items };
  }

  private async exchange(name: string, wire: WireRequest, key: string | null): Promise<CallOutcome<JsonObject>> {
    try {
      const reply: unknown =
        wire.body === null
          ? await this.stripe.rawRequest(wire.method, wire.path, undefined, key === null ? {} : { idempotencyKey: key })
          : await this.requests.post(wire.path, wire.body, key);
      if (!isObject(reply)) return failure('unknown', 'unreadable_answer', 'Stripe: the answer is not an object');
      const last = isObject(reply['lastResponse']) ? reply['lastResponse'] : {};
      const status = typeof last['statusCode'] === 'number' ? last['statusCode'] : 200;
      return { ok: true, value: reply, status, requestId: requestIdOf(last['requestId']) };
    } catch (error) {
      const failed = toFailure(error, this.options.apiKey, Date.now());
      // A lock on one object (`lock_timeout`) does not mean too many requests. Every other 429 does.
      if (failed.status === 429 && failed.code !== 'lock_timeout')
        this.budget.throttled(name, failed.retryAfterMs, limitOf(error));
      return failed;
    }
  }

  private report(name: string, wire: WireRequest, outcome: CallOutcome<unknown>, elapsedMs: number): void {
    const { method, path } = wire;
    const { status, requestId } = outcome;
    const result = outcome.ok ? 'ok' : outcome.kind;
    try {
      this.options.onCall?.({ peer: 'stripe', name, method, path, status, outcome: result, elapsedMs, requestId });
    } catch {
      // An error in a listener must not change the outcome of the call.
    }
  }
}

/** Stripe replied 2xx, but not with the requested object: the effect may exist. */
export function notUnderstood(name: string, reply: { status: number; requestId: string | null }): CallFailure {
  const { status, requestId } = reply;
  return failure('unknown', 'unreadable_answer', `Stripe: ${name} returned another object`, { status, requestId });
}

/** The target of the `stripe` package's requests. Empty: Stripe itself. */
export function stripeAddress(apiBase: string | null): { host?: string; port?: string; protocol?: 'http' | 'https' } {
  if (apiBase === null) return {};
  const url = new URL(apiBase);
  const protocol = url.protocol === 'http:' ? 'http' : 'https';
  if (!/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search !== '' || url.username !== '') {
    throw new Error('the base URL of Stripe must be an http(s) origin without a path');
  }
  const host = url.hostname.replace(/^\[|\]$/g, ''); // node:http wants an IPv6 address without brackets
  return { host, port: url.port === '' ? (protocol === 'http' ? '80' : '443') : url.port, protocol };
}

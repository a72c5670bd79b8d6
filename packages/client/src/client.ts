import { randomUUID } from 'node:crypto';
import { type Operations, ROUTES } from './generated/operations.js';
import { type Outgoing, send, type Settings } from './send.js';
import { type CallOptions, type Fetch, type Route } from './types.js';

const TIMEOUT_MS = 60_000;
const RETRIES = 3;

/** The daemon's address, the key, and the limits of a call. */
export interface ClientOptions {
  /** Where the daemon's API is, for example `https://billing.example`. */
  readonly baseUrl: string;
  /** A key of API_KEYS. Keep it on the server. */
  readonly apiKey: string;
  /** The limit of each try in milliseconds. Default: 60000. */
  readonly timeoutMs?: number;
  /** Further tries after the first one, if a repeat does no harm. Default: 3. */
  readonly retries?: number;
  /** Replaces the runtime's own `fetch`. */
  readonly fetch?: Fetch;
}

/** The client: one method per operation of the API. */
export type Crossbill = Operations;

/**
 * Makes a client. A failed call throws `CrossbillError`.
 *
 * The client adds an Idempotency-Key to each request with such a header in the API. After a 429 with Retry-After the
 * client repeats any request. After no response, a 502, 503 or 504 the client repeats only harmless requests.
 */
export function createClient(options: ClientOptions): Crossbill {
  // A program without types may leave them out, and an environment variable may be missing.
  const given: Partial<ClientOptions> | undefined = options;
  const missing = (['baseUrl', 'apiKey'] as const).filter((name) => !given?.[name]);
  if (missing.length > 0) throw new TypeError(`createClient needs ${missing.join(' and ')}`);
  const settings: Settings = {
    baseUrl: baseOf(options.baseUrl),
    apiKey: keyOf(options.apiKey),
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  };
  const methods = Object.entries(ROUTES).map(([name, route]) => [name, methodOf(settings, route)]);
  return Object.freeze(Object.fromEntries(methods)) as Crossbill;
}

function methodOf(settings: Settings, route: Route): (...given: unknown[]) => unknown {
  const [, path, sent, , rows, cursor] = route;
  const ids = path.match(/\{\w+\}/g) ?? [];
  return (...given) => {
    const input = sent === 'nothing' ? {} : ((given[ids.length] ?? {}) as Record<string, unknown>);
    const options = (given[ids.length + (sent === 'nothing' ? 0 : 1)] ?? {}) as CallOptions;
    const filled = ids.reduce((text, id, n) => text.replace(id, () => segment(id, given[n])), path);
    const call = (query: Filters): Promise<unknown> =>
      send(settings, outgoing(route, filled, { query, body: sent === 'body' ? input : null, options }));
    if (rows === undefined || cursor === undefined) return call(sent === 'query' ? (input as Filters) : {});
    return pagesOf(call, input as Filters, rows, cursor);
  };
}

function outgoing(
  [method, , , repeat]: Route,
  path: string,
  {
    query,
    body,
    options: { idempotencyKey, signal },
  }: { readonly query: Filters; readonly body: Record<string, unknown> | null; readonly options: CallOptions },
): Outgoing {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const search = new URLSearchParams(Object.fromEntries(pairs)).toString();
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    body: body === null ? null : JSON.stringify(body),
    idempotencyKey: repeat === 'key' ? (idempotencyKey ?? randomUUID()) : (idempotencyKey ?? null),
    mayRepeat: repeat !== 'never',
    signal,
  };
}

type Filters = Readonly<Record<string, string | number | boolean | undefined>>;
type Page = Readonly<Record<string, unknown>>;

/** Makes the pages of a list. Sends no request until the caller awaits or iterates the result. */
function pagesOf(
  call: (query: Filters) => Promise<unknown>,
  query: Filters,
  rows: string,
  cursor: string,
): PromiseLike<unknown> & AsyncIterable<unknown> {
  let first: Promise<unknown> | undefined;
  return {
    then: (done, failed) => (first ??= call(query)).then(done, failed),
    async *[Symbol.asyncIterator]() {
      for (let next = query['cursor']; ;) {
        const page = (await call({ ...query, cursor: next })) as Page;
        yield* page[rows] as readonly unknown[];
        const after = page[cursor];
        if (typeof after !== 'string') return;
        next = after;
      }
    },
  };
}

/** Refuses an empty id, because the path would then name the whole list. */
function segment(name: string, id: unknown): string {
  if (typeof id !== 'string' || id === '') throw new TypeError(`${name} must be an id, not ${JSON.stringify(id)}`);
  return encodeURIComponent(id);
}

function baseOf(text: string): string {
  if (!isBase(text)) throw new TypeError('baseUrl must be an http(s) address without a query');
  return text.replace(/\/+$/, '');
}

function isBase(text: string): boolean {
  try {
    const { protocol, search, hash } = new URL(text);
    return /^https?:$/.test(protocol) && search === '' && hash === '';
  } catch {
    return false;
  }
}

function keyOf(text: unknown): string {
  if (typeof text !== 'string' || !/^[\x21-\x7e]+$/.test(text)) throw new TypeError('apiKey must be a key of API_KEYS');
  return text;
}

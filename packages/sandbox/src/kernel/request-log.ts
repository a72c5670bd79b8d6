// The requests to the sandbox: kept for tests and people, without tokens or client secrets.
import { type Json, isObject } from './json.js';
import { type Side } from './http.js';

export type LoggedRequest = {
  readonly id: string;
  readonly at: string; // virtual time, ISO 8601
  readonly wall_at: string; // time of the computer's clock
  readonly side: Side;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json | undefined;
  readonly idempotency_key: string | null;
  /** The status of the reply; null if the connection closed without a reply. */
  status: number | null;
  /** The effect of a fault; null: no fault. */
  fault: string | null;
  /** True if the reply came from the idempotency store. */
  replayed: boolean;
};

const KEPT_HEADERS = ['content-type', 'stripe-version', 'idempotency-key', 'user-agent', 'mor-version', 'api-version'];
const KEPT_REQUESTS = 50_000; // the log drops older requests, so a run of days does not grow without end

export class RequestLog {
  private entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): LoggedRequest {
    this.entries.push(entry);
    if (this.entries.length > KEPT_REQUESTS * 1.2) this.entries = this.entries.slice(-KEPT_REQUESTS);
    return entry;
  }

  /** Oldest first. In `filter`, `path` is a prefix; `since` is virtual time, ISO 8601 or Unix seconds. */
  find(filter: URLSearchParams): LoggedRequest[] {
    const since = sinceMs(filter.get('since'));
    const wanted = (name: string, value: string): boolean => {
      const given = filter.get(name);
      return given === null || given.toUpperCase() === value.toUpperCase();
    };
    return this.entries.filter(
      (e) =>
        wanted('side', e.side) &&
        wanted('method', e.method) &&
        e.path.startsWith(filter.get('path') ?? '') &&
        Date.parse(e.at) >= since,
    );
  }

  clear(): void {
    this.entries = [];
  }
}

/** Converts `since`, ISO 8601 or Unix seconds, to milliseconds. Minus infinity if absent or unreadable. */
export function sinceMs(text: string | null): number {
  if (text === null || text === '') return Number.NEGATIVE_INFINITY;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

export function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    KEPT_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}

/** The body as the log keeps it: without credentials. */
export function keptBody(body: Json | undefined): Json | undefined {
  if (!isObject(body) || body['client_secret'] === undefined) return body;
  return { ...body, client_secret: '(not kept)' };
}

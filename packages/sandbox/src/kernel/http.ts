// Requests and replies inside the sandbox, and the router between them. No part needs a socket.
import { type FieldError, type Json } from './json.js';
import { type FaultAction } from './faults.js';
import { type Side } from './side.js';

export { type Side } from './side.js';

/** A request before the router matches it. Header names are in lower case. */
export type RawRequest = {
  readonly method: string;
  /** Path with query, for example `/v1/invoices?limit=3`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type SandboxRequest = {
  readonly id: string; // `req_…`, also the Request-Id header
  readonly side: Side;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly raw: Buffer;
  /**
   * The parsed JSON or form, by content type. Undefined if the request has no body or the body does not parse. In the
   * second case `bodyBroken` is true.
   */
  readonly body: Json | undefined;
  readonly bodyBroken: boolean;
  readonly idempotencyKey: string | null;
  /** A fault for the sandbox's Stripe or MoR to act out, such as `store_500` in Stripe's idempotency store. */
  readonly fault: FaultAction | null;
};

/** A reply. A Buffer goes out unchanged, with the type in `headers`, any other body as JSON. Undefined: no body. */
export type Reply = {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A handler throws a Refusal to send its reply at once. */
export class Refusal extends Error {
  constructor(readonly reply: Reply) {
    super(`refused with ${reply.status}`);
  }
}

/** An error in the shape of the three documents: `{code, errors:[{field,message}]}`. */
export function morError(status: number, code: string, errors: readonly FieldError[] = []): Reply {
  return { status, body: { code, errors } };
}

export type Handler = (request: SandboxRequest) => Reply | Promise<Reply>;

type Route = {
  readonly method: string;
  readonly pattern: string;
  readonly parts: readonly string[];
  readonly handler: Handler;
  readonly about: string;
};

export type Match = { readonly handler: Handler; readonly params: Record<string, string>; readonly pattern: string };

/** Matches paths with `:name` parts. The first matching route wins, so register literal paths before patterns. */
export class Router {
  private readonly routes: Route[] = [];

  /** `pattern` is for example `/api/payments/:paymentId/refund`. `about` is one line for `GET /_sandbox`. */
  add(method: string, pattern: string, handler: Handler, about = ''): void {
    this.routes.push({ method, pattern, parts: pattern.split('/'), handler, about });
  }

  match(method: string, path: string): Match | null {
    const given = path.split('/');
    for (const route of this.routes) {
      if (route.method !== method || route.parts.length !== given.length) continue;
      const params = paramsOf(route.parts, given);
      if (params !== null) return { handler: route.handler, params, pattern: route.pattern };
    }
    return null;
  }

  list(): { method: string; path: string; about: string }[] {
    return this.routes.map(({ method, pattern, about }) => ({ method, path: pattern, about }));
  }
}

function paramsOf(parts: readonly string[], given: readonly string[]): Record<string, string> | null {
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const value = given[i] ?? '';
    if (part.startsWith(':')) {
      if (value === '') return null;
      try {
        params[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
    } else if (part !== value) return null;
  }
  return params;
}

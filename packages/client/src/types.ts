// The types of the client's methods.
import { type components } from './generated/schema.js';

/** The API's types, by their names in the API reference: `Schemas['PaymentView']`. */
export type Schemas = components['schemas'];

type RowOf<A, F> = F extends keyof A ? (A[F] extends readonly (infer Row)[] ? Row : never) : never;

/** A list. `await` returns the first page; `for await` returns every row, and fetches each page when needed. */
export interface Pages<A, F> extends PromiseLike<A>, AsyncIterable<RowOf<A, F>> {}

/** An AbortSignal, if the caller's type definitions have one. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : never;

/** Options for one call. */
export interface CallOptions {
  /**
   * Pass the same key again to repeat this request safely, for example after a crash. Default: a new key for each call.
   */
  readonly idempotencyKey?: string;
  /** Aborts the call and its retries. */
  readonly signal?: Signal;
}

/** The part of `fetch` the client needs. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    redirect: 'error';
    body?: string;
    // Node, browsers and other runtimes declare AbortSignal in different ways.
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    signal?: any;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** One row of `ROUTES`, the generated table of operations. */
export type Route = readonly [
  method: string,
  path: string,
  sent: 'body' | 'query' | 'nothing',
  /** `key`: a repeat needs an Idempotency-Key; `safe`: a repeat does no harm; `never`: a repeat could act twice. */
  repeat: 'key' | 'safe' | 'never',
  rows?: string,
  cursor?: string,
];

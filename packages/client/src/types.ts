// What the client's methods take and give.
import { type components } from './generated/schema.js';

/** The shapes of the API, by their names in its reference: `Schemas['PaymentView']`. */
export type Schemas = components['schemas'];

type RowOf<A, F> = F extends keyof A ? (A[F] extends readonly (infer Row)[] ? Row : never) : never;

/** A list: `await` gives the first page, `for await` every row of every page, each page fetched when it is needed. */
export interface Pages<A, F> extends PromiseLike<A>, AsyncIterable<RowOf<A, F>> {}

/** An AbortSignal, where the surrounding types know one. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : never;

/** For one call. */
export interface CallOptions {
  /** The name of this request for good: give the same one to repeat it after a crash. Default: a new one for each call. */
  readonly idempotencyKey?: string;
  /** Ends the call, with its retries. */
  readonly signal?: Signal;
}

/** What the client needs of `fetch`. */
export type Fetch = (
  url: string,
  init: {
    method: string;
    headers: Record<string, string>;
    redirect: 'error';
    body?: string;
    // Each runtime types it in its own way.
    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    signal?: any;
  },
) => Promise<{
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}>;

/** One row of the generated table. */
export type Route = readonly [
  method: string,
  path: string,
  sent: 'body' | 'query' | 'nothing',
  /** `key`: with an Idempotency-Key; `safe`: as it is; `never`: a repeat could do it twice. */
  repeat: 'key' | 'safe' | 'never',
  rows?: string,
  cursor?: string,
];

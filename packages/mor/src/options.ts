// The settings of a client.
import { type MorCallName } from './error-guide.js';
import { type Line } from './http-line.js';
import { type Failure, type FailureKind, type WireRequest } from './outcome.js';

/** One set of client credentials (Documents 1 and 2, "Authentication"). A function keeps the secret out of the caller's objects. */
export type MorCredentials = { readonly clientId: string; readonly clientSecret: string | (() => string) };

/** One finished call, for metrics and logs. Holds no body, no query and no secret. */
export type MorCallReport = {
  readonly call: MorCallName;
  /** HTTP status; null: no answer came. */
  readonly status: number | null;
  readonly kind: 'ok' | FailureKind;
  /** The MoR's error code as it came; null: none. */
  readonly code: string | null;
  readonly elapsedMs: number;
  readonly requestId: string | null;
};

export type Clock = { now(): Date };

export type MorOptions = {
  /** The documents' `{base_url}`. */
  readonly baseUrl: string;
  /** The documents' `{auth_url}`; the client appends `/oauth2/token`. */
  readonly authUrl: string;
  readonly merchant: MorCredentials;
  /** Null or left out: no call of Document 1 is possible. */
  readonly partner?: MorCredentials | null;
  /** The processor segment of the route family (Document 3), also in `merchant_customer.<psp>_id`. Default `cardpsp`. */
  readonly psp?: string;
  /** Whether a setup intent names the merchant's customer, as a payment intent does. Default `send`. */
  readonly setupCustomer?: 'send' | 'omit';
  /** One request with its answer, the retry after a 401 included. Default 10,000. */
  readonly timeoutMs?: number;
  /** Sockets open to the MoR at once. Default 32. */
  readonly maxSockets?: number;
  /** The way of each request; sockets by default. */
  readonly line?: Line;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
  /** Runs after each finished call. An error in it changes nothing. */
  readonly onRequest?: (report: MorCallReport) => void;
  /** Runs before each call. A failure stands in place of the call: nothing leaves. */
  readonly gate?: (call: MorCallName, wire: WireRequest) => Failure | null;
};

export const DEFAULT_PSP = 'cardpsp';
export const DEFAULT_TIMEOUT_MS = 10_000;

export function secretOf({ clientSecret }: MorCredentials): string {
  return typeof clientSecret === 'string' ? clientSecret : clientSecret();
}

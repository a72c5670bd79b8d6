// The options of a client.
import { type MorCallName } from './error-guide.js';
import { type Line } from './http-line.js';
import { type Failure, type FailureKind, type WireRequest } from './outcome.js';

/**
 * One pair of client credentials (Documents 1 and 2, "Authentication"). Pass the secret as a function to keep it out of
 * your objects.
 */
export type MorCredentials = { readonly clientId: string; readonly clientSecret: string | (() => string) };

/** A report on one finished call, for metrics and logs, without body, query and secrets. */
export type MorCallReport = {
  readonly call: MorCallName;
  /** The HTTP status. Null: no answer came. */
  readonly status: number | null;
  readonly kind: 'ok' | FailureKind;
  /** The MoR's error code, unchanged. Null: none. */
  readonly code: string | null;
  readonly elapsedMs: number;
  readonly requestId: string | null;
};

export type Clock = { now(): Date };

export type MorOptions = {
  /** The documents' `{base_url}`. */
  readonly baseUrl: string;
  /** The documents' `{auth_url}`. The client appends `/oauth2/token`. */
  readonly authUrl: string;
  readonly merchant: MorCredentials;
  /** Null or absent: no call of Document 1 is possible. */
  readonly partner?: MorCredentials | null;
  /** The payment processor's name in Document 3's routes and in `merchant_customer.<psp>_id`. Default: `cardpsp`. */
  readonly psp?: string;
  /** Whether a setup intent names the merchant's customer, as a payment intent does. Default: `send`. */
  readonly setupCustomer?: 'send' | 'omit';
  /** Milliseconds for one call, including the answer and the retry after a 401. Default: 10,000. */
  readonly timeoutMs?: number;
  /** The most sockets to the MoR at the same time. Default: 32. */
  readonly maxSockets?: number;
  /** Sends each request. Default: a line with its own sockets. */
  readonly line?: Line;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
  /** Runs after each finished call. An error in it changes nothing. */
  readonly onRequest?: (report: MorCallReport) => void;
  /** Runs before each call. If it returns a failure, the call ends with this failure and nothing is sent. */
  readonly gate?: (call: MorCallName, wire: WireRequest) => Failure | null;
};

export const DEFAULT_PSP = 'cardpsp';
export const DEFAULT_TIMEOUT_MS = 10_000;

export function secretOf({ clientSecret }: MorCredentials): string {
  return typeof clientSecret === 'string' ? clientSecret : clientSecret();
}

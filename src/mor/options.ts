// What the client of the Merchant of Record must be told at start.
import { type Proxies, type Secret } from '../config/index.js';
import { type FailureKind } from '../domain/ports/call.js';
import { type Line } from './http-line.js';

/** One set of client credentials (Document 1 and Document 2, "Authentication"). */
export type MorCredentials = { readonly clientId: string; readonly clientSecret: Secret };

/** One finished call, for metrics and logs. Holds no body, no query and no secret. */
export type MorCallReport = {
  readonly peer: 'mor';
  /** Which call, for example `refund.create`. */
  readonly name: string;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  readonly kind: 'ok' | FailureKind;
  /** The error code where the documents list it, `other` where they do not; null: none was given. */
  readonly code: string | null;
  readonly elapsedMs: number;
  readonly requestId: string | null;
};

export type MorOptions = {
  /** The documents' `{base_url}`. */
  readonly baseUrl: string;
  /** The documents' `{auth_url}`; `/oauth2/token` is appended. */
  readonly authUrl: string;
  /** The processor segment of the route family (Document 3); also names `merchant_customer.<psp>_id`. */
  readonly psp: string;
  /** Whether a setup intent names the merchant's customer, as a payment intent does. */
  readonly setupCustomer: 'send' | 'omit';
  readonly merchant: MorCredentials;
  /** Null: onboarding (Document 1) is not available. */
  readonly partner: MorCredentials | null;
  /** Null: `invoice.created` is not relayed. */
  readonly relay: { readonly url: string; readonly secret: Secret } | null;
  /** True: nothing but reads leaves. */
  readonly shadow?: boolean;
  /** One request with its answer, retries after a 401 included. Default 10,000. */
  readonly timeoutMs?: number;
  /** Sockets open to the MoR at once. Default 32. */
  readonly maxSockets?: number;
  readonly onCall?: (report: MorCallReport) => void;
  /** Of this host; none when left out. */
  readonly proxies?: Proxies;
  /** How requests leave; sockets unless somebody owns the network. */
  readonly line?: Line;
};

/** The injection token under which the application provides `MorOptions`. */
export const MOR_OPTIONS = Symbol('MOR_OPTIONS');

export const DEFAULT_TIMEOUT_MS = 10_000;
export const DEFAULT_MAX_SOCKETS = 32;

// The Stripe adapter's settings, and its report on each request.
import { type Proxies } from '../config/index.js';
import { type FailureKind } from '../domain/ports/call.js';
import { type Transport } from './http-client.js';

/** One sent request, for metrics and the timeline. Holds no body and no secret. */
export type CallReport = {
  readonly peer: 'stripe';
  /** Constant name of the route, for example `invoices.attach_payment`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  readonly outcome: 'ok' | FailureKind;
  readonly elapsedMs: number;
  readonly requestId: string | null;
};

/** Settings of the adapter; the class is also its injection token. */
export abstract class StripeOptions {
  abstract readonly apiKey: string;
  /** For the sandbox, e.g. `http://127.0.0.1:4010`; null is Stripe itself. */
  abstract readonly apiBase: string | null;
  /** `cpmt_…` from the merchant's Dashboard; null: payments show as "Merchant of Record". */
  abstract readonly customPaymentMethodType: string | null;
  /** True: nothing but reads leaves. */
  abstract readonly shadow?: boolean;
  /** From asking for a socket to the last byte of the answer. 15,000 when left out. */
  abstract readonly timeoutMs?: number;
  /** Sockets to Stripe at once; more requests wait. 32 when left out. */
  abstract readonly maxSockets?: number;
  /** Called after each request; drops its errors. */
  abstract readonly onCall?: (report: CallReport) => void;
  /** Of this host; none when left out. */
  abstract readonly proxies?: Proxies;
  /** How requests leave; sockets unless somebody owns the network. */
  abstract readonly transport?: Transport & { close(): void };
}

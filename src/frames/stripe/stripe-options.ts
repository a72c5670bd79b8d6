// The options of the Stripe adapter, and its report on each request.
import { type Proxies } from '../../shared/config/index.js';
import { type FailureKind } from '../../shared/domain/ports/call.js';
import { type Transport } from './http-client.js';

/** A report on one sent request, for metrics and the timeline, without its body and without secrets. */
export type CallReport = {
  readonly peer: 'stripe';
  /** The constant name of the route, for example `invoices.attach_payment`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** The HTTP status. Null: no reply arrived. */
  readonly status: number | null;
  readonly outcome: 'ok' | FailureKind;
  readonly elapsedMs: number;
  readonly requestId: string | null;
};

/** The options of the adapter. The class is also the injection token. */
export abstract class StripeOptions {
  abstract readonly apiKey: string;
  /** The address of the sandbox, for example `http://127.0.0.1:4010`. Null: Stripe itself. */
  abstract readonly apiBase: string | null;
  /** `cpmt_…` from the merchant's Dashboard. Null: Stripe shows payments as "Merchant of Record". */
  abstract readonly customPaymentMethodType: string | null;
  /** True: the client sends only reads. */
  abstract readonly sendsNothing?: boolean;
  /** The longest time of an exchange, from the wait for a socket to the last byte of the reply. Absent: 15,000. */
  abstract readonly timeoutMs?: number;
  /** The most sockets to Stripe at the same time. Further requests wait. Absent: 32. */
  abstract readonly maxSockets?: number;
  /** Called after each request. The client ignores its errors. */
  abstract readonly onCall?: (report: CallReport) => void;
  /** The HTTP proxies for connections from this host. Absent: no proxy. */
  abstract readonly proxies?: Proxies;
  /** Sends the requests. Absent: real sockets. A simulation passes its own network. */
  abstract readonly transport?: Transport & { close(): void };
}

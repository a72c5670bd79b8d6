// The transport below the `stripe` package. It has its own sockets and one deadline for the whole exchange. It can tell
// if the request was sent.
import type Stripe from 'stripe';
import { type Dispatcher } from 'undici';
import { NO_PROXIES, type Proxies } from '../../shared/config/index.js';
import { WayOut } from '../../shared/config/way-out.js';

// The entry of the `stripe` package does not export the type of its transport, so the constructor's options give the
// type.
export type Transport = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;
export type TransportReply = Awaited<ReturnType<Transport['makeRequest']>>;

/**
 * The longest reply Crossbill reads. A list of 100 invoices with their lines has about 1 MB, and Crossbill requests
 * nothing larger.
 */
const MAX_REPLY_BYTES = 32 * 1024 * 1024;

/**
 * How long a socket stays open without a request, unless Stripe's reply names another time. A new socket costs a TLS
 * handshake.
 */
const IDLE_MS = 30_000;

/** No usable reply arrived. `sent` false: certainly not one byte of the request has reached Stripe. */
export class NoHttpReply extends Error {
  constructor(
    readonly sent: boolean,
    /** Node's code (`ECONNREFUSED`, `ENOTFOUND`, …), or `timeout`, `answer_cut`, `answer_too_large`. */
    readonly reason: string,
  ) {
    super(sent ? `no complete answer (${reason})` : `not reached (${reason})`);
  }
}

/**
 * Replaces the HTTP client of the `stripe` package, for five reasons. Four come from the package's source (23.1.0). Its
 * client has a timeout for silence only, so a server can hold a call for ever by sending single bytes. It repeats a
 * request automatically after a reset, past the request budget. It cannot tell "never connected" from "reply lost". A
 * bare JSON string or number as a reply ends the process. The fifth: node:http takes twice the processor time of
 * undici. undici also checks an idle socket before it writes.
 */
export class StripeHttpClient implements Transport {
  private readonly out: WayOut;

  constructor(maxSockets: number, proxies: Proxies = NO_PROXIES) {
    const limits = {
      connections: maxSockets,
      pipelining: 1, // a request queued behind another one on a socket could go out twice
      keepAliveTimeout: IDLE_MS,
      // The deadline for the whole exchange replaces undici's own two timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.out = new WayOut(proxies, limits, { timeout: 0 });
  }

  getClientName(): string {
    return 'crossbill';
  }

  /** Closes idle sockets. Requests under way still finish. */
  close(): void {
    this.out.close().catch(() => undefined); // ignore: it is already closed
  }

  makeRequest(
    host: string,
    port: string,
    path: string,
    method: string,
    headers: Record<string, string | number | string[]>,
    requestData: string,
    protocol: string,
    timeoutMs: number,
  ): Promise<TransportReply> {
    const origin = `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;
    return new Promise((resolve, reject) => {
      const exchange = new ExchangeUnderWay(timeoutMs, resolve, reject);
      const request = { origin, path, method, headers: texts(headers) };
      this.out.to(origin).dispatch(requestData === '' ? request : { ...request, body: requestData }, exchange);
    });
  }
}

/** One request and its reply, from the wait for a socket to the last byte. */
class ExchangeUnderWay implements Dispatcher.DispatchHandler {
  private readonly deadline: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private ended = false;
  private status = 0;
  private headers: IncomingHttpHeaders | null = null;
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(
    timeoutMs: number,
    private readonly resolve: (reply: TransportReply) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.deadline = setTimeout(() => this.fail('timeout'), timeoutMs);
  }

  /** A socket is connected. The request goes out next. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.ended) return controller.abort(new Error('too late'));
    this.controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > MAX_REPLY_BYTES) this.fail('answer_too_large');
  }

  onResponseEnd(): void {
    if (this.end())
      this.resolve(new HttpReply(this.status, plainHeaders(this.headers ?? {}), Buffer.concat(this.chunks)));
  }

  onResponseError(_controller: unknown, error: NodeJS.ErrnoException): void {
    if (this.headers !== null) return this.fail('answer_cut');
    if (error.code !== 'UND_ERR_INVALID_ARG') return this.fail(error.code ?? error.name);
    if (this.end()) this.reject(error); // undici rejects the request as invalid, so another try would fail too
  }

  private fail(reason: string): void {
    if (!this.end()) return;
    this.reject(new NoHttpReply(this.controller !== null, reason));
    this.controller?.abort(new Error(reason));
  }

  /** Marks the exchange as ended. Returns false if it had already ended. */
  private end(): boolean {
    if (this.ended) return false;
    this.ended = true;
    clearTimeout(this.deadline);
    return true;
  }
}

/** A reply in the form the package expects, with any body. */
export class HttpReply implements TransportReply {
  constructor(
    private readonly status: number,
    private readonly headers: Record<string, string>,
    private readonly body: Buffer,
  ) {}

  getStatusCode(): number {
    return this.status;
  }

  getHeaders(): Record<string, string> {
    return this.headers;
  }

  /** The package adds the request id to this object and returns it as `lastResponse`. */
  getRawResponse(): object {
    return { statusCode: this.status, headers: this.headers };
  }

  toStream(): never {
    throw new Error('answers are not streamed');
  }

  /**
   * The body as an object. For an unreadable body, and for an error in another form than Stripe's, the `stripe` package
   * gets an error of type `unreadable_answer` instead. So the caller still learns the reply's status and headers.
   */
  toJSON(): Promise<object> {
    let value: unknown;
    try {
      value = JSON.parse(this.body.toString('utf8'));
    } catch {
      return Promise.resolve(UNREADABLE());
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return Promise.resolve(UNREADABLE());
    const error: unknown = 'error' in value ? value.error : undefined;
    const isError = typeof error === 'object' && error !== null && !Array.isArray(error);
    const isSuccess = this.status >= 200 && this.status < 300;
    return Promise.resolve(isError || (isSuccess && (error ?? null) === null) ? value : UNREADABLE());
  }
}

// Makes a new object each time, because the package writes headers into it.
const UNREADABLE = (): object => ({ error: { type: 'unreadable_answer', message: 'the answer is not readable' } });

/** Headers in the form of node:http and undici. */
type IncomingHttpHeaders = Readonly<Record<string, string | string[] | undefined>>;

function plainHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

/** Turns numbers into text: the package gives the length of the body as a number. */
function texts(headers: Record<string, string | number | string[]>): Record<string, string | string[]> {
  const out: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) out[name] = typeof value === 'number' ? String(value) : value;
  return out;
}

// The only listening server, with the limits for every request. Passes webhook requests to the webhook endpoints, and
// all other requests to Nest.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import { type Refusal } from '../../shared/domain/refusal.js';
import { closeUnlessRead, refusal, send, sendRaw } from './replies.js';
import { endpointAt } from './deliveries.js';
import { type Endpoints } from './endpoints.js';
import { admitByHandfuls } from './lobby.js';

export type RequestHandler = (req: IncomingMessage, res: ServerResponse) => void;

const limits = {
  maxHeaderSize: 16 * 1024,
  /** The time limit from the first byte of a request to the end of its headers. */
  headersTimeout: 10_000,
  /**
   * The time limit from the first byte to the end of the body. The webhook endpoints give up earlier, with a status the
   * sender does not treat as final.
   */
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than the idle time of common load balancers (60 s), so the load balancer closes first. */
  keepAliveTimeout: 65_000,
  /**
   * Node itself would reply 400 to a request without a Host header, and the MoR treats a 400 as final. So Node does not
   * check the header. `#route` replies 400 instead, at every path except the webhook endpoints'.
   */
  requireHostHeader: false,
} as const;
/** The error for an unreadable request. `rawPacket`: its bytes, if any. */
type Unread = Error & { readonly code?: string; readonly rawPacket?: Buffer };
const UNREAD: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'body_too_slow',
};
const MAX_HEADERS = 100;
/**
 * The length of the system's queue of connections that Node has not accepted yet. If the queue is full, the system
 * ignores a new connection, and the sender tries again after 1, 3 and 7 s. Node's default is 511: many strangers could
 * fill such a queue, and a delivery would wait these seconds. Linux allows at most `net.core.somaxconn` (4096).
 */
const BACKLOG = 8_192;
/**
 * How long the closing server still replies 503 `stopping`. Without this time, deliveries under way would meet a cut
 * connection.
 */
const LINGER_MS = 250;

/**
 * Listens from the first moment. Before `setEndpoints` and `setFallback`, `/livez` replies 200, and every other path
 * replies 503.
 */
export class FrontServer {
  readonly #server: Server;
  /**
   * The requests without a reply, in no order. This is an array, because a long-lived Set costs more memory than the
   * requests: V8 keeps the Set's old tables until a full garbage collection.
   */
  readonly #inFlight: ServerResponse[] = [];
  #endpoints: Endpoints | null = null;
  #fallback: RequestHandler | null = null;
  #closing: Promise<void> | null = null;
  #whenIdle: (() => void) | null = null;

  constructor() {
    this.#server = createServer(limits, (req, res) => this.#route(req, res));
    admitByHandfuls(this.#server);
    this.#server.maxHeadersCount = MAX_HEADERS;
    this.#server.on('checkExpectation', (req, res) => this.#refuseExpectation(req, res));
    this.#server.on('clientError', (error: Unread, socket) => this.#refuseUnread(error, socket));
  }

  setEndpoints(endpoints: Endpoints): void {
    this.#endpoints = endpoints;
  }

  setFallback(handler: RequestHandler): void {
    this.#fallback = handler;
  }

  /**
   * Resolves with the address as soon as the server accepts connections. Rejects if another program uses the port. Port
   * 0: any free port.
   */
  listen(port: number, host: string): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, host, backlog: BACKLOG }, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        if (address === null || typeof address === 'string') reject(new Error('the server has no port'));
        else resolve(address);
      });
    });
  }

  /**
   * Replies 503 `stopping` to new requests for a moment. Then accepts no more connections, waits up to `graceMs` for
   * replies under way (each closes its connection), and ends the remaining connections. `graceMs` 0: ends everything at
   * once. A second call waits for the first.
   */
  close(graceMs: number): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    for (const res of this.#inFlight) res.shouldKeepAlive = false;
    if (graceMs > 0) await linger();
    // `server.close` also drops an idle connection with a request Node has not read yet. So Crossbill waits for a
    // moment before this line (`linger`).
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    if (this.#inFlight.length > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, graceMs);
        this.#whenIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#server.closeAllConnections();
    await closed;
  }

  #ended(res: ServerResponse): void {
    const at = this.#inFlight.indexOf(res);
    const last = this.#inFlight.pop();
    if (last !== undefined && last !== res) this.#inFlight[at] = last;
    if (this.#inFlight.length === 0) this.#whenIdle?.();
  }

  /** Replies to a request with an unknown Expect header. Node itself handles the usual `Expect: 100-continue`. */
  #refuseExpectation(req: IncomingMessage, res: ServerResponse): void {
    if (this.#endpoints?.refuseExpectation(req, res) === true) return;
    // Before `setEndpoints` the reply is a 503, because a sender would treat Node's 417 as final.
    if (this.#endpoints === null) sayStarting(req, res);
    else say(res, 417, { code: 'unknown_expectation', message: 'The Expect header asks for something unknown.' });
  }

  /** A request with an unreadable head may be a delivery from the MoR, so it gets a 503. */
  #refuseUnread(error: Unread, socket: Duplex): void {
    // If a reply has begun on this socket, a second reply would garble it. So close the socket.
    const begun = this.#inFlight.some((res) => res.socket === socket && res.headersSent);
    if (begun || error.code === 'ECONNRESET') return void socket.destroy();
    if (!socket.writable) return; // the request already has its reply: drop the rest
    const reason = UNREAD[error.code ?? ''] ?? 'bad_request';
    sendRaw(socket, refusal(null, reason));
    const address = socket instanceof Socket ? (socket.remoteAddress ?? '') : '';
    this.#endpoints?.sawUnread(reason, error.rawPacket ?? Buffer.alloc(0), address);
  }

  #route(req: IncomingMessage, res: ServerResponse): void {
    this.#inFlight.push(res);
    res.on('close', () => this.#ended(res));
    if (this.#endpoints?.handle(req, res, this.#closing !== null) === true) return;
    closeUnlessRead(req, res, () => this.#closing === null);
    if (this.#closing !== null) {
      res.shouldKeepAlive = false;
      return say(res, 503, { code: 'stopping', message: 'Stopping.' });
    }
    if (this.#fallback === null) return req.url === '/livez' ? say(res, 200, { status: 'ok' }) : sayStarting(req, res);
    if (req.headers.host === undefined && req.httpVersion === '1.1')
      return say(res, 400, { code: 'bad_request', message: 'The Host header is missing.' });
    this.#fallback(req, res);
  }
}

/** Replies 503 while Crossbill starts. A request to a webhook endpoint gets the endpoint's own form of a refusal. */
function sayStarting(req: IncomingMessage, res: ServerResponse): void {
  const endpoint = endpointAt(req.url ?? '');
  if (endpoint === null) say(res, 503, { code: 'starting', message: 'Starting.' });
  else send(res, refusal(endpoint.source, 'stopping'));
}

/** Waits a moment before the server closes. Then the event loop turns twice, so the server reads the last requests. */
async function linger(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, LINGER_MS));
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve));
}

function say(res: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
  res.writeHead(status, status === 503 ? { ...headers, 'retry-after': '5' } : headers);
  res.end(bytes);
}

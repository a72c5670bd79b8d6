// One HTTP exchange with the MoR, limited in time, size and sockets. It never follows a redirect and never throws.
import { Agent, type Dispatcher } from 'undici';

/** Much more than any answer in the documents. Reading stops at this size. */
const MAX_REPLY_BYTES = 5 * 1024 * 1024;
const DEFAULT_MAX_SOCKETS = 32;
export const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Options for a caller's own undici agent. The agent has no time limit, because the signal of each exchange is the only
 * deadline.
 */
export const SOCKET_LIMITS = { pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };

/** The sockets to a server, direct or through a proxy. */
export type Sockets = { to(origin: string): Dispatcher; destroy(): Promise<void> };

export function straightSockets(connections = DEFAULT_MAX_SOCKETS): Sockets {
  const agent = new Agent({ ...SOCKET_LIMITS, connections, connect: { timeout: CONNECT_TIMEOUT_MS } });
  return { to: () => agent, destroy: () => agent.destroy() };
}

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The base URL without a trailing slash. It may contain a path. */
  readonly base: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
};

export type HttpReply = {
  readonly answered: true;
  readonly status: number;
  /** A header by its lower-case name: the first value if repeated, null if absent. */
  readonly header: (name: string) => string | null;
  /** The body as text. Null: cut, too large, or not UTF-8. */
  readonly text: string | null;
};

export type NoReply = {
  readonly answered: false;
  /** `no`: surely no byte of the request went out. `never`: nobody can build the request. `maybe`: nobody knows. */
  readonly sent: 'no' | 'maybe' | 'never';
  /** True: the exchange ended at our own deadline. */
  readonly timedOut: boolean;
  /** Short and safe to show: our own words and an error code, without address and headers. */
  readonly why: string;
};

export type Exchange = HttpReply | NoReply;

// Codes of Node and undici before a connection exists: no byte of the request went out.
const NOT_SENT = new Set(
  (
    'UND_ERR_ABORTED ' + // the proxy of this host refused the tunnel; the code handles our own abort earlier
    'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH EADDRNOTAVAIL UND_ERR_CONNECT_TIMEOUT ' +
    'CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN UNABLE_TO_VERIFY_LEAF_SIGNATURE ' +
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY ERR_TLS_CERT_ALTNAME_INVALID'
  ).split(' '),
);

/** Sends the requests. A program may pass its own line, for example to go through a proxy. */
export type Line = Pick<HttpLine, 'exchange' | 'close'>;

export class HttpLine {
  readonly #sockets: Sockets;

  constructor(sockets: Sockets = straightSockets()) {
    this.#sockets = sockets;
  }

  /** Sends the request one time and reads the whole answer. `signal` limits both. Never rejects. */
  async exchange(request: HttpRequest, signal: AbortSignal): Promise<Exchange> {
    if (signal.aborted) return { answered: false, sent: 'no', timedOut: true, why: 'deadline passed before sending' };
    try {
      const base = new URL(request.base);
      const prefix = base.pathname === '/' ? '' : base.pathname.replace(/\/+$/, '');
      const reply = await this.#sockets.to(base.origin).request({
        origin: base.origin,
        path: prefix + request.path,
        method: request.method,
        headers: { ...request.headers },
        body: request.body,
        signal,
      });
      const headers = reply.headers;
      return {
        answered: true,
        status: reply.statusCode,
        header: (name) => {
          const value = headers[name];
          return (Array.isArray(value) ? value[0] : value) ?? null;
        },
        text: await readText(reply.body),
      };
    } catch (error) {
      return noReply(error, signal);
    }
  }

  /** Ends every socket. Requests under way end without an answer. */
  async close(): Promise<void> {
    await this.#sockets.destroy();
  }
}

async function readText(body: AsyncIterable<unknown>): Promise<string | null> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of body) {
      if (!Buffer.isBuffer(part)) return null;
      size += part.length;
      if (size > MAX_REPLY_BYTES) return null; // leaving the loop destroys the stream
      parts.push(part);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return null;
  }
}

function noReply(error: unknown, signal: AbortSignal): NoReply {
  const codes = codesOf(error);
  const why = codes[0] ?? 'no code';
  if (signal.aborted) return { answered: false, sent: 'maybe', timedOut: true, why: 'deadline passed' };
  if (codes.some((code) => code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_URL')) {
    return { answered: false, sent: 'never', timedOut: false, why };
  }
  const notSent = codes.length > 0 && codes.every((code) => NOT_SENT.has(code));
  return { answered: false, sent: notSent ? 'no' : 'maybe', timedOut: false, why };
}

/** The codes of an error, or of the several tries (IPv4, IPv6) behind one error. */
function codesOf(error: unknown): string[] {
  if (error === null || typeof error !== 'object') return [];
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) return error.errors.flatMap(codesOf);
  if (!('code' in error) || typeof error.code !== 'string') return [];
  return [/^[A-Z0-9_]{1,64}$/.test(error.code) ? error.code : 'no code'];
}

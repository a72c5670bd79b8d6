// The transport under the `stripe` package: own sockets, one deadline for the whole exchange, an honest word on what was sent.
import http from 'node:http';
import https from 'node:https';
import type Stripe from 'stripe';

// The package does not export the names of its transport's types from its entry.
export type Transport = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;
export type TransportAnswer = Awaited<ReturnType<Transport['makeRequest']>>;

/** A list of 100 invoices with their lines is about 1 MB; nothing we ask for comes near this. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** No usable answer came. `sent` false: not one byte of the request can have reached the peer. */
export class NoAnswer extends Error {
  constructor(
    readonly sent: boolean,
    /** Node's code (`ECONNREFUSED`, `ENOTFOUND`, …), or `timeout`, `answer_cut`, `answer_too_large`. */
    readonly reason: string,
  ) {
    super(sent ? `no complete answer (${reason})` : `not reached (${reason})`);
  }
}

/**
 * Replaces the package's own client, for four reasons found in its source (23.1.0): its timeout counts only silence, so a peer
 * that drips bytes holds a call for ever; it sends a request again by itself after a reset, past the request budget; it cannot
 * tell "never connected" from "answer lost"; and an answer that is a bare JSON string or number ends the process.
 */
export class StripeHttpClient implements Transport {
  private readonly http: http.Agent;
  private readonly https: https.Agent;

  constructor(maxSockets: number) {
    const options = { keepAlive: true, maxSockets, maxFreeSockets: maxSockets };
    this.http = new http.Agent(options);
    this.https = new https.Agent(options);
  }

  getClientName(): string {
    return 'crossbill';
  }

  /** Closes idle sockets; requests under way end on their own. */
  close(): void {
    this.http.destroy();
    this.https.destroy();
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
  ): Promise<TransportAnswer> {
    const plain = protocol === 'http';
    return new Promise((resolve, reject) => {
      let sent = false;
      const request = (plain ? http : https).request({
        host,
        port,
        path,
        method,
        headers,
        agent: plain ? this.http : this.https,
      });
      const deadline = setTimeout(() => fail('timeout'), timeoutMs);
      const fail = (reason: string): void => {
        clearTimeout(deadline);
        reject(new NoAnswer(sent, reason));
        request.destroy();
      };
      request.on('socket', (socket) => {
        if (!socket.connecting) sent = true;
        else socket.once(plain ? 'connect' : 'secureConnect', () => (sent = true));
      });
      request.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size > MAX_ANSWER_BYTES) fail('answer_too_large');
        });
        response.on('error', () => fail('answer_cut'));
        response.on('close', () => {
          if (!response.complete) return fail('answer_cut');
          clearTimeout(deadline);
          resolve(new Answer(response.statusCode ?? 0, plainHeaders(response.headers), Buffer.concat(chunks)));
        });
      });
      request.end(requestData);
    });
  }
}

/** An answer as the package wants it, whatever its body is. */
export class Answer implements TransportAnswer {
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

  /** The package hangs the request id on it and returns it as `lastResponse`. */
  getRawResponse(): object {
    return { statusCode: this.status, headers: this.headers };
  }

  toStream(): never {
    throw new Error('answers are not streamed');
  }

  /**
   * The body as an object. Whatever is not one, and every answer that is neither a 2xx nor an error in Stripe's form, is given
   * to the package as an error of type `unreadable_answer`, so that it arrives with its status and headers like any other.
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

// A new object each time: the package writes headers into it.
const UNREADABLE = (): object => ({ error: { type: 'unreadable_answer', message: 'the answer is not readable' } });

function plainHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

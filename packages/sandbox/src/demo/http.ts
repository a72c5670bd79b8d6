// JSON over HTTP to the daemon and to the sandbox's control routes. Repeats requests while a daemon restarts.
import { setTimeout as sleep } from 'node:timers/promises';
import { Reading } from './read.js';

/** The error for an unexpected reply. The message contains the reply's text. */
export class Unexpected extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Repeats a request for so long: a killed daemon's lock on a merchant's onboarding ends after 45 s. */
const TIMEOUT_MS = 90_000;
const POLL_MS = 100;
const ONE_TRY_MS = 30_000;
const PAGE = 100;

export class JsonClient {
  /**
   * @param key bearer key; null for the sandbox's control routes
   * @param patient true: repeats a request after no reply, 502 or 503. The caller must make a repeated POST harmless.
   * @param timeoutMs time limit of the repeats
   */
  constructor(
    readonly base: string,
    private readonly key: string | null,
    private readonly patient: boolean,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {}

  get(path: string): Promise<Reading> {
    return this.send('GET', path, undefined, {});
  }

  post(path: string, body: object, idempotencyKey: string | null = null): Promise<Reading> {
    return this.send('POST', path, body, idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey });
  }

  put(path: string, body: object): Promise<Reading> {
    return this.send('PUT', path, body, {});
  }

  patch(path: string, body: object): Promise<Reading> {
    return this.send('PATCH', path, body, {});
  }

  delete(path: string): Promise<Reading> {
    return this.send('DELETE', path, undefined, {});
  }

  /** Returns every object of a list, page by page. `path` has no `limit` and no `cursor`. */
  async all(path: string): Promise<Reading[]> {
    const found: Reading[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Reading = await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}${more}`);
      found.push(...page.list('data'));
      cursor = page.textOrNull('next_cursor');
    } while (cursor !== null);
    return found;
  }

  private async send(
    method: string,
    path: string,
    body: object | undefined,
    more: Record<string, string>,
  ): Promise<Reading> {
    const headers: Record<string, string> = { accept: 'application/json', ...more };
    if (this.key !== null) headers['authorization'] = `Bearer ${this.key}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    const deadline = performance.now() + this.timeoutMs;
    for (;;) {
      const reply = await this.once(method, path, headers, body);
      if (reply.status >= 200 && reply.status < 300) return Reading.of(reply.body, `${method} ${path}`);
      const hopeful = reply.status === 0 || reply.status === 502 || reply.status === 503;
      if (!this.patient || !hopeful || performance.now() > deadline) {
        const said = reply.status === 0 ? 'no answer' : `${reply.status} ${JSON.stringify(reply.body)}`;
        throw new Unexpected(reply.status, `${method} ${path}: ${said}`);
      }
      await sleep(POLL_MS);
    }
  }

  /** Sends one request. Status 0: no reply. */
  private async once(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: object | undefined,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    try {
      const reply = await fetch(`${this.base}${path}`, {
        method,
        headers,
        signal: AbortSignal.timeout(ONE_TRY_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      return { status: reply.status, body: parsed(text) };
    } catch {
      return { status: 0, body: null };
    }
  }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return text.slice(0, 200);
  }
}

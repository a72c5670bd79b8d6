// A client of the running daemon's API.
import { textCensor } from '../../../shared/masks/secrets.js';
import { CliError, EXIT } from '../exit-codes.js';
import { plain } from '../table.js';
import { type Json, objectOf, textAt } from './json.js';

export type HttpReply = { readonly status: number; readonly body: Json };

const TIMEOUT_MS = 30_000;

export class DaemonApi {
  readonly #key: string;

  constructor(
    readonly url: string,
    key: string,
  ) {
    this.#key = key;
  }

  get(path: string): Promise<HttpReply> {
    return this.#ask('GET', path);
  }

  /** Sends a POST to the daemon. `key`: the `Idempotency-Key` of the request. */
  post(path: string, body: Json = {}, key: string | null = null): Promise<HttpReply> {
    return this.#ask('POST', path, body, key);
  }

  /** Returns the body of a reply. Throws a CliError for an unexpected status. */
  must({ status, body }: HttpReply, expected: readonly number[], what: string): Json {
    if (expected.includes(status)) return body;
    const code = textAt(body, 'code') ?? `http_${status}`;
    const message = textCensor([this.#key])(textAt(body, 'message') ?? 'no reason given');
    throw new CliError(EXIT.failed, code, `The daemon refused ${what} (${status} ${code}): ${plain(message)}`);
  }

  async #ask(method: string, path: string, body: Json | null = null, key: string | null = null): Promise<HttpReply> {
    let response: Response;
    try {
      response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        ...(body === null ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch {
      throw new CliError(
        EXIT.unreachable,
        'daemon_unreachable',
        `No daemon answers at ${this.url}. Start it, or name its address with CROSSBILL_URL or --url.`,
      );
    }
    const text = await response.text();
    let parsed: unknown = {};
    try {
      parsed = JSON.parse(text);
    } catch {
      // The body is not JSON, for example from a proxy: the status is enough.
    }
    return { status: response.status, body: objectOf(parsed) };
  }
}

// The client in front of the real daemon: it keeps the requests and answers, and can lose them on the way.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Crossbill, createClient, type Fetch } from '../../packages/client/src/index.js';
import { openApiDocument } from '../../tools/docs/routes-reference.js';
import { KEYS, type Role } from '../api/support/api-app.js';

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly status: number;
};

/** A request's fate in place of its answer; null: nothing. */
export type Mishap = (count: number) => 'lost_request' | 'lost_answer' | { status: number; retryAfter?: string } | null;

type Json = Readonly<Record<string, unknown>>;

/** Fails on an answer at odds with the OpenAPI document. */
export class Contract {
  private readonly ajv = new Ajv2020({
    strict: false,
    formats: { 'date-time': true, int64: true, uuid: true, date: true },
  });

  private constructor(private readonly document: Json) {
    this.ajv.addSchema({ $id: 'api', components: document['components'] });
  }

  static async read(): Promise<Contract> {
    return new Contract(await openApiDocument());
  }

  check(method: string, path: string, status: number, text: string): void {
    const paths = this.document['paths'] as Record<string, Record<string, { responses: Record<string, Json> }>>;
    const [, item] =
      Object.entries(paths).find(([p]) => new RegExp(`^${p.replace(/\{\w+\}/g, '[^/]+')}$`).test(path)) ?? [];
    const response = item?.[method.toLowerCase()]?.responses[String(status)];
    const content = response?.['content'] as { 'application/json'?: { schema: unknown } } | undefined;
    if (content?.['application/json'] === undefined)
      throw new Error(`${method} ${path} ${status} is not in the document`);
    const schema = JSON.parse(JSON.stringify(content['application/json'].schema).replaceAll('"#/', '"api#/')) as Json;
    const fits: ValidateFunction = this.ajv.compile(schema);
    if (!fits(JSON.parse(text)))
      throw new Error(`${method} ${path} ${status}: ${this.ajv.errorsText(fits.errors)}: ${text}`);
  }
}

export class Wire {
  readonly sent: Sent[] = [];
  mishap: Mishap = () => null;

  constructor(
    private readonly url: string,
    private readonly contract: Contract,
  ) {}

  client(role: Role, retries = 3): Crossbill {
    return createClient({ baseUrl: this.url, apiKey: KEYS[role], retries, timeoutMs: 20_000, fetch: this.fetch });
  }

  private readonly fetch: Fetch = async (url, init) => {
    const { pathname: path } = new URL(url);
    const mishap = this.mishap(this.sent.length);
    const note = (status: number): void => {
      this.sent.push({ method: init.method, path, key: init.headers['idempotency-key'], status });
    };
    if (mishap === 'lost_request') {
      note(0);
      throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') });
    }
    if (typeof mishap === 'object' && mishap !== null) {
      note(mishap.status);
      const headers = {
        'content-type': 'application/json',
        ...(mishap.retryAfter === undefined ? {} : { 'retry-after': mishap.retryAfter }),
      };
      return new Response(JSON.stringify({ code: 'away', message: 'Away.', errors: [] }), {
        status: mishap.status,
        headers,
      });
    }
    const reply = await fetch(url, init);
    const text = await reply.text();
    if (reply.status !== 204 && path.startsWith('/v1')) this.contract.check(init.method, path, reply.status, text);
    if (mishap === 'lost_answer') {
      note(0);
      throw new TypeError('fetch failed', { cause: new Error('other side closed') });
    }
    note(reply.status);
    return new Response(reply.status === 204 ? null : text, { status: reply.status, headers: reply.headers });
  };
}

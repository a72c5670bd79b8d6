// The webhook endpoints, the API and the console of a whole daemon, over HTTP. The daemon must never answer 500 and
// never die, and every accepted delivery must be in the database.
import { isObject, type JsonObject } from '@crossbill/mor/read.js';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type InboxSource } from '#src/shared/domain/ports/inbox.js';
import { isSameStripeEvent, sameEvent } from '#src/shared/domain/events/same-event.js';
import { wire } from '../inputs/examples.js';
import { bentJson } from '../inputs/json.js';
import { oddText } from '../inputs/texts.js';
import { headerText, mustBeQuiet, type Remote, values } from '../remote-inputs.js';
import { deliver, type Rig } from '../rig.js';
import { must } from '../target.js';
import { consolePages } from './remote-console.js';

/** The daemon on a busy machine may need this long to store or decide an event, or to accept a connection. */
const TIMEOUT_MS = 120_000;
const TRIES = 3;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const SOURCES = ['stripe', 'mor_payments', 'mor_events'] as const satisfies readonly InboxSource[];
const bodiesOf = (endpoint: InboxSource) =>
  bentJson(wire(endpoint === 'stripe' ? 'stripe' : 'mor-events').map(({ value }) => value));

const endpoints: Remote = {
  name: 'http-endpoints',
  what: 'signed and forged deliveries at the three endpoints: every accepted one is stored byte for byte, and every event gets its decision',
  on: (rig) => {
    let n = 0;
    return {
      name: 'http-endpoints',
      what: endpoints.what,
      remote: true,
      inputs: fc
        .oneof(...SOURCES.map((endpoint) => fc.tuple(fc.constant(endpoint), fc.boolean(), bodiesOf(endpoint))))
        .map((parts) => JSON.stringify(parts)),
      async check(text) {
        const [endpoint, forged, json] = JSON.parse(text) as [InboxSource, boolean, string];
        // Every event is new, but all events are about the same few invoices and payments, so each lane gets many.
        const body = Buffer.from(json.replaceAll('evt_', `evt_${++n}_`).replaceAll('fern', `fern${n % 40}`));
        const sha = createHash('sha256').update(body).digest();
        const stored = () =>
          rig.query(
            `select b.body from inbox_event e join event_body b on b.event_id = e.id where e.source = $1 and e.body_sha256 = $2
             union all select body from inbox_quarantine where source = $1 and body_sha256 = $2`,
            [endpoint, sha],
          );
        const before = forged ? (await stored()).length : 0; // the same signed bytes may have arrived before
        const status = await deliver(rig, endpoint, body, forged ? 'not-the-secret' : undefined);
        const kept = await stored();
        if (forged) {
          must(status === (endpoint === 'stripe' ? 401 : 503), `a forged delivery is answered ${status}`);
          must(kept.length === before, 'a forged delivery was stored');
          return;
        }
        must(status === 200, `a signed delivery is answered ${status}`);
        if (kept.some(({ body: found }) => Buffer.isBuffer(found) && found.equals(body))) return;
        const known = await rig.query(
          'select b.body from inbox_event e join event_body b on b.event_id = e.id where e.source = $1 order by e.id desc limit 500',
          [endpoint],
        );
        const isRepeat = endpoint === 'stripe' ? isSameStripeEvent : sameEvent;
        must(
          known.some(({ body: found }) => Buffer.isBuffer(found) && isRepeat(found, body)),
          'a delivery was answered 200 and is nowhere',
        );
      },
      async afterBatch() {
        const end = performance.now() + TIMEOUT_MS;
        let waiting: readonly JsonObject[] = [];
        do {
          waiting = await rig.query(
            `select source, event_id, type, lane, reason, attempts from inbox_event where status = 'received' limit 3`,
            [],
          );
          if (waiting.length > 0) await pause(300);
        } while (waiting.length > 0 && performance.now() < end);
        must(waiting.length === 0, `events are not decided: ${JSON.stringify(waiting)}`);
        mustBeQuiet(rig);
      },
    };
  },
};

type Operation = {
  readonly method: string;
  readonly path: string;
  readonly query: readonly string[];
  readonly body: unknown;
};

async function operationsOf(rig: Rig): Promise<readonly Operation[]> {
  const document: unknown = await fetch(`${rig.url}/docs-json`).then((r) => r.json());
  const found: Operation[] = [];
  const part = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
  for (const [path, item] of Object.entries(part(document, 'paths') ?? {})) {
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      const operation = part(item, method);
      if (operation === undefined || !path.startsWith('/v1/')) continue;
      const parameters = part(operation, 'parameters');
      const query = (Array.isArray(parameters) ? (parameters as unknown[]) : [])
        .filter((p) => part(p, 'in') === 'query')
        .map((p) => String(part(p, 'name')));
      const body = part(part(part(part(operation, 'requestBody'), 'content'), 'application/json'), 'example');
      found.push({ method: method.toUpperCase(), path, query, body: body ?? null });
    }
  }
  return found;
}

const IDS = [
  'in_1Fern0003',
  'in_1Fern0001',
  'pay_fern3',
  'rfnd_fern1',
  'cus_Fern0003',
  'evt_fern_failed_3',
  'dp_fern1',
  'nope',
];
const idText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...IDS) },
  oddText.filter((t) => t.length < 2_000),
);

type Asked = {
  readonly op: number;
  readonly id: string;
  readonly query: readonly (readonly [number, string])[];
  readonly body: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
};

const api: Remote = {
  name: 'http-api',
  what: 'every route of the API: ids, queries, bodies and headers; each refusal in the one form, no 500',
  on: (rig) => {
    let operations: readonly Operation[] | null = null;
    const bodies = fc.oneof(bentJson([{ amount: 100 }, {}]), ...BODY_EXAMPLES().map((one) => bentJson([one])));
    return {
      name: 'http-api',
      what: api.what,
      remote: true,
      inputs: fc
        .record({
          op: fc.nat(10_000),
          id: idText,
          query: fc.array(fc.tuple(fc.nat(20), values), { maxLength: 3 }),
          body: bodies,
          key: fc.oneof(fc.constantFrom('key-1', 'key-2', ''), headerText),
          headers: fc.dictionary(
            fc.constantFrom(
              'content-type',
              'accept',
              'x-forwarded-for',
              'x-request-id',
              'if-none-match',
              'traceparent',
            ),
            headerText,
            { maxKeys: 2 },
          ),
        })
        .map((asked) => JSON.stringify(asked)),
      prepare: async () => void (operations ??= await operationsOf(rig)),
      async check(text) {
        const asked = JSON.parse(text) as Asked;
        const op = operations?.[asked.op % operations.length];
        if (op === undefined) return;
        const id = encodeURIComponent(Buffer.from(asked.id).toString());
        const path = op.path.replaceAll(/\{[^}]+\}/g, id === '' || id === '.' || id === '..' ? 'x' : id);
        const query = asked.query.map(
          ([n, value]) =>
            `${encodeURIComponent(op.query[n % (op.query.length + 1)] ?? 'strange')}=${encodeURIComponent(Buffer.from(value).toString())}`,
        );
        const body = op.body === null || asked.op % 3 === 0 ? asked.body : bodyFor(op.body, asked.body);
        const init: RequestInit = {
          method: op.method,
          headers: {
            'content-type': 'application/json',
            ...asked.headers,
            authorization: `Bearer ${rig.key}`,
            ...(asked.key === '' ? {} : { 'idempotency-key': asked.key }),
          },
          ...(op.method === 'GET' ? {} : { body }),
        };
        await mustReply(rig, `${path}${query.length === 0 ? '' : `?${query.join('&')}`}`, init);
      },
      afterBatch: async () => mustBeQuiet(rig),
    };
  },
};

/** Puts the members of the damaged body into the example: the result is mostly valid, sometimes wrong. */
function bodyFor(example: unknown, bent: string): string {
  try {
    const value: unknown = JSON.parse(bent);
    return JSON.stringify(isObject(value) && isObject(example) ? { ...example, ...value } : example);
  } catch {
    return bent;
  }
}

const BODY_EXAMPLES = (): readonly unknown[] => [
  { kind: 'payment', customer: { id: 'cus_1', email: 'ada@example.com' }, amount: 2990, currency: 'eur' },
  { amount: 500, reason: 'requested_by_customer', metadata: { a: 'b' } },
  { resolution: 'dismiss', note: 'by transfer' },
  { charge_id: 'ch_1', invoice_id: 'in_1', amount: 2990, currency: 'eur' },
];

async function mustReply(rig: Rig, target: string, init: RequestInit): Promise<void> {
  for (let n = 1; ; n++) {
    const reply = await fetch(rig.url + target, { ...init, redirect: 'manual' });
    const text = await reply.text();
    const about = `${init.method ?? 'GET'} ${target.slice(0, 300)}: ${reply.status} ${text.slice(0, 300)}`;
    if (reply.status === 503 && n < TRIES) {
      await pause(1_000 * n);
      continue;
    }
    must(reply.status < 500 || reply.status === 502, about);
    must(!/\n {4}at |node_modules|select .* from /.test(text), `an inside is shown: ${about}`);
    if (reply.status === 204 || reply.status === 304) return;
    if (!/json/.test(reply.headers.get('content-type') ?? '')) {
      must(reply.status < 300, `no JSON: ${about}`);
      return;
    }
    const body: unknown = JSON.parse(text);
    if (reply.status < 300) return mustHaveWholeNumbers(body, about);
    const { code, message, errors } = isObject(body) ? body : {};
    must(
      typeof code === 'string' && typeof message === 'string' && message !== '' && Array.isArray(errors),
      `not in the one form: ${about}`,
    );
    return;
  }
}

function mustHaveWholeNumbers(value: unknown, about: string): void {
  if (typeof value === 'number')
    return must(
      Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)),
      `a number that JSON does not carry: ${about}`,
    );
  if (typeof value === 'object' && value !== null)
    for (const inner of Object.values(value)) mustHaveWholeNumbers(inner, about);
}

export const remoteTargets: readonly Remote[] = [endpoints, api, consolePages];

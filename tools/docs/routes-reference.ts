// The reference of the HTTP routes, from the OpenAPI document that the daemon serves at /docs-json.
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { openApi } from '#src/api/http/openapi.js';
import { AppModule } from '#src/app.module.js';
import { loadConfig } from '#src/config/index.js';
import { notificationWebhooks } from '#src/notifications/notification.schema.js';
import { createLogger, Metrics } from '#src/observe/index.js';
import { Database } from '#src/store/database.js';
import { code, madeFrom, page, table } from './markdown.js';

type Json = Readonly<Record<string, unknown>>;
type Route = { readonly method: string; readonly path: string; readonly tag: string; readonly operation: Json };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
// Said once for all routes with a role.
const FOR_ALL = ['401', '403'];
const DOORS = [
  ['POST /webhooks/stripe', 'Stripe', '`Stripe-Signature`'],
  ['POST /webhooks/mor/payments', 'the MoR, `payment.*`', '`Mor-Signature`'],
  ['POST /webhooks/mor/events', 'the MoR, everything else', '`Service-Signature`'],
];
const DOOR_ANSWERS = [
  ['200', 'stored, now or before: `{"received":true}`. Also for events that are parked or ignored'],
  ['400', 'Stripe’s endpoint: `signature_missing`, `signature_malformed`'],
  ['401', 'Stripe’s endpoint: `signature_mismatch`'],
  ['405', 'Stripe’s endpoint: `method_not_allowed`'],
  ['413', 'Stripe’s endpoint: `too_large`, over `WEBHOOK_BODY_LIMIT`'],
  [
    '503',
    'every other refusal, and at the endpoints of the MoR all of them, with `Retry-After`: `timestamp_out_of_tolerance`, `headers_too_large`, `body_too_slow`, `unknown_expectation`, `bad_request`, `crowded`, `database`, `stopping`',
  ],
];

/** The OpenAPI document. Nothing is built behind the routes: no database, no peer, no port is touched. */
export async function openApiDocument(): Promise<Json> {
  const made = randomBytes(24).toString('hex'); // settings that are never used must still be ones that could be
  const config = loadConfig({
    DATABASE_URL: 'postgres://127.0.0.1:9/none',
    STRIPE_API_KEY: `sk_test_${made}`,
    STRIPE_WEBHOOK_SECRETS: made,
    MOR_BASE_URL: 'http://127.0.0.1:9',
    MOR_AUTH_URL: 'http://127.0.0.1:9',
    MOR_CLIENT_ID: 'docs',
    MOR_CLIENT_SECRET: made,
    MOR_PAYMENT_WEBHOOK_SECRETS: made,
    API_KEYS: `docs:read:${made}`,
  });
  const parts = {
    config,
    db: Object.create(Database.prototype) as Database, // never opened: `preview` makes no provider
    log: createLogger({ level: 'silent', secrets: [], pretty: false }),
    metrics: new Metrics({ eventTypes: [], now: () => new Date(0) }),
  };
  const options = { logger: false, preview: true, bodyParser: false, abortOnError: false } as const;
  const app = await NestFactory.create(AppModule.of(parts), new ExpressAdapter(), options);
  return { ...openApi(app, notificationWebhooks()) };
}

/** Every route of the document, in its order. */
export function routesOf(document: Json): Route[] {
  return Object.entries(object(document['paths'])).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = object(item)[method];
      if (operation === undefined) return [];
      const tag = array(object(operation)['tags']).map(text)[0] ?? 'Other';
      return [{ method: method.toUpperCase(), path, tag, operation: object(operation) }];
    }),
  );
}

export async function renderRoutes(): Promise<string> {
  const document = await openApiDocument();
  const routes = routesOf(document);
  const tags = [...new Set(routes.map((r) => r.tag))];
  return page([
    '# Routes',
    madeFrom('the OpenAPI document (`/docs-json`; to read and try: `/docs`)'),
    'Routes below `/v1` need `Authorization: Bearer <key>`, a key of `API_KEYS`. A role includes the one before: `read`, `signup`, `ops`. Amounts are integers in the smallest unit of the currency. Errors are `{code, message, errors: [{field, message}]}`. Lists are newest first, `{data, next_cursor?}`, and take `limit` (1 to 100, default 20) and `cursor`. Every route with a role answers 401 `unauthorized` without a valid key and 403 `forbidden` when the role does not suffice; both are audited. Names such as `SignupView` are explained under [Shapes](#shapes).',
    '## Webhook endpoints',
    table(['route', 'sender', 'signature header'], DOORS),
    table(['answer', 'when'], DOOR_ANSWERS),
    ...tags.flatMap((tag) => [`## ${tag}`, ...routes.filter((r) => r.tag === tag).map((r) => section(r, document))]),
    '## What your backend is told',
    'Posted to `NOTIFY_URL` as `{type, timestamp, data}` with the headers of Standard Webhooks: [notifications](../notifications.md). Every field is always there.',
    ...webhooks(document),
    '## Shapes',
    ...shapes(document),
  ]);
}

function section(r: Route, document: Json): string {
  const { operation } = r;
  const role = operation['x-role'] === undefined ? 'no key' : `role \`${text(operation['x-role'])}\``;
  const summary = text(operation['summary']).replace(/ \(role: \w+\)$/, '');
  const inputs = [...parametersOf(operation), ...bodyOf(operation, document)];
  return page([
    `### ${r.method} ${r.path}`,
    `${summary} (${role}). ${text(operation['description'])}`.trim(),
    inputs.length === 0 ? '' : table(['field', 'where', 'type', 'meaning'], inputs),
    table(['answer', 'meaning'], answersOf(operation)),
  ]).trimEnd();
}

/** What routes answer with; what they take stands with each route. */
function shapes(document: Json): string[] {
  const taken = new Set(routesOf(document).flatMap((r) => bodyNames(r.operation)));
  return Object.entries(object(object(document['components'])['schemas'])).flatMap(([name, one]) => {
    if (taken.has(name) || name.endsWith('Dto')) return [];
    const fields = Object.entries(object(object(one)['properties'])).map(([field, property]) => {
      const [type] = withoutNull(object(property));
      return [code(field), typeOf(object(property)), said(type)];
    });
    return fields.length === 0 ? [] : [`### ${name}`, table(['field', 'type', 'meaning'], fields)];
  });
}

/** The names of the schemas that a body may have. */
function bodyNames(operation: Json): string[] {
  const schema = object(object(object(object(operation['requestBody'])['content'])['application/json'])['schema']);
  const names = [schema, ...array(schema['oneOf']).map(object)].map((one) => text(one['$ref']).split('/').at(-1) ?? '');
  return names.filter((name) => name !== '');
}

/** A schema of OpenAPI 3.1 without its null, and whether it had one. */
function withoutNull(schema: Json): readonly [Json, boolean] {
  const [either, none] = array(schema['anyOf']);
  if (object(none)['type'] === 'null') return [object(either), true];
  const types = array(schema['type']);
  if (!types.includes('null')) return [schema, false];
  const words = array(schema['enum']).filter((word) => word !== null);
  return [{ ...schema, type: types[0], ...(words.length === 0 ? {} : { enum: words }) }, true];
}

/** What the daemon sends by itself. */
function webhooks(document: Json): string[] {
  return Object.entries(object(document['webhooks'])).map(([type, item]) => {
    const post = object(object(item)['post']);
    const content = object(object(post['requestBody'])['content']);
    const schema = object(object(content['application/json'])['schema']);
    const data = object(object(object(schema['properties'])['data'])['properties']);
    const fields = Object.entries(data).map(([field, property]) => {
      const [shape] = withoutNull(object(property));
      return [code(field), typeOf(object(property)), said(shape)];
    });
    return page([
      `### ${code(type)}`,
      `${text(post['summary'])}.`,
      table(['in `data`', 'type', 'meaning'], fields),
    ]).trimEnd();
  });
}

function parametersOf(operation: Json): string[][] {
  return array(operation['parameters']).map((one) => {
    const p = object(one);
    return [named(text(p['name']), p['required'] === true), text(p['in']), typeOf(object(p['schema'])), said(p)];
  });
}

function bodyOf(operation: Json, document: Json): string[][] {
  const body = object(operation['requestBody']);
  const schema = object(object(object(body['content'])['application/json'])['schema']);
  if (Object.keys(schema).length === 0) return [];
  const rows = fieldsOf(schema, document, '');
  return rows.length > 0 ? rows : [['(the whole)', 'body', 'object', said(body) || said(schema)]];
}

/** The fields of a body, those of its parts with their path. */
function fieldsOf(schema: Json, document: Json, path: string): string[][] {
  const ways = array(schema['oneOf']).map(object);
  if (ways.some((way) => '$ref' in way)) {
    return ways.flatMap((way, n) => [
      ...(n === 0 ? [] : [[`(or, in its place)`, 'body', 'object', '']]),
      ...fieldsOf(way, document, path),
    ]);
  }
  const resolved = resolve(schema, document);
  const required = array(resolved['required']).map(text);
  return Object.entries(object(resolved['properties'])).flatMap(([name, one]) => {
    const property = object(one);
    const inner = fieldsOf(property, document, `${path}${name}.`);
    const own = resolve(property, document);
    return [
      [named(`${path}${name}`, required.includes(name)), 'body', typeOf(own), said(property) || said(own)],
      ...inner,
    ];
  });
}

function answersOf(operation: Json): string[][] {
  const listed = Object.entries(object(operation['responses']));
  const own = operation['x-role'] === undefined ? listed : listed.filter(([status]) => !FOR_ALL.includes(status));
  return own.map(([status, answer]) => {
    const { description, content } = object(answer);
    const schema = object(object(Object.values(object(content))[0])['schema']);
    const name = (text(schema['$ref']) || text(object(schema['items'])['$ref'])).split('/').at(-1) ?? '';
    return [status, text(description) || (name === '' ? 'done' : code(name))];
  });
}

/** What a reference leads to. A property that is one wraps it in `allOf`. */
function resolve(schema: Json, document: Json): Json {
  const [wrapped] = array(schema['allOf']);
  const name = text(schema['$ref'] ?? object(wrapped)['$ref'])
    .split('/')
    .at(-1);
  if (name === undefined || name === '') return schema;
  return object(object(object(document['components'])['schemas'])[name]);
}

function typeOf(given: Json): string {
  const [schema, orNull] = withoutNull(given);
  if (orNull) return `${typeOf(schema)} or null`;
  const words = array(schema['enum']).map((word) => code(text(word)));
  if (words.length > 0) return words.join(', ');
  const { minimum, maximum, maxLength, default: preset } = schema;
  const limits = [
    ...(minimum === undefined ? [] : [`from ${text(minimum)}`]),
    ...(maximum === undefined ? [] : [`to ${text(maximum)}`]),
    ...(maxLength === undefined ? [] : [`at most ${text(maxLength)} characters`]),
    ...(preset === undefined ? [] : [`default ${text(preset)}`]),
  ];
  const [wrapped] = array(schema['allOf']);
  const name =
    text(schema['$ref'] ?? object(wrapped)['$ref'])
      .split('/')
      .at(-1) ?? '';
  const type =
    schema['type'] === 'array'
      ? `list of ${typeOf(object(schema['items']))}`
      : name === ''
        ? text(schema['type'])
        : code(name);
  return [type || 'any', ...limits].join(', ');
}

function said(from: Json): string {
  const example = text(from['example']);
  return [text(from['description']), example === '' ? '' : `For example ${code(example)}.`].filter(Boolean).join(' ');
}

function named(name: string, isRequired: boolean): string {
  return isRequired ? `${code(name)} (required)` : code(name);
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function array(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

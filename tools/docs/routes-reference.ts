// Generates the daemon's OpenAPI document as a file, and the page of its routes.
import { randomBytes } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { openApi } from '#src/frames/api/http/openapi.js';
import { AppModule, WEBHOOKS } from '#src/app.module.js';
import { loadConfig } from '#src/shared/config/index.js';
import { createLogger, Metrics } from '#src/shared/observe/index.js';
import { Database } from '#src/frames/store/database.js';
import { code, madeFrom, page, table } from './markdown.js';

type Json = Readonly<Record<string, unknown>>;
type Route = { readonly method: string; readonly path: string; readonly tag: string; readonly operation: Json };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
/** Statuses of all routes. The page explains them once. */
const FOR_ALL = ['401', '403', '415'];
const ENDPOINTS = [
  ['POST /webhooks/stripe', 'Stripe', '`Stripe-Signature`'],
  ['POST /webhooks/mor/payments', 'the MoR, `payment.*`', '`Mor-Signature`'],
  ['POST /webhooks/mor/events', 'the MoR, everything else', '`Service-Signature`'],
];
const ENDPOINT_REPLIES = [
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

/** The OpenAPI document. Builds only the routes: touches no database, no peer and no port. */
export async function openApiDocument(): Promise<Json> {
  const made = randomBytes(24).toString('hex'); // nobody uses these settings, but they must be valid
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
    db: Object.create(Database.prototype) as Database, // never opened: `preview` creates no provider
    log: createLogger({ level: 'silent', secrets: [], pretty: false }),
    metrics: new Metrics({ eventTypes: [], now: () => new Date(0) }),
  };
  const options = { logger: false, preview: true, bodyParser: false, abortOnError: false } as const;
  const app = await NestFactory.create(AppModule.of(parts), new ExpressAdapter(), options);
  return { ...openApi(app, WEBHOOKS) };
}

/** Every route of the document, in the document's order. */
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

/** The page for people, with a line for each route. `openapi.json` has every field. */
export function renderRoutes(document: Json): string {
  const routes = routesOf(document);
  return page([
    '# Routes',
    madeFrom('[openapi.json](openapi.json)'),
    'Every field, example and error text is in [openapi.json](openapi.json). A running daemon serves the same document at `/docs-json`, and a page for reading and trying it at `/docs`.',
    'Routes below `/v1` need `Authorization: Bearer <key>` with a key of `API_KEYS`. The roles are `read`, `signup` and `ops`, and each includes the role before it. Amounts are integers in the smallest unit of the currency. Times are ISO 8601 in UTC. Lists are newest first, `{data, next_cursor?}`, and take `limit` (1 to 100, default 20) and `cursor`. An error is `{code, message, errors: [{field, message}]}`.',
    `The tables leave out the answers of every route: 400 \`invalid_request\`, 401 \`unauthorized\`, 403 \`forbidden\`, 415 \`unsupported_media_type\`. The daemon audits 401 and 403.`,
    '## Webhook endpoints',
    table(['route', 'sender', 'signature header'], ENDPOINTS),
    table(['answer', 'when'], ENDPOINT_REPLIES),
    ...array(document['tags']).flatMap((tag) => group(object(tag), routes)),
    '## What your backend is told',
    'Crossbill posts `{type, timestamp, data}` to `NOTIFY_URL` with the headers of Standard Webhooks: see [notifications](../build-on-it.md#notifications). The fields of `data` are in `openapi.json` under `webhooks`.',
    table(['type', 'when'], Object.entries(object(document['webhooks'])).map(notification)),
  ]);
}

function group(tag: Json, routes: readonly Route[]): string[] {
  const name = text(tag['name']);
  const rows = routes.filter((route) => route.tag === name).map(row);
  return [`## ${name}`, text(tag['description']), table(['route', 'role', 'what it does', 'answers'], rows)];
}

function row({ method, path, operation }: Route): string[] {
  const summary = text(operation['summary']).replace(/ \(role: \w+\)$/, '');
  const about = `${summary}. ${text(operation['description'])}`.trim();
  return [code(`${method} ${path}`), text(operation['x-role']) || 'no key', about, repliesOf(operation).join(', ')];
}

/** Each status with the codes in its description, without the statuses that all routes share. */
function repliesOf(operation: Json): string[] {
  return Object.entries(object(operation['responses'])).flatMap(([status, reply]) => {
    if (FOR_ALL.includes(status)) return [];
    const codes = text(object(reply)['description']).match(/`[a-z]+(?:_[a-z]+)+`/g) ?? [];
    const own = codes.filter((one) => one !== '`invalid_request`');
    if (status === '400' && own.length === 0) return [];
    return [[status, ...new Set(own)].join(' ')];
  });
}

function notification([type, item]: [string, unknown]): string[] {
  return [code(type), `${text(object(object(item)['post'])['summary'])}.`];
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

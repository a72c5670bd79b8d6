// The whole world of an end-to-end test: the sandbox, one or more real daemons on one database, and the merchant's
// client.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import Stripe from 'stripe';
import { loadConfig } from '../../../src/shared/config/index.js';
import { type Daemon, startDaemon } from '../../../src/daemon.js';
import { createLogger } from '../../../src/shared/observe/index.js';
import { type Sandbox, startSandbox } from '@crossbill/sandbox/sandbox.js';
import { freshDatabase } from './database.js';

export const OPS_KEY = 'ops-key-for-tests-0123456789abcdef';
export const SIGNUP_KEY = 'signup-key-for-tests-0123456789ab';
export const READ_KEY = 'read-key-for-tests-0123456789abcd';

export type Json = Record<string, unknown>;
export type Reply<T = Json> = { readonly status: number; readonly body: T; readonly headers: Headers };

export type World = {
  readonly sandbox: Sandbox;
  readonly stripe: Stripe;
  readonly databaseUrl: string;
  readonly daemons: Daemon[];
  readonly logLines: string[];
  /** The settings with which a daemon starts. */
  readonly env: Record<string, string>;
  /** `migrations`: a folder with the migrations of another release. */
  startDaemon(over?: Record<string, string>, migrations?: string): Promise<Daemon>;
  /** Calls the API of the first daemon. The ops key is the default. */
  api: <T = Json>(method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply<T>>;
  /** Reads a list of the API: the rows of its first page. */
  list<T = Json>(path: string): Promise<T[]>;
  /** Waits until `holds` is true of the API's body at this path. Returns the body. */
  shows<T = Json>(path: string, holds: (body: T) => boolean, what?: string): Promise<T>;
  /** Runs one statement in the world's database. */
  query<T extends pg.QueryResultRow = Json>(sql: string, values?: unknown[]): Promise<T[]>;
  control(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Makes the sandbox misbehave, once if the rule gives no `times`. */
  fault(rule: Json): Promise<Reply>;
  /** Sends later webhooks of Stripe and the MoR to this daemon too. */
  deliverTo(daemon: { readonly url: string }): void;
  advance(seconds: number): Promise<void>;
  /** Moves the sandbox's clock past the next act of its MoR, so nobody has to wait. */
  morActs(): Promise<void>;
  /** A customer with a subscription whose first invoice the signup paid. */
  subscriber(options?: { email?: string; amount?: number; currency?: string }): Promise<Subscriber>;
  /** A subscriber whose first invoice Crossbill has marked paid. */
  paidSubscriber(options?: { email?: string; amount?: number; currency?: string }): Promise<Subscriber>;
  /** Renews and returns the invoice. Its draft hour has not passed, and the MoR has tried the charge. */
  renew(subscriptionId: string): Promise<string>;
  /**
   * Waits until the value is the wanted one, 90 s by default: long on purpose, for busy machines. Repeats a failed look, because a
   * busy daemon may answer 503. Fails with the last result.
   */
  until<T>(what: string, read: () => Promise<T> | T, wanted: Wanted<T>, withinMs?: number): Promise<T>;
  /** Waits until the API shows an invoice in this status. */
  invoice(id: string, status: string): Promise<Json>;
  close(): Promise<void>;
};

/** A test of the value, some of its fields, or the value itself. */
export type Wanted<T> = ((seen: T) => boolean) | Fields<NoInfer<NonNullable<T>>>;
type Fields<T> = T extends object ? { readonly [K in Extract<keyof T, string | number>]?: T[K] } : T;

export type Subscriber = {
  readonly customerId: string;
  readonly subscriptionId: string;
  readonly signupId: string;
  readonly firstInvoiceId: string;
  readonly chargeId: string;
};

const DEADLINE_MS = 90_000;
const POLL_MS = 100;

/** The most seconds the sandbox's MoR takes to charge a renewal, or to write the invoice of a payment, its proof. */
const MOR_TAKES_SEC = 2;

export async function startWorld(over: Record<string, string> = {}): Promise<World> {
  const database = await freshDatabase();
  const sandbox = await startSandbox({ seed: randomUUID() });
  const { port, hostname } = new URL(sandbox.stripeUrl);
  const { secrets } = sandbox;
  const stripe = new Stripe(secrets.stripeApiKey, {
    host: hostname,
    port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
  });
  const env: Record<string, string> = {
    NODE_ENV: 'test',
    PORT: '0',
    DATABASE_URL: database.url,
    DATABASE_POOL_SIZE: '6',
    STRIPE_API_KEY: secrets.stripeApiKey,
    STRIPE_API_BASE: sandbox.stripeUrl,
    STRIPE_WEBHOOK_SECRETS: secrets.stripeWebhookSecret,
    STRIPE_MAX_RPS: '500',
    MOR_BASE_URL: sandbox.morUrl,
    MOR_AUTH_URL: sandbox.morUrl,
    MOR_CLIENT_ID: secrets.merchant.clientId,
    MOR_CLIENT_SECRET: secrets.merchant.clientSecret,
    MOR_PARTNER_CLIENT_ID: secrets.partner.clientId,
    MOR_PARTNER_CLIENT_SECRET: secrets.partner.clientSecret,
    MOR_PAYMENT_WEBHOOK_SECRETS: secrets.paymentWebhookSecret,
    MOR_EVENT_WEBHOOK_SECRETS: secrets.eventWebhookSecret,
    API_KEYS: `ops:ops:${OPS_KEY},shop:signup:${SIGNUP_KEY},viewer:read:${READ_KEY}`,
    LOG_LEVEL: 'debug',
    ...over,
  };
  const daemons: Daemon[] = [];
  const logLines: string[] = [];
  let registered = false;

  const world: World = {
    sandbox,
    stripe,
    databaseUrl: database.url,
    daemons,
    logLines,
    env,
    async startDaemon(more = {}, migrations) {
      const config = loadConfig({ ...env, ...more });
      const log = createLogger({
        level: config.logLevel,
        secrets: [],
        pretty: false,
        destination: { write: (line: string) => void logLines.push(line) },
      });
      const daemon = await startDaemon(config, log, new AbortController().signal, migrations);
      daemons.push(daemon);
      if (!registered) world.deliverTo(daemon);
      registered = true;
      return daemon;
    },
    api: <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      call<T>(`${daemons[0]?.url ?? ''}${path}`, method, body, { authorization: `Bearer ${OPS_KEY}`, ...headers }),
    list: async <T>(path: string) => (await world.api<{ data: T[] }>('GET', path)).body.data,
    async shows<T>(path: string, holds: (body: T) => boolean, what = `${path} shows ${String(holds)}`) {
      const read = () => world.api<T>('GET', path);
      return (await world.until(what, read, (r) => r.status === 200 && holds(r.body))).body;
    },
    query: (sql, values = []) => queryAt(database.url, sql, values),
    fault: (rule) => world.control('POST', '/faults', rule),
    deliverTo({ url }) {
      sandbox.stripe.state.addEndpoint(`${url}/webhooks/stripe`, secrets.stripeWebhookSecret);
      sandbox.cards.events.sendTo(`${url}/webhooks/mor/payments`, secrets.paymentWebhookSecret);
      sandbox.mor.registerEventWebhook(`${url}/webhooks/mor/events`);
    },
    control: (method, path, body) => call(`${sandbox.morUrl}/_sandbox${path}`, method, body, {}),
    async advance(seconds) {
      await world.control('POST', '/clock', { advance_sec: seconds });
    },
    morActs: () => world.advance(MOR_TAKES_SEC),
    async subscriber({ email = 'ada@example.com', amount = 2990, currency = 'eur' } = {}) {
      const customer = await stripe.customers.create({ email, name: 'Ada Example' });
      const price = await monthlyPrice(stripe, amount, currency);
      const method = await stripe.paymentMethods.create({ type: 'custom', custom: { type: 'cpmt_mor' } });
      await stripe.paymentMethods.attach(method.id, { customer: customer.id });
      const subscription = await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: price.id }],
        default_payment_method: method.id,
        payment_behavior: 'default_incomplete',
      });
      const invoice = subscription.latest_invoice;
      const firstInvoiceId = typeof invoice === 'string' ? invoice : (invoice?.id ?? '');
      const signup = await world.api<{ id: string; payment_intent_id: string }>(
        'POST',
        '/v1/signups',
        { kind: 'payment', customer: { id: customer.id, email }, amount, currency },
        { authorization: `Bearer ${SIGNUP_KEY}` },
      );
      if (signup.status !== 201) throw new Error(`signup: ${JSON.stringify(signup.body)}`);
      const confirmed = await world.control('POST', `/intents/${signup.body.payment_intent_id}/confirm`, {});
      const chargeId = String(confirmed.body['charge_id']);
      await world.morActs();
      const completed = await world.api(
        'POST',
        `/v1/signups/${signup.body.id}/complete`,
        { charge_id: chargeId, invoice_id: firstInvoiceId, amount, currency },
        { authorization: `Bearer ${SIGNUP_KEY}` },
      );
      if (completed.status !== 202) throw new Error(`complete: ${JSON.stringify(completed.body)}`);
      return {
        customerId: customer.id,
        subscriptionId: subscription.id,
        signupId: signup.body.id,
        firstInvoiceId,
        chargeId,
      };
    },
    async paidSubscriber(options) {
      const s = await world.subscriber(options);
      await world.invoice(s.firstInvoiceId, 'paid');
      return s;
    },
    async renew(subscriptionId) {
      const renewed = await world.control('POST', '/stripe/renew', { subscription: subscriptionId });
      const id = renewed.body['invoice'] ?? renewed.body['id'];
      if (typeof id !== 'string') throw new Error(`renew: ${JSON.stringify(renewed.body)}`);
      await world.morActs();
      return id;
    },
    async until(what, read, wanted, withinMs = DEADLINE_MS) {
      const end = Date.now() + withinMs;
      // Each look costs the daemon and the database work, so the pauses grow.
      for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, POLL_MS)) {
        let last: string;
        try {
          const seen = await read();
          if (isWanted(seen, wanted)) return seen;
          last = JSON.stringify(seen) ?? 'undefined';
        } catch (error) {
          last = String(error);
        }
        if (Date.now() > end) throw new Error(`gave up waiting until ${what}; last seen: ${last.slice(0, 2_000)}`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    },
    invoice: (id, status) => world.shows(`/v1/invoices/${id}`, (i) => i['status'] === status, `${id} is ${status}`),
    async close() {
      await Promise.all(daemons.map((d) => d.stop()));
      await sandbox.close();
      await database.drop();
    },
  };
  return world;
}

/**
 * A world for the tests of a file or a `describe`, with one daemon or with what `start` starts. Closed after them.
 */
export function useWorld(
  over: Record<string, string> = {},
  start: (world: World) => Promise<unknown> = (world) => world.startDaemon(),
): World {
  let started: World | undefined;
  beforeAll(async () => {
    started = await startWorld(over);
    await start(started);
  });
  afterAll(() => started?.close());
  // The world exists only once the tests run, so this stands for it from the start.
  return new Proxy({} as World, {
    get: (_, name) => Reflect.get(started ?? {}, name) as unknown,
    set: (_, name, value) => Reflect.set(started ?? {}, name, value),
  });
}

/** The API's refusal with this code, and of this field if there is one. */
export const refusal = (status: number, code: string, field?: string): Json => ({
  status,
  body: field === undefined ? { code } : { code, errors: [{ field }] },
});

/** The API's refusal of a request because of one field. */
export const wrongField = (field: string): Json => ({ status: 400, body: { errors: [{ field }] } });

/** Runs one statement over its own connection. */
export async function queryAt<T extends pg.QueryResultRow = Json>(
  databaseUrl: string,
  sql: string,
  values: unknown[] = [],
): Promise<T[]> {
  const db = new pg.Client({ connectionString: databaseUrl });
  db.on('error', () => undefined); // it may still be closing when the test drops its database
  await db.connect();
  try {
    return (await db.query<T>(sql, values)).rows;
  } finally {
    await db.end();
  }
}

function isWanted<T>(seen: T, wanted: Wanted<T>): boolean {
  if (typeof wanted === 'function') return wanted(seen);
  if (typeof wanted !== 'object' || wanted === null) return seen === wanted;
  return Object.entries(wanted).every(([name, value]) => Reflect.get(Object(seen) as object, name) === value);
}

async function call<T>(url: string, method: string, body: unknown, headers: Record<string, string>): Promise<Reply<T>> {
  const response = await fetch(url, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as T, headers: response.headers };
}

/** A monthly price of a new product. `minor` is in smallest units. */
export async function monthlyPrice(stripe: Stripe, minor: number, currency = 'eur'): Promise<Stripe.Price> {
  const product = await stripe.products.create({ name: 'Larch Pro' });
  return stripe.prices.create({ product: product.id, currency, unit_amount: minor, recurring: { interval: 'month' } });
}

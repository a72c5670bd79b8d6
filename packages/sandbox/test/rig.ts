// A started sandbox with a receiver of webhooks, the real `stripe` package and plain JSON calls, for the tests of this folder.
import { type AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { afterEach, beforeEach } from '@jest/globals';
import Stripe from 'stripe';
import { type Sandbox, type SandboxOptions, startSandbox } from '../src/sandbox.js';

export type Received = {
  readonly path: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
};

export type Reply = { readonly status: number; readonly body: Record<string, unknown> };

export type Rig = {
  readonly sandbox: Sandbox;
  readonly stripe: Stripe;
  /** The receiver's deliveries, in order. */
  readonly received: Received[];
  readonly receiverUrl: string;
  /** The receiver's answer: 200 unless a test says otherwise. */
  reply: (request: Received) => number;
  /** A call with the merchant's bearer token. */
  mor(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  control(method: string, path: string, body?: unknown): Promise<Reply>;
  advance(seconds: number): Promise<void>;
  /** Delivered events of one type, parsed, in order. */
  events(type: string): { id: string; type: string; data: { object: Record<string, unknown> } }[];
  close(): Promise<void>;
};

export async function startRig(options: SandboxOptions = {}): Promise<Rig> {
  const received: Received[] = [];
  const receiver = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const one = { path: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks).toString('utf8') };
      received.push(one);
      res.writeHead(rig.reply(one)).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const sandbox = await startSandbox({
    seed: 'test',
    stripeWebhookUrl: `${receiverUrl}/stripe`,
    paymentWebhookUrl: `${receiverUrl}/payments`,
    ...options,
  });
  const { port, hostname } = new URL(sandbox.stripeUrl);
  const stripe = new Stripe(sandbox.secrets.stripeApiKey, {
    host: hostname,
    port,
    protocol: 'http',
    telemetry: false,
    maxNetworkRetries: 0,
  });
  let token: string | null = null;
  const rig: Rig = {
    sandbox,
    stripe,
    received,
    receiverUrl,
    reply: () => 200,
    async mor(method, path, body, headers = {}) {
      const send = (bearer: string) =>
        call(sandbox.morUrl, method, path, body, { authorization: `Bearer ${bearer}`, ...headers });
      token ??= await newToken(sandbox);
      const reply = await send(token);
      if (reply.status !== 401) return reply;
      token = await newToken(sandbox); // it lasts a day, and tests let days pass
      return send(token);
    },
    control: (method, path, body) => call(sandbox.morUrl, method, `/_sandbox${path}`, body),
    async advance(seconds) {
      await rig.control('POST', '/clock', { advance_sec: seconds });
    },
    events: (type) =>
      received.map((r) => JSON.parse(r.body) as ReturnType<Rig['events']>[number]).filter((e) => e.type === type),
    async close() {
      await sandbox.close();
      receiver.closeAllConnections();
      await new Promise((resolve) => receiver.close(resolve));
    },
  };
  return rig;
}

/** A bearer token by the token endpoint of Document 2. */
export async function newToken(sandbox: Sandbox, credentials = sandbox.secrets.merchant): Promise<string> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
  });
  const reply = await fetch(`${sandbox.morUrl}/oauth2/token`, { method: 'POST', body: form });
  return ((await reply.json()) as { access_token: string }).access_token;
}

export async function call(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const reply = await fetch(base + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await reply.text();
  return { status: reply.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/**
 * A customer with a monthly subscription of 29.90 EUR and a custom payment method as its default, as the merchant's
 * backend makes it.
 */
export async function subscribe(
  rig: Rig,
  email: string,
  more: Partial<Stripe.SubscriptionCreateParams> = {},
): Promise<{ customer: Stripe.Customer; subscription: Stripe.Subscription; invoiceId: string }> {
  const customer = await rig.stripe.customers.create({ email, name: 'Ada Example' });
  const product = await rig.stripe.products.create({ name: 'Larch Pro' });
  const price = await rig.stripe.prices.create({
    product: product.id,
    currency: 'eur',
    unit_amount: 2990,
    recurring: { interval: 'month' },
  });
  const method = await rig.stripe.paymentMethods.create({ type: 'custom', custom: { type: 'cpmt_mor' } });
  await rig.stripe.paymentMethods.attach(method.id, { customer: customer.id });
  const subscription = await rig.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: price.id }],
    default_payment_method: method.id,
    payment_behavior: 'default_incomplete',
    ...more,
  });
  return { customer, subscription, invoiceId: idOf(subscription.latest_invoice) };
}

/** The id of a new renewal invoice of this subscription. */
export async function renewed(rig: Rig, subscription: string): Promise<string> {
  return String((await rig.control('POST', '/stripe/renew', { subscription })).body['id']);
}

export function idOf(value: string | { id: string } | null): string {
  if (value === null) throw new Error('expected an id');
  return typeof value === 'string' ? value : value.id;
}

/** Reports a guaranteed payment as the bridge does. */
export function report(rig: Rig, amount: number, reference: string, key?: string): Promise<Stripe.PaymentRecord> {
  return rig.stripe.paymentRecords.reportPayment(
    {
      amount_requested: { value: amount, currency: 'eur' },
      initiated_at: 1_793_491_200,
      payment_method_details: { type: 'custom', custom: { display_name: 'Card' } },
      outcome: 'guaranteed',
      guaranteed: { guaranteed_at: 1_793_491_200 },
      processor_details: { type: 'custom', custom: { payment_reference: reference } },
      metadata: { payment_id: 'pay_1' },
    },
    key === undefined ? {} : { idempotencyKey: key },
  );
}

/** A started sandbox for each test. */
export function rigForEach(use: (rig: Rig) => unknown): void {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig();
    await use(rig);
  });
  afterEach(() => rig.close());
}

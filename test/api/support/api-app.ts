// The API over real HTTP on a real PostgreSQL, with the real services; only Stripe, the MoR and the passing of time are ours.
import { afterAll, beforeAll } from '@jest/globals';
import { notificationWebhooks } from '../../../src/features/notifications/notification.schema.js';
import { type AddressInfo } from 'node:net';
import { type NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AppModule } from '../../../src/app.module.js';
import { configureHttp } from '../../../src/frames/api/http.js';
import { Readiness } from '../../../src/core/health/readiness.js';
import { loadConfig } from '../../../src/shared/config/index.js';
import { BillingPlatform, type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { Clock } from '../../../src/shared/domain/ports/clock.js';
import { Inbox } from '../../../src/shared/domain/ports/inbox.js';
import { LaneRepository } from '../../../src/engine/lane.repository.js';
import { PaymentGateway } from '../../../src/shared/domain/ports/payment-gateway.js';
import { WorkLaneService } from '../../../src/engine/work-lane.service.js';
import { createLogger, Metrics } from '../../../src/shared/observe/index.js';
import { Database } from '../../../src/frames/store/database.js';
import { SystemClock } from '../../../src/engine/system-ports.js';
import { freshDatabase, type TestDatabase } from '../../support/rigs/database.js';
import { FakePaymentGateway } from '../../support/fakes/fake-mor.js';
import { FakeBillingPlatform } from '../../support/fakes/fake-platform.js';

export const KEYS = {
  read: 'read-key-0123456789abcdef0123456789abcdef',
  signup: 'signup-key-0123456789abcdef0123456789abcd',
  ops: 'ops-key-0123456789abcdef0123456789abcdef0',
} as const;
export type Role = keyof typeof KEYS;

const peer = 'http://127.0.0.1:9'; // nothing listens there, and nothing should go out
const ENVIRONMENT = {
  NODE_ENV: 'test',
  API_KEYS: (['read', 'signup', 'ops'] as const).map((role) => `${role}-name:${role}:${KEYS[role]}`).join(','),
  STRIPE_API_KEY: 'sk_test_0123456789abcdef',
  STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
  STRIPE_API_BASE: peer,
  MOR_BASE_URL: peer,
  MOR_AUTH_URL: peer,
  MOR_CLIENT_ID: 'client',
  MOR_CLIENT_SECRET: 'client-secret-0123456789',
  MOR_PAYMENT_WEBHOOK_SECRETS: 'mor-secret-0123456789',
  SIGNUP_CHARGE_CHECK: 'off',
};

/** Real time without waits: a sleep moves the time. A deadline, open to a cancel, stays real. */
export class HurriedClock extends Clock {
  #ahead = 0;

  override now(): Date {
    return new Date(Date.now() + this.#ahead);
  }

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal !== undefined) return new SystemClock().sleep(ms, signal);
    this.#ahead += ms;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export type Reply = { status: number; headers: Headers; text: string; json: Record<string, unknown> };

type Asked = { role?: Role | null; body?: unknown; raw?: string; headers?: Record<string, string> };

export class ApiApp {
  private constructor(
    readonly app: NestExpressApplication,
    readonly url: string,
    readonly db: Database,
    readonly mor: FakePaymentGateway,
    readonly stripe: FakeBillingPlatform,
  ) {}

  static async start(
    databaseUrl: string,
    mor = new FakePaymentGateway(new SystemClock()),
    stripe = new FakeBillingPlatform(new SystemClock()),
    clock: Clock = new SystemClock(),
  ): Promise<ApiApp> {
    const db = await Database.open({ url: databaseUrl, poolSize: 6, onError: () => undefined });
    const config = loadConfig({ ...ENVIRONMENT, DATABASE_URL: databaseUrl });
    const log = createLogger({ level: 'error', secrets: [], pretty: false });
    const metrics = new Metrics({ eventTypes: [], now: () => new Date() });
    const parts = await Test.createTestingModule({ imports: [AppModule.of({ config, db, log, metrics })] })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(PaymentGateway)
      .useValue(mor)
      .overrideProvider(BillingPlatform)
      .useValue(stripe)
      .compile();
    const app = parts.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
    configureHttp(app, notificationWebhooks());
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    app.get(Readiness).set(true, 'ready');
    return new ApiApp(app, `http://127.0.0.1:${port}`, db, mor, stripe);
  }

  async call(method: string, path: string, asked: Asked = {}): Promise<Reply> {
    const { role = 'ops', body, raw, headers = {} } = asked;
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const res = await fetch(this.url + path, {
      method,
      headers: {
        ...(role === null ? {} : { authorization: `Bearer ${KEYS[role]}` }),
        ...(content === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const text = await res.text();
    const isJson = (res.headers.get('content-type') ?? '').includes('json');
    return {
      status: res.status,
      headers: res.headers,
      text,
      json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  }

  /** Works every due lane, until none is left. */
  async work(): Promise<void> {
    const repository = this.app.get(LaneRepository);
    for (;;) {
      const claims = await repository.claim('test', 10, 25_000);
      if (claims.length === 0) return;
      for (const claim of claims) await this.app.get(WorkLaneService).run(claim, new AbortController().signal);
    }
  }

  /** Works until the answer is there. */
  async working<T>(pending: Promise<T>): Promise<T> {
    let done = false;
    const end = pending.finally(() => (done = true));
    while (!done) {
      await this.work();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return end;
  }

  /** A renewal the MoR was paid for, with its mark on the invoice. */
  async paidRenewal(
    count: string | number,
    amount = 4999,
  ): Promise<{ invoiceId: string; paymentId: string; customerId: string }> {
    const [invoiceId, paymentId, customerId] = [`in_${count}`, `pay_${count}`, `cus_${count}`];
    this.stripe.put(anInvoice(invoiceId, customerId, BigInt(amount)));
    await this.deliver({
      id: `evt_${count}`,
      type: 'payment.succeeded',
      created: 1_794_009_630,
      data: {
        object: {
          payment_id: paymentId,
          merchant_invoice_id: invoiceId,
          merchant_customer_id: customerId,
          processor_charge_id: `ch_${count}`,
          processor_payment_intent_id: `pi_${count}`,
          amount,
          currency: 'eur',
          status: 'succeeded',
          customer_email: 'ada@example.com',
        },
      },
    });
    return { invoiceId, paymentId, customerId };
  }

  /** Stores an event of the MoR like its webhook endpoint, and works its consequences. */
  async deliver(event: {
    id: string;
    type: string;
    created: number;
    data: { object: { merchant_invoice_id: string; [field: string]: unknown } };
  }): Promise<void> {
    const { payment_id: paymentId, amount } = event.data.object;
    if (event.type === 'payment.succeeded' && typeof paymentId === 'string' && typeof amount === 'number')
      this.mor.payments.set(paymentId, { minor: BigInt(amount), currency: 'EUR', refunded: 0n });
    await this.app.get(Inbox).store([
      {
        source: 'mor_payments',
        eventId: event.id,
        type: event.type,
        lane: event.data.object.merchant_invoice_id,
        body: Buffer.from(JSON.stringify(event)),
        status: 'received',
        reason: null,
        receivedAt: this.app.get(Clock).now(),
      },
    ]);
    await this.work();
  }

  async stop(): Promise<void> {
    await this.app.close();
  }
}

export function anInvoice(invoiceId: string, customerId: string, amountDue: bigint): InvoiceFacts {
  return {
    invoiceId,
    customerId,
    customerCountry: null,
    status: 'open',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue,
    amountPaid: 0n,
    amountRemaining: amountDue,
    amountOverpaid: 0n,
    total: amountDue,
    subscriptionId: 'sub_1',
    collectionMethod: 'charge_automatically',
    createdAt: new Date('2026-11-20T11:00:00Z'),
    finalizationError: null,
    number: null,
    finalizesAt: null,
  };
}

export { freshDatabase };

/** One API for all tests; `use` takes it and prepares it. */
export function apiForAll(use: (api: ApiApp, databaseUrl: string) => unknown): void {
  let database: TestDatabase;
  let api: ApiApp;
  beforeAll(async () => {
    database = await freshDatabase();
    api = await ApiApp.start(database.url);
    await use(api, database.url);
  });
  afterAll(async () => {
    await api?.stop();
    await database?.drop();
  });
}

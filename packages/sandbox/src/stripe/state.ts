// The Stripe side's objects and events. Stripe creates each event one time, lists it for thirty days, and delivers it
// to every endpoint with a signature.
import { type Endpoint } from '../kernel/deliveries.js';
import { type SandboxRequest } from '../kernel/http.js';
import { type JsonObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { stripeSchedule } from '../kernel/schedules.js';
import {
  type Charge,
  type CreditNote,
  type Customer,
  type Invoice,
  type InvoicePayment,
  type PaymentMethod,
  type PaymentRecord,
  type Price,
  type Product,
  type StripeRefund,
  type Subscription,
  type TestClock,
} from './model.js';
import { API_VERSION } from './render.js';
import { renderInvoice } from './render-invoice.js';

export type StripeEvent = {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly body: Buffer; // as delivered
  readonly pending: Set<string>; // endpoints that have not answered 2xx yet
  readonly request: { id: string | null; key: string | null };
};

export type WebhookEndpoint = {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  events: readonly string[]; // `*` means all
  readonly apiVersion: string;
  readonly created: number;
  /** True: somebody, or Stripe after days of failures, switched the endpoint off. It gets no event. */
  disabled: boolean;
  deleted: boolean;
};

export type PendingItem = {
  readonly id: string;
  readonly customer: string;
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
};

const KEPT_EVENTS = 60_000;

export class StripeState {
  readonly apiKey: string;
  readonly accountId: string;
  readonly customers = new Map<string, Customer>();
  readonly testClocks = new Map<string, TestClock>();
  readonly products = new Map<string, Product>();
  readonly prices = new Map<string, Price>();
  readonly paymentMethods = new Map<string, PaymentMethod>();
  readonly subscriptions = new Map<string, Subscription>();
  readonly invoices = new Map<string, Invoice>();
  readonly invoicePayments = new Map<string, InvoicePayment>();
  readonly records = new Map<string, PaymentRecord>();
  readonly refundReferences = new Set<string>();
  readonly charges = new Map<string, Charge>();
  readonly refunds = new Map<string, StripeRefund>();
  readonly creditNotes = new Map<string, CreditNote>();
  readonly pendingItems = new Map<string, PendingItem>();
  readonly endpoints = new Map<string, WebhookEndpoint>();
  events: StripeEvent[] = []; // oldest first
  /** When each draft finalizes automatically, by invoice id. */
  readonly finalizesAt = new Map<string, number>();
  /** Receivers called without HTTP. The MoR is such a receiver: its endpoint is on the merchant's Stripe account. */
  readonly listeners: ((type: string, object: JsonObject, eventId: string) => void)[] = [];
  /** Called when an endpoint answers an `invoice.created` with 2xx. */
  onCreatedAnswered: (invoiceId: string, endpointId: string) => void = () => undefined;
  private invoiceNumber = 0;
  private creditNoteNumber = 0;
  /** The current request, for the `request` field of events. Null: there is none. */
  currentRequest: SandboxRequest | null = null;
  /** The test clock whose time applies now; null: the account's own time. */
  private workingFor: TestClock | null = null;

  constructor(readonly kernel: Kernel) {
    this.apiKey = kernel.secret('stripe-key', 'sk_test_');
    this.accountId = `acct_${kernel.secret('stripe-account').slice(0, 16)}`;
  }

  /** Unix seconds of the account, or of the current customer's test clock. */
  get now(): number {
    return (this.workingFor?.timers ?? this.kernel.clock).nowSec();
  }

  /** Runs `run` in the time of this customer's clock. */
  during<T>(customer: string, run: () => T): T {
    const before = this.workingFor;
    this.workingFor = this.clockOf(customer);
    try {
      return run();
    } finally {
      this.workingFor = before;
    }
  }

  /** From now on the current request uses the time of this customer's clock. */
  enter(customer: string): void {
    if (this.currentRequest !== null) this.workingFor = this.clockOf(customer);
  }

  endOfRequest(): void {
    this.currentRequest = null;
    this.workingFor = null;
  }

  /** Runs `run` when this customer's clock reaches `sec`, in the time of that clock. */
  at(customer: string, sec: number, label: string, run: () => void): void {
    const timers = this.clockOf(customer)?.timers ?? this.kernel.clock;
    timers.at(sec * 1000, label, () => this.during(customer, run));
  }

  private clockOf(customer: string): TestClock | null {
    return this.testClocks.get(this.customers.get(customer)?.testClock ?? '') ?? null;
  }

  id(prefix: string): string {
    return this.kernel.random.id(prefix, prefix === 'cus' || prefix === 'prod' ? 14 : 24);
  }

  nextInvoiceNumber(): string {
    this.invoiceNumber += 1;
    return `SANDBOX-${String(this.invoiceNumber).padStart(6, '0')}`;
  }

  nextCreditNoteNumber(): string {
    this.creditNoteNumber += 1;
    return `SANDBOX-CN-${String(this.creditNoteNumber).padStart(5, '0')}`;
  }

  /** Finds the customer of an object. The sandbox keeps all customers, deleted ones included. */
  customer(id: string): Customer {
    const customer = this.customers.get(id);
    if (customer === undefined) throw new Error(`no customer ${id}`);
    return customer;
  }

  addEndpoint(
    url: string,
    secret: string,
    events: readonly string[] = ['*'],
    apiVersion = API_VERSION,
  ): WebhookEndpoint {
    const made = { id: this.id('we'), created: this.now, disabled: false, deleted: false };
    const endpoint: WebhookEndpoint = { ...made, url, secret, events, apiVersion };
    this.endpoints.set(endpoint.id, endpoint);
    return endpoint;
  }

  invoiceBody(invoice: Invoice, expand?: ReadonlySet<string>): JsonObject {
    const subscription = invoice.subscription === null ? undefined : this.subscriptions.get(invoice.subscription);
    const finalizesAt = this.finalizesAt.get(invoice.id) ?? null;
    return renderInvoice(invoice, finalizesAt, subscription?.metadata ?? {}, expand);
  }

  emitInvoice(type: string, invoice: Invoice): void {
    this.emit(type, this.invoiceBody(invoice));
  }

  /** Creates an event, calls the listeners and starts the deliveries. */
  emit(type: string, object: JsonObject): StripeEvent {
    const targets = [...this.endpoints.values()].filter((e) => !e.deleted && !e.disabled && wants(e.events, type));
    const request = { id: this.currentRequest?.id ?? null, key: this.currentRequest?.idempotencyKey ?? null };
    const id = this.id('evt');
    const created = this.now;
    const body = {
      id,
      object: 'event',
      api_version: API_VERSION,
      created,
      data: { object },
      livemode: false,
      pending_webhooks: targets.length,
      request: { id: request.id, idempotency_key: request.key },
      type,
    };
    const event: StripeEvent = {
      id,
      type,
      created,
      body: Buffer.from(JSON.stringify(body)),
      pending: new Set(targets.map((t) => t.id)),
      request,
    };
    this.events.push(event);
    if (this.events.length > KEPT_EVENTS * 1.2) this.events = this.events.slice(-KEPT_EVENTS);
    const objectId = typeof object['id'] === 'string' ? object['id'] : '';
    if (type === 'invoice.created') for (const t of targets) this.invoices.get(objectId)?.unanswered.add(t.id);
    for (const target of targets) this.deliver(event, target, objectId);
    for (const listener of this.listeners) listener(type, object, id);
    return event;
  }

  private deliver(event: StripeEvent, target: WebhookEndpoint, objectId: string): void {
    const endpoint: Endpoint = {
      id: target.id,
      url: target.url,
      secret: target.secret,
      header: 'Stripe-Signature',
      side: 'stripe',
      schedule: stripeSchedule,
      active: () => !target.deleted && !target.disabled,
      disable: () => (target.disabled = true),
    };
    this.kernel.deliverer.send(endpoint, {
      id: event.id,
      type: event.type,
      body: event.body,
      onAttempt: (status) => {
        if (status === null || status < 200 || status > 299) return;
        event.pending.delete(target.id);
        if (event.type === 'invoice.created') this.onCreatedAnswered(objectId, target.id);
      },
    });
  }
}

function wants(events: readonly string[], type: string): boolean {
  return events.some((e) => e === '*' || e === type);
}

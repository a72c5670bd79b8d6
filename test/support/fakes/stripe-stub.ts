// A bare node:http server that sends Stripe's replies one by one, and keeps the requests byte for byte.
import http from 'node:http';
import { afterEach } from '@jest/globals';
import { type AddressInfo } from 'node:net';
import { type BillingCall, type StoredBillingCall } from '../../../src/shared/domain/ports/billing-platform.js';
import { InMemoryRequestBudget } from './request-budget.js';
import { StripeBillingPlatform } from '../../../src/frames/stripe/stripe-billing-platform.js';
import { StripeBillingReader } from '../../../src/frames/stripe/stripe-billing-reader.js';
import { StripeClient } from '../../../src/frames/stripe/stripe-client.js';
import { type CallReport } from '../../../src/frames/stripe/stripe-options.js';

export const API_KEY = 'sk_test_canary0123456789canary';

export type Seen = { method: string; path: string; headers: http.IncomingHttpHeaders; body: string };
export type Reply = (response: http.ServerResponse, seen: Seen) => void;

/** A reply with a JSON body. */
export function reply(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function refusal(status: number, error: Record<string, unknown>, headers: Record<string, string> = {}): Reply {
  return reply(status, { error: { type: 'invalid_request_error', ...error } }, headers);
}

export function text(status: number, body: string): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/html', 'request-id': 'req_1' });
    response.end(body);
  };
}

/** Call it at the top of a test file. Returns a function that starts a stub; the stub stops after its test. */
export function stubs() {
  let stop: (() => Promise<void>) | null = null;
  afterEach(async () => {
    await stop?.();
    stop = null;
  });
  return async (...replies: Reply[]) => {
    const started = await startStub(...replies);
    stop = started.close;
    return started;
  };
}

/** The invoice of 29.90 EUR when it is paid. */
export const paidInvoice = (change = {}) =>
  anInvoice({ status: 'paid', amount_paid: 2990, amount_remaining: 0, ...change });

/** Starts a stub with its replies, in order. A request too many gets 599. */
export async function startStub(...replies: Reply[]) {
  const seen: Seen[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      (replies.shift() ?? reply(599, {}))(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as AddressInfo).port;
  const base = `http://127.0.0.1:${port}`;
  const adapter = adapterFor(base);
  const close = async (): Promise<void> => {
    adapter.client.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  /** Closes all sockets, as a peer does with idle ones. */
  const closeSockets = (): void => server.closeAllConnections();
  return { ...adapter, base, seen, close, closeSockets, more: (...next: Reply[]) => replies.push(...next) } as const;
}

/** The adapter for any base URL. Keeps everything it logs. */
export function adapterFor(apiBase: string, options: { timeoutMs?: number; cpmt?: string; apiKey?: string } = {}) {
  const budget = new InMemoryRequestBudget();
  const reports: CallReport[] = [];
  const client = new StripeClient(
    {
      apiKey: options.apiKey ?? API_KEY,
      apiBase,
      customPaymentMethodType: options.cpmt ?? null,
      timeoutMs: options.timeoutMs ?? 2000,
      onCall: (report) => reports.push(report),
    },
    budget,
  );
  const platform = new StripeBillingPlatform(client, options.cpmt ?? null);
  return { client, platform, reader: new StripeBillingReader(client), budget, reports };
}

/** A call as the outbox stores it. */
export function stored(
  platform: StripeBillingPlatform,
  call: BillingCall,
  key = `key-${call.kind}`,
): StoredBillingCall {
  return { asked: call, key, wire: platform.encode(call) };
}

export function anInvoice(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'in_1',
    object: 'invoice',
    customer: 'cus_1',
    status: 'open',
    billing_reason: 'subscription_cycle',
    currency: 'eur',
    amount_due: 2990,
    amount_paid: 0,
    amount_remaining: 2990,
    total: 2990,
    collection_method: 'charge_automatically',
    created: 1793491200,
    livemode: false,
    metadata: {},
    parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1' } },
    ...change,
  };
}

export function payments(
  ...records: { record?: string; status?: string; minor?: number | null; payment?: Record<string, unknown> }[]
): Record<string, unknown> {
  const data = records.map(({ record, status, minor, payment }, index) => ({
    id: `inpay_${index}`,
    object: 'invoice_payment',
    status: status ?? 'paid',
    amount_paid: minor === undefined ? 2990 : minor,
    payment:
      payment ??
      (record === undefined
        ? { type: 'payment_intent', payment_intent: 'pi_1' }
        : { type: 'payment_record', payment_record: record }),
  }));
  return { object: 'list', data, has_more: false };
}

export function aRecord(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'pr_1',
    object: 'payment_record',
    created: 1793491300,
    amount_requested: { value: 2990, currency: 'eur' },
    amount_guaranteed: { value: 2990, currency: 'eur' },
    amount_refunded: { value: 0, currency: 'eur' },
    customer_details: { customer: 'cus_1' },
    processor_details: { type: 'custom', custom: { payment_reference: 'ch_psp_1' } },
    metadata: { crossbill: '1', payment_id: 'pay_1', invoice_id: 'in_1' },
    ...change,
  };
}

export function aNote(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: 'cn_1',
    object: 'credit_note',
    invoice: 'in_1',
    status: 'issued',
    amount: 1000,
    currency: 'eur',
    created: 1793492000,
    refunds: [],
    metadata: { crossbill: '1', refund_id: 'rf_1' },
    ...change,
  };
}

export function aList(...data: unknown[]): Record<string, unknown> {
  return { object: 'list', data, has_more: false };
}

const EUR = (minor: bigint) => ({ minor, currency: 'EUR' });

export const calls = {
  finalize: { kind: 'finalize_invoice', invoiceId: 'in_1' },
  report: {
    kind: 'report_payment',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    paymentId: 'pay_1',
    amount: EUR(2990n),
    reference: 'ch_psp_1',
    initiatedAt: new Date('2026-11-01T00:00:05.900Z'),
    guaranteedAt: new Date('2026-11-01T00:00:09.100Z'),
    presence: 'off_session',
  },
  attach: { kind: 'attach_payment', invoiceId: 'in_1', paymentRecordId: 'pr_1' },
  reference: { kind: 'set_reference', invoiceId: 'in_1', paymentId: 'pay_1', reference: 'ch_psp_1' },
  pay: { kind: 'pay_out_of_band', invoiceId: 'in_1' },
  refund: {
    kind: 'report_refund',
    invoiceId: 'in_1',
    paymentRecordId: 'pr_1',
    refundId: 'rf_1',
    reference: 're_psp_1',
    amount: EUR(1000n),
    refundedAt: new Date('2026-11-02T00:00:00Z'),
  },
  note: {
    kind: 'issue_credit_note',
    invoiceId: 'in_1',
    refundId: 'rf_1',
    amount: EUR(1000n),
    refunded: { paymentRecordId: 'pr_1', reference: 're_psp_1' },
  },
} as const satisfies Record<string, BillingCall>;

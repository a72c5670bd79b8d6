// Every fault of one call, for every call of a mark, of a refund's mirror and at the MoR: each effect happens once.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, type Subscriber, type World, useWorld } from '../support/rigs/world.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  refund,
  requestsOf,
  reviews,
  type Said,
  stripeSide,
  tellSucceeded,
  untilPayment,
  chargeByMor,
} from './support/story.js';

/** The possible faults of one request, in the words of the sandbox. */
const FAULTS: readonly Json[] = [
  { action: 'drop_before', times: 2 },
  { action: 'drop_after', times: 2 },
  { action: 'status', status: 500 },
  { action: 'status', status: 429, headers: { 'retry-after': '1' } },
  { action: 'status', status: 409, code: 'idempotency_key_in_use' },
  { action: 'status_after', status: 500, times: 2 },
  { action: 'status_after', status: 503 },
  { action: 'garble', times: 2 },
  { action: 'duplicate' },
  { action: { delay_ms: 400 } },
];

/** The calls of a mark and of a refund's mirror. */
const MARK_CALLS: Record<string, readonly string[]> = {
  payment_record: [
    'GET /v1/invoices/in_*',
    'POST /v1/payment_records/report_payment',
    'POST /v1/invoices/*/attach_payment',
  ],
  out_of_band: ['GET /v1/invoices/in_*', 'POST /v1/invoices/in_*', 'POST /v1/invoices/*/pay'],
};
const MIRROR_CALLS: Record<string, readonly string[]> = {
  payment_record: ['POST /v1/payment_records/*/report_refund', 'POST /v1/credit_notes'],
  out_of_band: ['POST /v1/credit_notes'],
};

/** Each request of the kind meets the next of these faults, to the last. */
async function set(world: World, side: 'stripe' | 'mor', call: string, rules: readonly Json[]): Promise<void> {
  const [method = '', path = ''] = call.split(' ');
  await world.control('DELETE', '/faults');
  for (const rule of rules) {
    const added = await world.fault({ side, method, path, ...rule });
    expect(added.status).toBe(201);
  }
}

async function allWereMet(world: World): Promise<void> {
  const { body } = await world.control('GET', '/faults');
  expect((body['data'] as Json[]).filter((f) => f['hits'] === 0)).toEqual([]);
}

describe.each(['payment_record', 'out_of_band'])('a mark by %s and the mirror of its refund', (mode) => {
  const world = useWorld({ BILLING_MARK_MODE: mode });
  let s: Subscriber;
  beforeAll(async () => {
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  const charged = async (invoiceId: string) => ({ invoiceId, ...(await chargeByMor(world, s, invoiceId, 1000)) });
  async function paidOnce(invoiceId: string): Promise<void> {
    await world.invoice(invoiceId, 'paid');
    const side = await stripeSide(world, invoiceId);
    expect([side.status, side.amountPaid]).toEqual(['paid', 1000]);
    expect([side.records.length, side.attached.length]).toEqual(mode === 'payment_record' ? [1, 1] : [0, 0]);
    expect(await reviews(world, invoiceId)).toEqual([]);
  }

  /** One key, one body, for ever. */
  async function oneBodyPerKey(): Promise<void> {
    const bodies = new Map<string, string>();
    for (const r of await requestsOf(world, 'side=stripe&method=POST')) {
      const key = String(r['idempotency_key']);
      if (!key.startsWith('crossbill:')) continue;
      const body = JSON.stringify(r['body']);
      expect([key, bodies.get(key) ?? body]).toEqual([key, body]);
      bodies.set(key, body);
    }
    expect(bodies.size).toBeGreaterThan(0);
  }

  // As many invoices at once as there are faults: each meets one or more of them.
  it.each(MARK_CALLS[mode] ?? [])(
    'Crossbill marks each invoice paid once, whatever fault the Stripe request %s meets',
    async (call) => {
      const invoices = await Promise.all(FAULTS.map(() => openRenewal(world, s)));
      await set(world, 'stripe', call, FAULTS);
      const said = (invoiceId: string): Said => ({ customerId: s.customerId, invoiceId, amount: 1000 });
      await Promise.all(invoices.map((invoiceId) => tellSucceeded(world, newPaid(), said(invoiceId))));
      for (const invoiceId of invoices) await paidOnce(invoiceId);
      await allWereMet(world);
      await oneBodyPerKey();
    },
  );

  it.each(MIRROR_CALLS[mode] ?? [])(
    'Crossbill mirrors each refund to Stripe once, whatever fault the Stripe request %s meets',
    async (call) => {
      const invoices = await Promise.all(FAULTS.map(() => openRenewal(world, s)));
      const payments = await Promise.all(invoices.map(charged));
      for (const invoiceId of invoices) await world.invoice(invoiceId, 'paid');
      await set(world, 'stripe', call, FAULTS);
      const made = await Promise.all(payments.map((p) => refund(world, p.paymentId, { amount: 250 })));
      expect(made.map((m) => m.body['status'])).toEqual(made.map(() => 'succeeded'));
      for (const p of payments) {
        const shown = await untilPayment(world, p.paymentId, (row) =>
          (row['refunds'] as Json[]).every((r) => r['mirror'] === 'done'),
        );
        expect(shown['amount_refunded']).toBe(250);
        const side = await stripeSide(world, p.invoiceId);
        expect([side.notes, side.refundReferences.length]).toEqual([[250], mode === 'payment_record' ? 1 : 0]);
        expect(await reviews(world, p.invoiceId)).toEqual([]);
      }
      await allWereMet(world);
      await oneBodyPerKey();
    },
  );

  it("an invoice's timeline lists events, decisions and calls in order, with the request id of each call", async () => {
    await world.control('DELETE', '/faults');
    const invoiceId = await openRenewal(world, s);
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 1000 });
    const { timeline } = (await world.invoice(invoiceId, 'paid')) as { timeline: Json[] };
    const texts = timeline.map(({ kind, text, detail }) => {
      const { type, call, status } = (detail ?? {}) as { type?: string; call?: string; status?: number };
      const done = call === undefined ? undefined : `${call} ${String(status)}`;
      return `${String(kind)}: ${type ?? done ?? String(text)}`;
    });
    const at = (what: RegExp): number => texts.findIndex((t) => what.test(t));
    const steps = [
      /^event: invoice\.created/,
      /^event: payment\.succeeded/,
      /^call: read_invoice 200/,
      /^decision: Mark paid/,
      mode === 'payment_record' ? /^call: report_payment 200/ : /^call: set_reference 200/,
      mode === 'payment_record' ? /^call: attach_payment 200/ : /^call: pay_out_of_band 200/,
      /^decision: Payment .* is marked/,
    ].map(at);
    expect(steps).not.toContain(-1);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    const times = timeline.map((l) => String(l['at']));
    expect(times).toEqual(times.toSorted());
    const known = new Set((await requestsOf(world, 'side=stripe')).map((r) => r['id']));
    for (const line of timeline.filter((l) => l['kind'] === 'call')) {
      expect(known).toContain((line['detail'] as Json)['requestId']);
    }
  });
});

describe('calls at the MoR', () => {
  const world = useWorld();
  let s: Subscriber;
  beforeAll(async () => {
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  it("Crossbill makes one refund and one credit note under every fault of the MoR's refund call", async () => {
    const faults = [
      ...FAULTS.filter((f) => f['status'] !== 409), // to the MoR this is another body under the same key
      { action: 'status', status: 401 },
      { action: 'status', status: 503 },
    ];
    const invoices = await Promise.all(faults.map(() => openRenewal(world, s)));
    const payments = await Promise.all(
      invoices.map(async (invoiceId) => ({ invoiceId, ...(await chargeByMor(world, s, invoiceId, 1000)) })),
    );
    for (const invoiceId of invoices) await world.invoice(invoiceId, 'paid');
    await set(world, 'mor', 'POST /api/payments/*/refund', faults);
    const asked = await Promise.all(
      payments.map((p) => refund(world, p.paymentId, { amount: 250, reason: 'requested_by_customer' })),
    );
    for (const a of asked) expect([201, 202]).toContain(a.status);
    for (const p of payments) {
      await untilPayment(world, p.paymentId, (row) =>
        (row['refunds'] as Json[]).every((r) => r['status'] === 'succeeded' && r['mirror'] === 'done'),
      );
      const there = await world.control('GET', `/mor/refunds?payment=${p.paymentId}`);
      expect(there.body['data']).toMatchObject([{ amount: 250, status: 'succeeded' }]);
      const side = await stripeSide(world, p.invoiceId);
      expect([side.notes, side.refundReferences.length]).toEqual([[250], 1]);
      const sent = await requestsOf(world, `side=mor&path=/api/payments/${p.paymentId}/refund`);
      expect(new Set(sent.map((r) => r['idempotency_key'])).size).toBe(1);
      expect(new Set(sent.map((r) => JSON.stringify(r['body']))).size).toBe(1);
      expect(await reviews(world, p.invoiceId)).toEqual([]);
    }
    await allWereMet(world);
  });

  it('when the MoR repeats its failed webhook deliveries, Crossbill marks the invoice paid once', async () => {
    const invoiceId = await openRenewal(world, s);
    await world.fault({ target: 'deliveries', type: 'payment.succeeded', times: 3, action: 'fail' });
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 1000 });
    for (let i = 0; i < 4; i++) await world.advance(100);
    await world.invoice(invoiceId, 'paid');
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });
});

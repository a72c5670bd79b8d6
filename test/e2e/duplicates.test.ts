// The same thing told twice, fifty times, under other names or by two daemons at once: every effect happens once.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, startWorld, type Subscriber, type World } from '../support/world.js';
import { deliver, eventStatus } from './support/door.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  paymentObject,
  refund,
  requestsOf,
  reviews,
  stripeSide,
  takenByMor,
  tell,
  tellRefunded,
  tellSucceeded,
  untilPayment,
  untilReviews,
} from './support/story.js';

describe('deliveries and payments that come more than once', () => {
  let world: World;
  let s: Subscriber;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    await world.startDaemon();
    s = await world.subscriber({ amount: 1000 });
    await world.invoice(s.firstInvoiceId, 'paid');
    await deafMor(world);
  });
  afterAll(() => world.close());

  it('one delivery fifty times at once at two daemons is one event, one payment and one mark', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    const body = JSON.stringify({
      id: 'evt_fifty',
      type: 'payment.succeeded',
      created: Math.floor(Date.now() / 1000),
      data: { object: paymentObject(paid, 'succeeded', said) },
    });
    const bases = world.daemons.map((d) => d.url);
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, i) => deliver(world, 'mor_payments', body, { base: bases[i % 2] ?? '' })),
    );
    expect(sent.map((x) => x.status)).toEqual(sent.map(() => 200));
    await world.invoice(invoiceId, 'paid');
    const events = await world.api<{ data: Json[] }>('GET', '/v1/events?event_id=evt_fifty');
    expect(events.body.data).toMatchObject([{ status: 'done' }]);
    const side = await stripeSide(world, invoiceId);
    expect(side).toMatchObject({ status: 'paid', amountPaid: 1000 });
    expect(side.records).toHaveLength(1);
    expect(side.attached).toEqual(side.records);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('the same payment under new event ids is marked once', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    const first = await tellSucceeded(world, paid, said);
    await world.invoice(invoiceId, 'paid');
    const again = await Promise.all([1, 2, 3].map(() => tellSucceeded(world, paid, said)));
    for (const id of [first, ...again]) expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
    const side = await stripeSide(world, invoiceId);
    expect([side.records.length, side.attached.length]).toEqual([1, 1]);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('the same payment with another amount is not applied and shown to a person', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 1000 });
    await world.invoice(invoiceId, 'paid');
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 2000 });
    await untilReviews(world, invoiceId, ['conflicting_event']);
    expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body).toMatchObject({ amount: 1000 });
  });

  it('one payment id named for two invoices stays with the first', async () => {
    const one = await openRenewal(world, s);
    const other = await openRenewal(world, s);
    const paid = newPaid();
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId: one, amount: 1000 });
    await world.invoice(one, 'paid');
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId: other, amount: 1000 });
    await untilReviews(world, other, ['conflicting_event']);
    expect(await stripeSide(world, other)).toMatchObject({ status: 'open', records: [], attached: [] });
  });

  it('evt_X, evt_issued_X and evt_issuance_failed_X are three events', async () => {
    for (const id of ['evt_X', 'evt_issued_X', 'evt_issuance_failed_X', 'EVT_X', 'evt_X ']) {
      const body = JSON.stringify({ id, type: 'report.available', created: 1_790_000_000, data: {} });
      expect((await deliver(world, 'mor_events', body)).status).toBe(200);
    }
    const page = await world.api<{ data: Json[] }>('GET', '/v1/events?type=report.available');
    expect(page.body.data.map((e) => e['event_id'])).toHaveLength(
      new Set(page.body.data.map((e) => e['event_id'])).size,
    );
    expect(page.body.data.length).toBeGreaterThanOrEqual(4);
  });

  it('two payments for one invoice: one mark, one item, and the refund of the second closes it', async () => {
    const invoiceId = await openRenewal(world, s);
    const first = takenByMor(world, s, invoiceId, 1000);
    const second = takenByMor(world, s, invoiceId, 1000);
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    await Promise.all([tellSucceeded(world, first, said), tellSucceeded(world, second, said)]);
    const [item] = await untilReviews(world, invoiceId, ['double_payment']);
    await world.invoice(invoiceId, 'paid'); // the second is held as soon as the first is being marked
    const side = await stripeSide(world, invoiceId);
    expect([side.status, side.records.length, side.attached.length]).toEqual(['paid', 1, 1]);
    expect(item?.['proposal']).toEqual(expect.stringContaining('Refund'));
    const extra = String(item?.['payment_id']);
    expect([first.paymentId, second.paymentId]).toContain(extra);

    const path = `/v1/reviews/${String(item?.['id'])}/resolve`;
    expect((await world.api('POST', path, { resolution: 'apply', note: 'no' })).status).toBe(409);
    const resolved = await world.api('POST', path, { resolution: 'refund', note: 'taken twice' });
    expect(resolved).toMatchObject({ status: 200, body: { status: 'resolved' } });
    await world.api('POST', path, { resolution: 'refund', note: 'taken twice' });
    await untilPayment(world, extra, 'is refunded', (p) => p['status'] === 'refunded');
    const refunds = await world.control('GET', `/mor/refunds?payment=${extra}`);
    expect(refunds.body['data']).toMatchObject([{ amount: 1000, status: 'succeeded' }]);
    await untilReviews(world, invoiceId, []);
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'paid', notes: [], refundReferences: [] });
  });

  it('a refund told by the answer, by the webhook and by its repeats is one refund and one credit note', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = takenByMor(world, s, invoiceId, 1000);
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    await tellSucceeded(world, paid, said);
    await world.invoice(invoiceId, 'paid');
    await world.control('POST', '/faults', { target: 'deliveries', type: 'payment.refunded', action: 'duplicate' });
    const made = await refund(world, paid.paymentId, { amount: 400 });
    expect(made).toMatchObject({ status: 201, body: { amount: 400, status: 'succeeded' } });
    const refundId = String(made.body['mor_refund_id']);
    const again = paymentObject(
      paid,
      'partially_refunded',
      { ...said, amount: 400 },
      {
        refund_id: refundId,
        processor_refund_id: made.body['processor_refund_id'],
        amount_refunded_total: 400,
      },
    );
    const repeats = await Promise.all([1, 2].map(() => tell(world, 'payment.refunded', again)));
    for (const id of repeats) expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
    const after = await untilPayment(world, paid.paymentId, 'is mirrored', (p) =>
      (p['refunds'] as Json[]).every((r) => r['mirror'] === 'done'),
    );
    expect(after).toMatchObject({ amount_refunded: 400, refunds: [{ mor_refund_id: refundId }] });
    const side = await stripeSide(world, invoiceId);
    expect([side.refundReferences.length, side.notes]).toEqual([1, [400]]);
    const sent = await requestsOf(world, `side=mor&method=POST&path=/api/payments/${paid.paymentId}/refund`);
    expect(sent).toHaveLength(1);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('a refund event with another amount than recorded is kept and not applied', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    await tellSucceeded(world, paid, said);
    await world.invoice(invoiceId, 'paid');
    await tellRefunded(world, paid, { ...said, amount: 300 }, { refundId: 'rfnd_conflict', total: 300, of: 1000 });
    await untilPayment(world, paid.paymentId, 'has a refund', (p) => p['amount_refunded'] === 300);
    await tellRefunded(world, paid, { ...said, amount: 500 }, { refundId: 'rfnd_conflict', total: 500, of: 1000 });
    await world.until(
      'the conflict is shown',
      () => reviews(world, invoiceId),
      (seen) => seen.some((r) => r['kind'] === 'conflicting_event'),
    );
    expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body).toMatchObject({ amount_refunded: 300 });
  });
});

// Every payment can be refunded: one that no event of the MoR has named is named by the shop, a person, or `payment.captured`.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openInvoice } from '../support/channels.js';
import { type Json, type Reply, startWorld, type World } from '../support/world.js';
import { atPortal, PROFORMA } from './support/named.js';
import { begun, complete, confirmed, paidOnce } from './support/signups.js';
import { refund, stripeSide } from './support/story.js';

describe('every payment can be refunded', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterAll(() => world.close());

  const identify = (id: string, paymentId: string): Promise<Reply> =>
    world.api('POST', `/v1/payments/${id}/identify`, { payment_id: paymentId });

  /** A signup that is paid; `ours` is our own id of its payment. */
  async function signedUp(named: boolean): Promise<{ ours: string; paymentId: string; invoiceId: string }> {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    const done = await complete(world, b, chargeId, named ? { payment_id: paymentId } : {});
    expect(done.status).toBe(202);
    await paidOnce(world, b.invoiceId);
    return { ours: String((done.body['payment'] as Json)['id']), paymentId, invoiceId: b.invoiceId };
  }

  async function refunded(paymentId: string, invoiceId: string): Promise<void> {
    expect(await refund(world, paymentId, { amount: 990 })).toMatchObject({
      status: 201,
      body: { status: 'succeeded', payment_id: paymentId },
    });
    await world.until(
      'the refund shows on Stripe',
      () => stripeSide(world, invoiceId),
      (side) => side.notes.length === 1,
    );
  }

  it('a signup completed with payment_id is refunded by it', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(true);
    expect(ours).toBe(paymentId);
    await refunded(paymentId, invoiceId);
  });

  it('a payment that a person names is refunded; the same name again changes nothing, another is refused, and it is audited', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect(await refund(world, ours, {})).toMatchObject({ status: 409, body: { code: 'payment_not_identified' } });
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    expect(await identify(ours, 'pay_other')).toMatchObject({
      status: 409,
      body: { code: 'payment_already_identified' },
    });
    await refunded(paymentId, invoiceId);
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.identify');
    expect(audit.body.data.length).toBeGreaterThanOrEqual(3);
    // The id of one payment names no other, of whatever invoice.
    const other = await signedUp(false);
    const clash = await identify(other.ours, paymentId);
    expect(clash).toMatchObject({ status: 409, body: { code: 'payment_id_taken' } });
    expect(String(clash.body['message'])).toContain(ours);
  });

  it('an item about a payment without a name offers no refund and says how to name it; named, it is refunded there', async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    await world.stripe.invoices.voidInvoice(b.invoiceId);
    expect((await complete(world, b, chargeId)).status).toBe(202);
    const item = async (): Promise<Json | undefined> =>
      (await world.api<{ data: Json[] }>('GET', `/v1/reviews?status=open&invoice_id=${b.invoiceId}`)).body.data[0];
    const found = await world.until('a person is asked', item, (r) => r !== undefined);
    expect(found).toMatchObject({
      kind: 'invoice_not_payable',
      actions: ['retry', 'dismiss'],
      proposal: expect.stringContaining('/identify'),
    });
    const path = `/v1/reviews/${String(found?.['id'])}`;
    expect(await world.api('POST', `${path}/resolve`, { resolution: 'refund' })).toMatchObject({
      status: 409,
      body: { code: 'payment_not_identified', message: expect.stringContaining('/identify') },
    });
    expect((await identify(String(found?.['payment_id']), paymentId)).status).toBe(200);
    const named = await item();
    expect(named).toMatchObject({ actions: ['refund', 'retry', 'dismiss'] });
    expect(String(named?.['proposal'])).not.toContain('/identify');
    expect((await world.api('POST', `${path}/resolve`, { resolution: 'refund' })).status).toBe(200);
    await world.until(
      'it is given back',
      () => world.api('GET', `/v1/payments/${paymentId}`),
      (p) => p.body['amount_refunded'] === 2990,
    );
  });

  it('a name that the MoR does not know is its 404, and is taken back so that the right one can be given', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect((await identify(ours, 'pay_mistyped')).status).toBe(200);
    expect(await refund(world, ours, { amount: 990 })).toMatchObject({
      status: 404,
      body: { code: 'payment_not_found' },
    });
    expect((await identify(ours, paymentId)).status).toBe(200);
    await refunded(paymentId, invoiceId);
  });

  it('a name that the MoR does not know is taken back too when the first try was not answered and the repeat is its 404', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect((await identify(ours, 'pay_misheard')).status).toBe(200);
    const path = '/api/payments/pay_misheard/refund';
    await world.control('POST', '/faults', { side: 'mor', method: 'POST', path, action: 'drop_before' });
    const asked = await refund(world, ours, { amount: 990 });
    expect([202, 404]).toContain(asked.status); // the repeat may come while the caller still waits
    const listed = async (what: string): Promise<Json[]> =>
      (await world.api<{ data: Json[] }>('GET', `/v1/${what}&invoice_id=${invoiceId}`)).body.data;
    const [refused] = await world.until(
      'the refund has failed',
      () => listed('refunds?status=failed'),
      (rows) => rows.length > 0,
    );
    expect(refused).toMatchObject({ amount: 990, failure_code: 'payment_not_found' });
    expect((await listed('reviews?status=open'))[0]).toMatchObject({
      kind: 'refund_stuck',
      summary: expect.stringContaining('nothing was refunded'),
    });
    expect((await identify(ours, paymentId)).status).toBe(200);
    await refunded(paymentId, invoiceId);
  });

  const paymentsOf = async (invoiceId: string, origin: string): Promise<Json[]> =>
    ((await world.invoice(invoiceId, 'paid'))['payments'] as Json[]).filter((p) => p['origin'] === origin);

  it('a payment on a link is refunded once it is named, and the event of that refund, which knows no customer, is taken in', async () => {
    const invoiceId = await openInvoice(world);
    const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    const made = await world.api('POST', `/v1/invoices/${invoiceId}/payment-link`, link);
    const paid = await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
    const paymentId = String((paid.body['payment'] as Json)['id']);
    const [payment] = await paymentsOf(invoiceId, 'payment_link');
    const ours = String(payment?.['id']);
    expect(await refund(world, ours, {})).toMatchObject({ status: 409, body: { code: 'payment_not_identified' } });
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    await refunded(paymentId, invoiceId);
    await world.until(
      'its event is decided',
      () => world.api<{ data: Json[] }>('GET', '/v1/events?source=mor_payments&type=payment.refunded'),
      (r) => r.body.data[0]?.['status'] === 'done',
    );
    expect((await world.api('GET', `/v1/payments/${paymentId}`)).body['amount_refunded']).toBe(990);
  });

  it("a bank transfer's payment is refunded once it is named", async () => {
    const invoiceId = await openInvoice(world);
    const made = await world.api('POST', `/v1/invoices/${invoiceId}/proforma`, PROFORMA);
    expect(made.status).toBe(201);
    await world.advance(60);
    await world.control('POST', `/proformas/${String(made.body['id'])}/settle`, {});
    const [payment] = await paymentsOf(invoiceId, 'proforma');
    const ours = String(payment?.['id']);
    expect(await refund(world, ours, {})).toMatchObject({ status: 409, body: { code: 'payment_not_identified' } });
    const paymentId = atPortal(world, invoiceId, String(payment?.['customer_id']), 2990);
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    await refunded(paymentId, invoiceId);
  });

  it("the MoR's own word on what a payment is called counts more than a person's", async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect((await identify(ours, 'pay_misread')).status).toBe(200);
    await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990 });
    await world.until(
      'the refund shows on Stripe',
      () => stripeSide(world, invoiceId),
      (side) => side.notes.length === 1,
    );
    const payments = (await world.invoice(invoiceId, 'paid'))['payments'] as Json[];
    expect(payments.map((p) => [p['id'], p['amount_refunded']])).toEqual([[paymentId, 990]]);
  });

  it('a payment that was taken for another of another customer: what the MoR gave back is told, and shows on Stripe once', async () => {
    const [ada, grace] = [await signedUp(false), await signedUp(false)];
    expect((await identify(ada.ours, grace.paymentId)).status).toBe(200);
    expect((await refund(world, ada.ours, { amount: 990 })).status).toBe(201);
    const told = await world.until(
      'a person is told',
      () => world.api<{ data: Json[] }>('GET', '/v1/reviews?kind=conflicting_event'),
      (r) => r.body.data.some((item) => String(item['summary']).includes(grace.paymentId)),
    );
    expect(told.body.data).toHaveLength(1);
    await world.until(
      'the refund that was asked for shows on Stripe',
      () => stripeSide(world, ada.invoiceId),
      (side) => side.notes.length === 1,
    );
    expect((await stripeSide(world, grace.invoiceId)).notes).toEqual([]);
    const parked = await world.api<{ data: Json[] }>('GET', '/v1/events?status=parked');
    expect(parked.body.data).toEqual([]);
  });
});

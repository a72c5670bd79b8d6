// Every payment can be refunded: one that no event of the MoR has named is named by the shop, a person, or `payment.captured`.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, type Reply, startWorld, type World } from '../support/world.js';
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
      resolutions: ['retry', 'dismiss'],
      proposal: expect.stringContaining('/identify'),
    });
    const path = `/v1/reviews/${String(found?.['id'])}`;
    expect(await world.api('POST', `${path}/resolve`, { resolution: 'refund' })).toMatchObject({
      status: 409,
      body: { code: 'payment_not_identified', message: expect.stringContaining('/identify') },
    });
    expect((await identify(String(found?.['payment_id']), paymentId)).status).toBe(200);
    const named = await item();
    expect(named).toMatchObject({ resolutions: ['refund', 'retry', 'dismiss'] });
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
});

// `payment.captured` end to end: it proves a signup whose charge and amount it names, and teaches the MoR's id of the payment.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventNamed, sendEvent } from '../support/channels.js';
import { type Json, startWorld, type World } from '../support/world.js';
import { type Begun, begun, complete, confirmed, paidOnce } from './support/signups.js';
import { refund, stripeSide } from './support/story.js';

describe('payment.captured', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
    // The look-up by which a charge is proven otherwise knows none of these charges yet.
    await world.control('POST', '/faults', {
      target: 'requests',
      side: 'mor',
      path: '/api/payments/invoice',
      times: 10_000,
      action: 'status',
      status: 404,
    });
  });
  afterAll(() => world.close());

  async function confirmedSignup(): Promise<Begun & { chargeId: string; paymentId: string }> {
    const b = await begun(world);
    return { ...b, ...(await confirmed(world, b)) };
  }

  /** Sends the event and waits until it is decided. */
  async function captured(id: string, data: Json): Promise<void> {
    await sendEvent(world, { id, type: 'payment.captured', created: new Date().toISOString(), data });
    await world.until(
      `${id} is decided`,
      () => eventNamed(world, id),
      (e) => e?.['status'] === 'done',
    );
  }

  const amount = (text: string): Json => ({ amount: { amount: text, currency: 'EUR' } });
  const paymentsOf = async (invoiceId: string): Promise<Json[]> =>
    (await world.api('GET', `/v1/invoices/${invoiceId}`)).body['payments'] as Json[];

  it('proves a signup whose charge and amount it names, once, and names its payment, which can be refunded then', async () => {
    const s = await confirmedSignup();
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    expect((await stripeSide(world, s.invoiceId)).status).toBe('open');
    const data = { pspReference: s.chargeId, payment: { reference: s.paymentId }, ...amount('29.90') };
    await captured(`evt_captured_${s.chargeId}`, data);
    await paidOnce(world, s.invoiceId);
    await captured(`evt_captured_again_${s.chargeId}`, data);
    await paidOnce(world, s.invoiceId);
    expect(await paymentsOf(s.invoiceId)).toMatchObject([{ id: s.paymentId, status: 'succeeded', amount: 2990 }]);
    const ledger = await world.api<{ data: Json[] }>('GET', `/v1/ledger?invoice_id=${s.invoiceId}`);
    expect(ledger.body.data.filter((e) => e['reason'] === 'payment_collected')).toHaveLength(1);
    expect(await refund(world, s.paymentId, { amount: 990 })).toMatchObject({ status: 201 });
  });

  it('of another amount proves nothing, and still names the payment', async () => {
    const s = await confirmedSignup();
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    await captured(`evt_other_amount_${s.chargeId}`, {
      pspReference: s.chargeId,
      payment: { reference: s.paymentId },
      ...amount('29.91'),
    });
    const [payment] = await world.until(
      'it has its name',
      () => paymentsOf(s.invoiceId),
      (list) => list[0]?.['id'] === s.paymentId,
    );
    expect(payment).toMatchObject({ status: 'processing', mark: 'proving' });
    const side = await stripeSide(world, s.invoiceId);
    expect([side.status, side.records]).toEqual(['open', []]);
  });

  it('that comes before the signup is completed is remembered until it is', async () => {
    const s = await confirmedSignup();
    await sendEvent(world, {
      id: `evt_early_${s.chargeId}`,
      type: 'payment.captured',
      created: new Date().toISOString(),
      data: { pspReference: s.chargeId, payment: { reference: s.paymentId }, ...amount('29.90') },
    });
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    await paidOnce(world, s.invoiceId);
    expect(await paymentsOf(s.invoiceId)).toMatchObject([{ id: s.paymentId }]);
  });
});

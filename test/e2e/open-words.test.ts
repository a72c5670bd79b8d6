// Words of the MoR that no document has: kept, shown and not final; payment method types that are passed on; a merchant's own details.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openInvoice } from '../support/channels.js';
import { company } from '../support/company.js';
import { type Json, startWorld, type World } from '../support/world.js';
import { refund, stripeSide } from './support/story.js';

const WORD = 'UNDER_REVIEW';

describe('an answer of the MoR', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterEach(() => world.control('DELETE', '/faults'));
  afterAll(() => world.close());

  const say = (method: string, path: string, times = 1, status = WORD): Promise<unknown> =>
    world.control('POST', '/faults', { side: 'mor', method, path, times, action: 'rewrite', set: { status } });

  it('with a refund status that no document has is shown, keeps the amount and mirrors nothing until the event comes', async () => {
    const s = await world.subscriber({ amount: 1000 });
    await world.invoice(s.firstInvoiceId, 'paid');
    const renewal = await world.invoice(await world.renew(s.subscriptionId), 'paid');
    const [payment] = renewal['payments'] as Json[];
    const id = String(payment?.['id']);
    await world.control('POST', '/faults', {
      target: 'deliveries',
      type: 'payment.refunded',
      action: 'lose',
      times: 5,
    });
    await say('POST', '/api/payments/*/refund');
    const made = await refund(world, id, { amount: 400 });
    expect(made).toMatchObject({ status: 201, body: { status: WORD, mor_refund_id: expect.stringMatching(/^rfnd_/) } });
    expect((await refund(world, id, { amount: 601 })).status).toBe(400);
    expect((await world.api<{ data: Json[] }>('GET', '/v1/refunds?status=pending')).body.data).toMatchObject([
      { id: made.body['id'], status: WORD },
    ]);
    const side = await stripeSide(world, String(renewal['id']));
    expect([side.notes, side.refundReferences]).toEqual([[], []]);
    await world.control('DELETE', '/faults');
    await world.control('POST', '/mor/payment-events/again', { since_sec: 0 });
    await world.until(
      'the refund is shown on Stripe',
      () => world.api('GET', `/v1/refunds/${String(made.body['id'])}`),
      ({ body }) => body['status'] === 'succeeded' && body['mirror'] === 'done',
    );
  });

  it('with a link status that no document has is shown, stands for the link, and gives way to the next answer', async () => {
    const id = await openInvoice(world);
    const path = `/v1/invoices/${id}/payment-link`;
    const body = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    await say('POST', '/api/payment-links');
    const made = await world.api('POST', path, body);
    expect(made).toMatchObject({ status: 201, body: { status: WORD } });
    expect((await world.api('POST', path, body)).body['id']).toBe(made.body['id']);
    await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
    await world.invoice(id, 'paid');
  });

  it('with a status of a webhook endpoint or an application that no document has is shown', async () => {
    const endpoint = { url: 'https://hooks.example/mor', events: ['payment.captured'] };
    await say('POST', '/api/webhooks');
    expect(await world.api('POST', '/v1/mor/webhooks', endpoint)).toMatchObject({
      status: 201,
      body: { status: WORD },
    });
    await say('GET', '/api/webhooks');
    expect((await world.api<{ data: Json[] }>('GET', '/v1/mor/webhooks')).body.data).toMatchObject([{ status: WORD }]);

    const merchant = { merchantReference: 'fir', productCode: 'tor', company };
    expect((await world.api('POST', '/v1/onboarding/merchants', merchant)).status).toBe(201);
    await say('GET', '/partner/api/merchants/*/application', 1, 'on_hold');
    const look = () => world.api('GET', '/v1/onboarding/merchants/fir');
    expect(await look()).toMatchObject({ status: 200, body: { status: 'on_hold' } });
    expect((await look()).body).toMatchObject({ status: 'created' });
  });

  it('decides on a payment method type that no document has, since Crossbill passes it on', async () => {
    const trial = { kind: 'trial', customer: { id: 'cus_wero' }, payment_method_types: ['wero'] };
    expect((await world.api('POST', '/v1/signups', trial)).status).toBe(400);
    await world.control('POST', '/mor/account', { payment_method_types: ['card', 'wero'] });
    expect((await world.api('POST', '/v1/signups', trial)).status).toBe(201);
    expect((await world.api('POST', '/v1/signups', { ...trial, payment_method_types: ['a b'] })).status).toBe(400);
  });

  it('about a merchant is shown with company, description and stores', async () => {
    const path = '/v1/onboarding/merchants/larch';
    await world.api('POST', '/v1/onboarding/merchants', { merchantReference: 'larch', productCode: 'tor', company });
    const business = { businessDescription: 'Plans for trees', storeUrls: ['https://larch.example'] };
    await world.api('PATCH', `${path}/business`, business);
    expect((await world.api('GET', path)).body).toMatchObject({
      company: { ...company },
      business_description: 'Plans for trees',
      store_urls: ['https://larch.example'],
    });
  });
});

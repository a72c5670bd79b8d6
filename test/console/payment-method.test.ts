// Another payment method on the console: the history on the customer's page, the report of a confirmation, and what follows it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deafMor, draftRenewal } from '../e2e/support/story.js';
import { type Json, OPS_KEY, READ_KEY, startWorld, type World } from '../support/world.js';
import { Visitor } from './visitor.js';

describe('another payment method on the console', () => {
  let world: World;
  let url: string;
  let customer: string;
  let refusedId: string;
  let setupIntentId: string;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    const { morUrl, secrets } = world.sandbox;
    const relay = { MOR_RELAY_URL: `${morUrl}/relay/stripe`, MOR_RELAY_SECRET: secrets.relaySecret };
    url = (await world.startDaemon(relay)).url;
    await deafMor(world);
    const s = await world.subscriber();
    customer = s.customerId;
    await world.invoice(s.firstInvoiceId, 'paid');
    await world.control('POST', '/cards', { customer_id: customer, outcome: ['decline:expired_card', 'succeed'] });
    refusedId = await draftRenewal(world, s);
    await world.morActs();
    await world.invoice(refusedId, 'open');
    await world.stripe.invoices.finalizeInvoice(refusedId, { auto_advance: false });
    await world.until('it is final', invoice, (i) => i['stripe_status'] === 'open');
    const setup = (await world.api('POST', `/v1/customers/${customer}/payment-method`, {})).body;
    setupIntentId = String(setup['setup_intent_id']);
    await world.control('POST', `/intents/${setupIntentId}/confirm`, {});
  });
  afterAll(() => world.close());

  const invoice = async (): Promise<Json> => (await world.api('GET', `/v1/invoices/${refusedId}`)).body;
  const page = (): string => `/console/customers/${customer}`;
  const act = (): string => `${page()}/payment-method/confirmed`;

  it('stands in the history of its customer, to which the refused invoice leads, and a viewer gets no button', async () => {
    const viewer = await new Visitor(url).login(READ_KEY);
    const seen = (await viewer.get(page())).text;
    expect(seen).toContain(setupIntentId);
    expect(seen).not.toContain(act());
    const ops = await new Visitor(url).login(OPS_KEY);
    expect((await ops.get(`/console/invoices/${refusedId}`)).text).toContain(`${page()}#payment-methods`);
    const token = await viewer.form(page(), '/console/logout');
    expect((await viewer.post(act(), token)).status).toBe(403);
  });

  it('is reported once by a form that is sent twice, and the refused invoice is charged again and paid', async () => {
    const ops = await new Visitor(url).login(OPS_KEY);
    const fields = await ops.form(page(), act());
    const sent = [await ops.post(act(), fields), await ops.post(act(), fields)];
    expect(sent.map((s) => [s.status, s.headers.get('location')])).toEqual([
      [303, page()],
      [303, page()],
    ]);
    const paid = await world.invoice(refusedId, 'paid');
    expect((paid['retries'] as Json)['made']).toMatchObject([{ by: 'ops', means: 'charge' }]);
    expect((await ops.get(page())).text).not.toContain(act());
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment_method.confirm');
    expect(audit.body.data[0]).toMatchObject({ actor: 'ops', target: customer, outcome: 'done' });
  });
});

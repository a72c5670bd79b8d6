// Changes in the console, the form that names a payment and another card in the console, over HTTP.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { begun, complete, confirmed } from '../e2e/support/signups.js';
import { deafMor, draftRenewal, paidOnce, refund } from '../e2e/support/story.js';
import { type Json, OPS_KEY, READ_KEY, type World, startWorld } from '../support/rigs/world.js';
import { Visitor, fieldsOf } from './visitor.js';

// The console's changes: only by a form of its own session, only for the role ops, once per form, and on record.
describe('Changes in the console', () => {
  let world: World;
  let url: string;
  let paymentId: string;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    url = (await world.startDaemon()).url;
  });
  afterAll(() => world.close());

  const ops = (): Promise<Visitor> => new Visitor(url).login(OPS_KEY);
  const refunds = async (): Promise<Json[]> =>
    (await world.api('GET', `/v1/payments/${paymentId}`)).body['refunds'] as Json[];

  async function newPayment(): Promise<void> {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const paid = await world.invoice(await world.renew(s.subscriptionId), 'paid');
    paymentId = String((paid['payments'] as Json[])[0]?.['id']);
  }

  /** The confirmation's fields, ready to send. */
  async function confirmation(visitor: Visitor, amount: string): Promise<Record<string, string>> {
    const action = `/console/payments/${paymentId}/refund`;
    const fields = await visitor.form(action, action);
    const page = await visitor.post(action, { ...fields, amount, reason: 'requested_by_customer' });
    expect(page.status).toBe(200);
    return fieldsOf(page.text, `${action}s`);
  }

  describe('a refund', () => {
    beforeAll(newPayment);

    it("the console's refund form shows the remaining amount, and refunds nothing before the confirmation", async () => {
      const v = await ops();
      const action = `/console/payments/${paymentId}/refund`;
      const first = await v.get(action);
      expect(first.text).toContain('At most 29.90');
      const page = await v.post(action, { ...fieldsOf(first.text, action), amount: '10.00', reason: 'duplicate' });
      for (const said of ['Refund 10.00 EUR', '29.90 EUR', '19.90 EUR', 'duplicate']) expect(page.text).toContain(said);
      expect(await refunds()).toEqual([]);
    });

    it('the console makes one refund if five copies of the refund form arrive at the same time', async () => {
      const v = await ops();
      const fields = await confirmation(v, '10.00');
      const replies = await Promise.all(
        Array.from({ length: 5 }, async () => {
          for (;;) {
            const reply = await v.post(`/console/payments/${paymentId}/refunds`, fields);
            if (reply.status !== 503) return reply; // busy: send it again, like a person
          }
        }),
      );
      expect(new Set(replies.map((a) => a.status))).toEqual(new Set([303]));
      const places = new Set(replies.map((a) => a.headers.get('location')));
      expect(places.size).toBe(1);
      const made = await refunds();
      expect(made).toHaveLength(1);
      expect(places).toEqual(new Set([`/console/refunds/${String(made[0]?.['id'])}`]));
      const rows = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=refund.create')).body.data;
      expect(rows.filter((r) => r['outcome'] === 'done')).toHaveLength(5);
      expect(rows.filter((r) => r['outcome'] === 'begun')).toHaveLength(5);
      expect(rows[0]).toMatchObject({ actor: 'ops', role: 'ops', target: paymentId, detail: { via: 'console' } });
      const page = await world.until(
        'the MoR answered',
        () => v.get([...places][0] ?? ''),
        (p) => p.text.includes('succeeded'),
      );
      expect(page.text).toContain('10.00 EUR');
    });

    it('the console refuses a refund form sent again with another amount', async () => {
      const v = await ops();
      const fields = await confirmation(v, '1.00');
      expect((await v.post(`/console/payments/${paymentId}/refunds`, fields)).status).toBe(303);
      const other = await v.post(`/console/payments/${paymentId}/refunds`, { ...fields, amount: '2.00' });
      expect([other.status, other.text.includes('idempotency_conflict')]).toEqual([409, true]);
      expect(await refunds()).toHaveLength(2);
    });

    it.each(['1e1', '-1', '0', '0.00', 'NaN', '１０', ' 5', '1,000', '1.001', '1.000,00', '', '10000'])(
      'the console refuses a refund form with the amount %j',
      async (amount) => {
        const v = await ops();
        const before = await refunds();
        const fields = await confirmation(v, '1.00');
        const seen = await v.post(`/console/payments/${paymentId}/refunds`, { ...fields, amount });
        expect(seen.status).toBe(400);
        expect(await refunds()).toHaveLength(before.length);
      },
    );
  });

  describe('a change', () => {
    beforeAll(newPayment);

    it('the console refuses each change by a person with the role `read`, and shows that person no button for the change', async () => {
      const reader = await new Visitor(url).login(READ_KEY);
      const page = await reader.get(`/console/payments/${paymentId}`);
      expect(page.status).toBe(200);
      expect(page.text).not.toContain('Refund…');
      const token = fieldsOf(page.text, '/console/logout');
      const fields = { ...token, amount: '1.00', reason: '', key: 'con-00000000-0000-4000-8000-000000000000' };
      expect((await reader.get(`/console/payments/${paymentId}/refund`)).status).toBe(403);
      expect((await reader.post(`/console/payments/${paymentId}/refunds`, fields)).status).toBe(403);
      expect((await reader.post('/console/events/ie_1/retry', token)).status).toBe(403);
      expect((await reader.get('/console/audit')).status).toBe(403);
      expect(await refunds()).toEqual([]);
      const denied = (await world.api<{ data: Json[] }>('GET', '/v1/audit?actor=viewer')).body.data;
      expect(
        denied.filter((a) => a['outcome'] === 'denied' && a['action'] === 'refund.create').length,
      ).toBeGreaterThanOrEqual(2);
    });

    it('the console refuses a form from another site or without the token of the session', async () => {
      const v = await ops();
      const path = `/console/payments/${paymentId}/refunds`;
      const fields = await confirmation(v, '1.00');
      const { form_token: token, ...bare } = fields;
      const stranger = await ops();
      const foreign = await stranger.form('/console', '/console/logout');
      const tries = [
        await v.post(path, bare),
        await v.post(path, { ...fields, form_token: `${token}x` }),
        await v.post(path, { ...fields, form_token: foreign['form_token'] ?? '' }),
        await v.post(path, fields, { origin: 'https://evil.example' }),
        await v.post(path, fields, { origin: 'null' }),
        await v.post(path, fields, { 'sec-fetch-site': 'cross-site' }),
        await v.post(path, fields, { 'sec-fetch-site': 'same-site' }),
      ];
      expect(tries.map((t) => t.status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
      const typed = await Promise.all(
        ['text/plain', 'application/json', 'multipart/form-data; boundary=x'].map((type) =>
          v.post(path, fields, { 'content-type': type }),
        ),
      );
      expect(typed.map((t) => t.status)).toEqual([415, 415, 415]);
      const twice = await fetch(url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'content-type': 'application/x-www-form-urlencoded', cookie: `crossbill_console=${v.cookie}` },
        body: `${new URLSearchParams(fields).toString()}&amount=29.90`,
      });
      expect(twice.status).toBe(400);
      expect(await refunds()).toEqual([]);
    });

    it('the console changes nothing on a GET request or without a session', async () => {
      const v = await ops();
      expect((await v.get(`/console/payments/${paymentId}/refunds?amount=1.00`)).status).toBe(404);
      const fields = await confirmation(v, '1.00');
      const gone = await new Visitor(url).post(`/console/payments/${paymentId}/refunds`, fields);
      expect([gone.status, gone.headers.get('location')]).toEqual([303, '/console/login?ended=1']);
      expect(
        (await new Visitor(url).post('/console/login', { key: OPS_KEY }, { origin: 'https://evil.example' })).status,
      ).toBe(403);
      expect(await refunds()).toEqual([]);
    });
  });
});

// A payment without a name in the MoR's events gets its name by the console's form.
describe('The console form for the MoR id of a payment', () => {
  let world: World;
  let url: string;

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon()).url;
  });
  afterAll(() => world.close());

  /** A paid signup with only our own id of its payment. */
  async function nameless(): Promise<{ ours: string; paymentId: string }> {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    const done = await complete(world, b, chargeId);
    await paidOnce(world, b.invoiceId);
    return { ours: String((done.body['payment'] as Json)['id']), paymentId };
  }

  const formOf = (ours: string): string => `/console/payments/${ours}/identify`;
  const named = async (ours: string): Promise<unknown> => (await world.api('GET', `/v1/payments/${ours}`)).body['id'];

  it("an operator enters a payment's missing MoR id in the console once, and can then refund the payment", async () => {
    const { ours, paymentId } = await nameless();
    const v = await new Visitor(url).login(OPS_KEY);
    const page = await v.get(`/console/payments/${ours}`);
    expect(page.text).toContain('A refund needs this id');
    const fields = fieldsOf(page.text, formOf(ours));
    expect((await v.post(formOf(ours), { ...fields, payment_id: 'two words' })).status).toBe(400);
    expect(await named(ours)).toBe(ours);
    const reply = await v.post(formOf(ours), { ...fields, payment_id: ` ${paymentId} ` });
    expect([reply.status, reply.headers.get('location')]).toEqual([303, `/console/payments/${paymentId}`]);
    expect(await named(ours)).toBe(paymentId);
    const after = await v.get(`/console/payments/${paymentId}`);
    expect([after.text.includes(formOf(ours)), after.text.includes('Refund…')]).toEqual([false, true]);
    const trace = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.identify')).body.data;
    expect(trace.map((a) => a['outcome'])).toEqual(['done', 'begun', 'refused', 'begun']);
    expect(trace[0]).toMatchObject({ actor: 'ops', role: 'ops', target: ours, detail: { via: 'console' } });
    expect(await refund(world, paymentId, { amount: 990 })).toMatchObject({ status: 201 });

    // No other payment may have this name, and the answer says whose it is.
    const other = await nameless();
    const clash = await v.post(formOf(other.ours), {
      ...fieldsOf((await v.get(`/console/payments/${other.ours}`)).text, formOf(other.ours)),
      payment_id: paymentId,
    });
    expect([clash.status, clash.text.includes(ours)]).toEqual([409, true]);
    expect(await named(other.ours)).toBe(other.ours);
  });

  it("the console refuses a payment's MoR id from a person with the role `read`", async () => {
    const { ours, paymentId } = await nameless();
    const reader = await new Visitor(url).login(READ_KEY);
    const page = await reader.get(`/console/payments/${ours}`);
    expect(page.text).not.toContain(formOf(ours));
    const token = fieldsOf(page.text, '/console/logout');
    expect((await reader.post(formOf(ours), { ...token, payment_id: paymentId })).status).toBe(403);
    expect((await new Visitor(url).post(formOf(ours), { payment_id: paymentId })).status).toBe(303);
    expect(await named(ours)).toBe(ours);
  });
});

// Another payment method on the console: the history on the customer's page, the report of a confirmation, and its
// consequences.
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

  it("a refused invoice in the console links to the customer's new payment method, and a viewer may not confirm the method", async () => {
    const viewer = await new Visitor(url).login(READ_KEY);
    const seen = (await viewer.get(page())).text;
    expect(seen).toContain(setupIntentId);
    expect(seen).not.toContain(act());
    const ops = await new Visitor(url).login(OPS_KEY);
    const ask = `/console/invoices/${refusedId}/ask-card`;
    expect((await ops.get(`/console/invoices/${refusedId}`)).text).toContain(ask);
    expect((await ops.get(ask)).text).toContain(`${page()}#payment-methods`);
    const token = await viewer.form(page(), '/console/logout');
    expect((await viewer.post(act(), token)).status).toBe(403);
  });

  it('the console form to confirm a payment method, sent twice, makes the MoR charge the refused invoice only one more time', async () => {
    const ops = await new Visitor(url).login(OPS_KEY);
    expect((await ops.get(page())).text).not.toContain(`action="${act()}"`);
    const asked = (await ops.get(act())).text; // the page with the question charges nothing
    for (const said of [setupIntentId, refusedId, '29.90 EUR']) expect(asked).toContain(said);
    expect((await invoice())['retries']).toMatchObject({ made: [] });
    const fields = await ops.form(act(), act());
    const sent = [await ops.post(act(), fields), await ops.post(act(), fields)];
    expect(sent.map((s) => [s.status, s.headers.get('location')])).toEqual([
      [303, page()],
      [303, page()],
    ]);
    const paid = await world.invoice(refusedId, 'paid');
    expect((paid['retries'] as Json)['made']).toMatchObject([{ by: 'ops', means: 'charge' }]);
    expect((await ops.get(page())).text).not.toContain(act());
    expect((await ops.get(act())).status).toBe(409);
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment_method.confirm');
    expect(audit.body.data[0]).toMatchObject({ actor: 'ops', target: customer, outcome: 'done' });
  });
});

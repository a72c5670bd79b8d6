// Whose invoices are ours: by link, by metadata, by money. Crossbill records the others and leaves them alone.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { type Json, OPS_KEY, type World, useWorld } from '../support/rigs/world.js';
import { renewalOf, stranger } from './support/stranger.js';
import { deafMor, newPaid, tellSucceeded } from './support/story.js';

type Request = { readonly method: string; readonly path: string; readonly body: unknown };

const requestsOf = async (world: World, wanted: RegExp): Promise<readonly Request[]> => {
  const { body } = await world.control('GET', '/requests');
  return (body['data'] as Request[]).filter((r) => wanted.test(r.path));
};
/** The number of times the relay told the MoR of an invoice. */
const relayed = async (world: World, invoiceId: string): Promise<number> =>
  (await requestsOf(world, /relay\/stripe/)).filter((r) => JSON.stringify(r.body).includes(invoiceId)).length;
const openItems = async (world: World, invoiceId: string): Promise<readonly Json[]> => {
  const found = await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open&limit=100');
  return found.body.data.filter((r) => r['invoice_id'] === invoiceId);
};
const relayTo = (world: World): Record<string, string> => ({
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
});

describe('ENROLMENT=linked', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize', ENROLMENT: 'linked' }, (world) =>
    world.startDaemon(relayTo(world)),
  );
  beforeAll(async () => {
    await deafMor(world); // it hears only the relay
  });

  it('Crossbill ignores the invoice of an unlinked customer as not enrolled, and does not relay it to the MoR', async () => {
    const s = await stranger(world);
    const invoiceId = await renewalOf(world, s);
    const invoice = await world.invoice(invoiceId, 'ignored');
    expect(invoice).toMatchObject({ ignored_because: 'not_enrolled', expected_by: null, customer_id: s.customerId });
    const notified = (invoice['timeline'] as { text: string }[]).map((l) => l.text).join('\n');
    expect(notified).toContain(
      `Not enrolled: customer ${s.customerId} is linked to no customer of the MoR (ENROLMENT=linked)`,
    );
    const events = await world.api<{ data: Json[] }>('GET', '/v1/events?type=invoice.created&limit=100');
    expect(events.body.data.length).toBeGreaterThan(0);
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: false });
    await world.shows(`/v1/invoices/${invoiceId}`, (i) => i['stripe_status'] === 'open');
    expect((await world.api('GET', `/v1/invoices/${invoiceId}`)).body).toMatchObject({ status: 'ignored' });
    expect(await relayed(world, invoiceId)).toBe(0);
    expect(await openItems(world, invoiceId)).toEqual([]);
    const reads = (await requestsOf(world, new RegExp(`${s.customerId}|${invoiceId}`))).filter(
      (r) => r.method === 'GET',
    );
    expect(reads).toEqual([]); // our own books tell
    const explained = await cli(['explain', invoiceId], world.env);
    expect(explained.out).toContain('its customer is not enrolled');
    const page = await new Visitor(world.daemons[0]?.url ?? '').login(OPS_KEY);
    expect((await page.get(`/console/invoices/${invoiceId}`)).text).toContain('not enrolled');
    expect((await page.get('/console/invoices?status=ignored')).text).toContain('not enrolled');
  });

  it('when Stripe charges or fails to finalize an invoice outside the enrolment, Crossbill opens no review item', async () => {
    const s = await stranger(world, { card: true });
    const [stuck, paid] = [await renewalOf(world, s), await renewalOf(world, s)];
    await world.control('POST', `/stripe/invoices/${stuck}/finalization-error`, { message: 'no location' });
    await world.invoice(paid, 'ignored');
    await world.advance(3_700);
    await world.until(
      'Stripe has charged one and failed the other',
      async () => [
        (await world.api('GET', `/v1/invoices/${paid}`)).body['stripe_status'],
        String((await world.api('GET', `/v1/invoices/${stuck}`)).body['timeline']).length > 0,
      ],
      ([status]) => status === 'paid',
    );
    expect((await world.api('GET', `/v1/invoices/${paid}`)).body).toMatchObject({
      status: 'ignored',
      ignored_because: 'not_enrolled',
    });
    expect([...(await openItems(world, stuck)), ...(await openItems(world, paid))]).toEqual([]);
  });

  it('after a signup links its customer, Crossbill relays the renewal to the MoR and marks the invoice paid', async () => {
    const s = await world.paidSubscriber({ amount: 1000 });
    const invoiceId = await world.renew(s.subscriptionId);
    expect(await world.invoice(invoiceId, 'paid')).toMatchObject({ ignored_because: null });
    expect(await relayed(world, invoiceId)).toBe(1);
  });

  it('when the MoR takes the payment of an ignored invoice, Crossbill marks the invoice paid and enrols the customer', async () => {
    const s = await stranger(world);
    const first = await renewalOf(world, s);
    await world.invoice(first, 'ignored');
    const said = { customerId: s.customerId, invoiceId: first, amount: 1250 };
    await tellSucceeded(world, newPaid(), said);
    expect(await world.invoice(first, 'paid')).toMatchObject({ ignored_because: null, amount_paid: 1250 });
    const next = await renewalOf(world, s);
    const expected = await world.shows(
      `/v1/invoices/${next}`,
      (i) => i['expected_by'] !== null && i['expected_by'] !== undefined,
    );
    expect(['expected', 'open']).toContain(expected['status']);
  });

  it('POST /v1/customers enrols a customer from the next invoice on, and leaves earlier invoices ignored', async () => {
    const s = await stranger(world);
    const before = await renewalOf(world, s);
    await world.invoice(before, 'ignored');
    const body = { customer_id: s.customerId, mor_customer_id: `mcus_${s.customerId}`, reference: 'batch 1' };
    const made = await world.api('POST', '/v1/customers', body);
    expect(made).toMatchObject({ status: 201, body: { ...body, signup_id: null, linked_by: 'ops' } });
    const next = await renewalOf(world, s);
    await world.until(
      'the next one is expected',
      async () => (await world.api('GET', `/v1/invoices/${next}`)).body['expected_by'],
      (by) => typeof by === 'string',
    );
    expect((await world.api('GET', `/v1/invoices/${before}`)).body).toMatchObject({ status: 'ignored' });
    expect((await world.api('GET', `/v1/customers/${s.customerId}`)).body).toMatchObject({
      mor_customer_id: `mcus_${s.customerId}`,
    });
  });

  it('`crossbill verify` counts invoices outside the enrolment, and reports no difference in them', async () => {
    const [s, ours] = [await stranger(world), await world.subscriber({ email: 'eve@example.com' })];
    await world.invoice(ours.firstInvoiceId, 'paid');
    const seen = await renewalOf(world, s);
    await world.invoice(seen, 'ignored');
    // Two more get lost on the way: a stranger's and our customer's.
    const fault = { target: 'deliveries', side: 'stripe', type: 'invoice.*', action: 'lose', times: 1000 };
    const lose = await world.fault(fault);
    expect(lose.status).toBe(201);
    const [strange, lost] = [await renewalOf(world, s), await renewalOf(world, ours)];
    await world.stripe.invoices.finalizeInvoice(seen, { auto_advance: false });
    await world.advance(300); // older than anything still on its way
    const ran = await cliJson<{ compared: Record<string, number>; differences: Json[] }>(
      ['verify', '--since', '2h'],
      world.env,
    );
    const text = await cli(['verify', '--since', '2h'], world.env);
    await world.control('DELETE', '/faults');
    const about = new Set(ran.body.differences.map((d) => d['invoice_id']));
    expect([about.has(seen), about.has(strange), about.has(lost)]).toEqual([false, false, true]);
    expect(ran.body.compared['not_enrolled']).toBeGreaterThanOrEqual(2);
    expect(text.out).toMatch(/\d+ not enrolled/);
  });

  it('`crossbill status` counts linked customers by their renewal (paid, unpaid, none), and the invoices outside the enrolment', async () => {
    const ran = await cliJson<{ enrolment: Record<string, unknown> }>(['status'], world.env);
    expect(ran.body.enrolment).toMatchObject({ rule: 'linked', linked: 3, renewed: 1, not_renewed: 1, waiting: 1 });
    expect(ran.body.enrolment['outside']).toBeGreaterThan(2);
    const page = await cli(['status'], world.env);
    expect(page.out).toContain('Enrolment: linked');
    expect(page.out).toContain(
      '3 customers are linked to the MoR: 1 with a renewal paid there, 1 with an unpaid one, 1 without a renewal so far',
    );
  });
});

describe('ENROLMENT=metadata', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize', ENROLMENT: 'metadata:billed_by=mor' }, (world) =>
    world.startDaemon(relayTo(world)),
  );
  beforeAll(async () => {
    await deafMor(world);
  });

  const isExpected = (invoiceId: string) =>
    world.until(
      'it is expected',
      async () => (await world.api('GET', `/v1/invoices/${invoiceId}`)).body['expected_by'],
      (by) => typeof by === 'string',
    );

  it('Crossbill enrols an invoice by the metadata of its subscription, without reading the customer at Stripe', async () => {
    const s = await stranger(world, { subscription: { billed_by: 'mor' } });
    await isExpected(await renewalOf(world, s));
    expect(
      (await requestsOf(world, new RegExp(`customers/${s.customerId}`))).filter((r) => r.method === 'GET'),
    ).toEqual([]);
  });

  it("Crossbill reads a customer's metadata at Stripe once, and ignores the invoice if the value differs from ENROLMENT", async () => {
    const [ours, other] = [
      await stranger(world, { customer: { billed_by: 'mor' } }),
      await stranger(world, { customer: { billed_by: 'stripe' } }),
    ];
    await isExpected(await renewalOf(world, ours));
    const outside = await renewalOf(world, other);
    expect(await world.invoice(outside, 'ignored')).toMatchObject({ ignored_because: 'not_enrolled' });
    await world.stripe.invoices.finalizeInvoice(outside, { auto_advance: false });
    await world.until(
      'it is known to be final',
      async () => (await world.api('GET', `/v1/invoices/${outside}`)).body['stripe_status'],
      'open',
    );
    const reads = await requestsOf(world, new RegExp(`customers/${other.customerId}`));
    expect(reads.filter((r) => r.method === 'GET')).toHaveLength(1);
  });

  it("if Stripe fails to return a customer's metadata, Crossbill relays the renewal only after Stripe returns the metadata", async () => {
    const s = await stranger(world, { customer: { billed_by: 'mor' } });
    await world.fault({
      side: 'stripe',
      method: 'GET',
      path: `/v1/customers/${s.customerId}`,
      action: 'status',
      status: 500,
      times: 2,
    });
    const invoiceId = await renewalOf(world, s);
    await isExpected(invoiceId);
    await world.until('it is relayed', () => relayed(world, invoiceId), 1);
  });
});

// Renewals, the relay and an outage longer than the tries, end to end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import pg from 'pg';
import { cli } from '../cli/rig.js';
import { openInvoice } from '../support/rigs/channels.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import { mac } from '../support/builders/signing.js';
import { type Json, type Subscriber, type World, startWorld, useWorld } from '../support/rigs/world.js';
import { deliver } from './support/endpoint.js';
import { deafMor, draftRenewal, stripeSide, paidRenewal, refund } from './support/story.js';

// The main job, end to end: sandbox, real daemon, real PostgreSQL, real signatures; in both mark modes and both draft policies.
const MODES = [
  { BILLING_MARK_MODE: 'payment_record', BILLING_DRAFT_POLICY: 'wait' },
  { BILLING_MARK_MODE: 'payment_record', BILLING_DRAFT_POLICY: 'finalize' },
  { BILLING_MARK_MODE: 'out_of_band', BILLING_DRAFT_POLICY: 'wait' },
  { BILLING_MARK_MODE: 'out_of_band', BILLING_DRAFT_POLICY: 'finalize' },
];

describe.each(MODES)('with $BILLING_MARK_MODE and drafts $BILLING_DRAFT_POLICY', (mode) => {
  const world = useWorld(mode);
  const record = mode.BILLING_MARK_MODE === 'payment_record';

  async function stripeSide(invoiceId: string): Promise<{ status: string | null; records: string[]; notes: number }> {
    const invoice = await world.stripe.invoices.retrieve(invoiceId, { expand: ['payments'] });
    const paid = (invoice.payments?.data ?? []).filter((p) => p.status === 'paid');
    const records = paid.flatMap(({ payment: { payment_record: r } }) =>
      r === undefined ? [] : [typeof r === 'string' ? r : r.id],
    );
    const notes = await world.stripe.creditNotes.list({ invoice: invoiceId });
    return { status: invoice.status, records, notes: notes.data.length };
  }

  it("Crossbill marks the first invoice paid after the signup's completion, and the renewal after the MoR's charge", async () => {
    const s = await world.subscriber();
    const first = await world.invoice(s.firstInvoiceId, 'paid');
    expect(first['billing_reason']).toBe('subscription_create');
    expect((await stripeSide(s.firstInvoiceId)).records).toHaveLength(record ? 1 : 0);

    const { invoiceId: renewal, payment } = await paidRenewal(world, s);
    expect(payment).toMatchObject({ status: 'succeeded', amount: 2990, currency: 'eur' });
    const there = await stripeSide(renewal);
    expect(there.status).toBe('paid');
    expect(there.records).toEqual(record ? [payment['payment_record_id']] : []);
    expect((await world.stripe.subscriptions.retrieve(s.subscriptionId)).status).toBe('active');
  });

  it('Crossbill leaves a declined renewal open, and marks it paid when a later charge succeeds', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const renewal = await world.renew(s.subscriptionId);
    const open = await world.invoice(renewal, 'open');
    expect(open['payments']).toMatchObject([{ status: 'failed' }]);
    await world.advance(3_700);
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'succeed' });
    await world.control('POST', '/mor/retry', { invoice_id: renewal });
    await world.invoice(renewal, 'paid');
  });

  it('Crossbill mirrors a partial refund and then a refund of the remaining amount to Stripe, and refuses a third refund', async () => {
    const { invoiceId: renewal, paymentId: id } = await paidRenewal(world);
    expect(id).toMatch(/^pay_/);
    const asked = { amount: 1000, reason: 'requested_by_customer' };
    const part = await refund(world, id, asked, `${id}-1`);
    expect(part).toMatchObject({ status: 201, body: { amount: 1000, status: 'succeeded', payment_id: id } });
    expect((await refund(world, id, asked, `${id}-1`)).body['id']).toBe(part.body['id']);
    expect((await refund(world, id, {})).body).toMatchObject({ amount: 1990, status: 'succeeded' });
    await world.until('both refunds show on Stripe', () => stripeSide(renewal), { notes: 2 });
    const after = await world.api('GET', `/v1/payments/${id}`);
    expect(after.body).toMatchObject({ status: 'refunded', amount_refunded: 2990 });
    expect(after.body['refunds']).toHaveLength(2);
    expect((await refund(world, id, { amount: 1 })).status).toBe(422);
  });

  it('Crossbill marks an open renewal paid with exactly three calls to Stripe', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'bank_debit' });
    const renewal = await world.renew(s.subscriptionId);
    await world.advance(3_700);
    await world.control('DELETE', '/requests');
    await world.advance(5 * 86_400);
    await world.invoice(renewal, 'paid');
    const log = await world.control('GET', '/requests?side=stripe');
    // Crossbill looked at Stripe's own charge five seconds after it first saw the draft, whenever it was.
    const calls = (log.body['data'] as Json[])
      .map((r) => `${String(r['method'])} ${String(r['path'])}`.replace(renewal, 'in'))
      .filter((call) => !call.startsWith('GET /v1/subscriptions/'));
    expect(calls).toEqual(
      record
        ? ['GET /v1/invoices/in', 'POST /v1/payment_records/report_payment', 'POST /v1/invoices/in/attach_payment']
        : ['GET /v1/invoices/in', 'POST /v1/invoices/in', 'POST /v1/invoices/in/pay'],
    );
  });
});

// The relay, for merchants with a MoR unable to hear Stripe: byte for byte, freshly signed, once, and never a signup's
// invoice.
describe('the relay of invoice.created', () => {
  type Heard = { readonly headers: Record<string, unknown>; readonly body: Buffer };

  let world: World;
  let s: Subscriber;
  let ear: Server;
  const heard: Heard[] = [];
  // Replies to the first tries of every renewal while set: no other test's straggler uses them up.
  let refusals: readonly number[] = [];

  beforeAll(async () => {
    // An ear in front of the sandbox's relay route, to see the bytes.
    ear = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const body = Buffer.concat(chunks);
        const status = refusals[heard.filter((h) => h.body.equals(body)).length];
        heard.push({ headers: req.headers, body });
        if (status !== undefined) {
          res.writeHead(status).end();
          return;
        }
        void fetch(`${world.sandbox.morUrl}/relay/stripe`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'stripe-signature': String(req.headers['stripe-signature']) },
          body,
        }).then((reply) => res.writeHead(reply.status).end());
      });
    });
    await new Promise<void>((resolve) => ear.listen(0, '127.0.0.1', resolve));
    const { port } = ear.address() as AddressInfo;
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    const relay = {
      MOR_RELAY_URL: `http://127.0.0.1:${port}/relay/stripe`,
      MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
    };
    await world.startDaemon(relay);
    await world.startDaemon(relay);
    await deafMor(world);
    s = await world.paidSubscriber({ amount: 1000 });
  });
  afterAll(async () => {
    await world.close();
    await new Promise((resolve) => ear.close(resolve));
  });

  const about = (invoiceId: string): Heard[] => heard.filter((h) => h.body.includes(invoiceId));

  it("Crossbill relays a renewal's invoice.created to the MoR byte for byte, with Crossbill's signature", async () => {
    const invoiceId = await draftRenewal(world, s);
    await world.invoice(invoiceId, 'paid');
    const [sent, ...more] = about(invoiceId);
    expect(more).toEqual([]);
    const events = await world.stripe.events.list({ type: 'invoice.created', limit: 1 });
    const event = JSON.parse(sent?.body.toString('utf8') ?? '') as { id: string; type: string };
    expect(event).toMatchObject({ id: events.data[0]?.id, type: 'invoice.created' });
    const header = String(sent?.headers['stripe-signature']);
    const t = /t=(\d+)/.exec(header)?.[1] ?? '';
    expect(header).toContain(`v1=${mac(sent?.body ?? '', world.sandbox.secrets.relaySecret, t)}`);
    expect(sent?.headers['authorization']).toBeUndefined();
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });

  it('Crossbill relays the odd white space and escapes of an event unchanged', async () => {
    const invoiceId = await draftRenewal(world, s, 0);
    const { data } = await world.stripe.events.list({ type: 'invoice.created', limit: 1 });
    const twin = JSON.parse(JSON.stringify(data[0])) as {
      id: string;
      data: { object: { id: string; amount_due: number } };
    };
    twin.id = 'evt_odd';
    twin.data.object.id = 'in_odd_bytes';
    const body = `  ${JSON.stringify(twin, null, 3).replace('"object": "event"', '"n\\u00f6te": "Grüße \u{1f332}",\r\n "object": "event"')}\n\n`;
    expect((await deliver(world, 'stripe', body)).status).toBe(200);
    await world.until(
      'it was sent on',
      () => about('in_odd_bytes').length,
      (n) => n > 0,
    );
    expect(about('in_odd_bytes')[0]?.body.toString('utf8')).toBe(body);
    expect(invoiceId).toMatch(/^in_/);
  });

  it('Crossbill relays neither the invoice.created event of a signup nor any other type of event to the MoR', () => {
    expect(about(s.firstInvoiceId)).toEqual([]);
    const types = heard.map((h) => (JSON.parse(h.body.toString('utf8')) as { type: string }).type);
    expect(new Set(types)).toEqual(new Set(['invoice.created']));
  });

  it("Crossbill relays an event again after the MoR's 503, but not after a second delivery by Stripe", async () => {
    refusals = [503, 500];
    const invoiceId = await draftRenewal(world, s);
    await world.invoice(invoiceId, 'paid');
    refusals = [];
    const tries = about(invoiceId);
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map((h) => h.body.toString('utf8'))).size).toBe(1);
    const [body] = tries;
    expect((await deliver(world, 'stripe', body?.body ?? '')).status).toBe(200);
    const more = await draftRenewal(world, s);
    await world.invoice(more, 'paid');
    expect(about(invoiceId)).toHaveLength(3);
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });
});

// An outage longer than the MoR's tries: Crossbill names the losses, looks them up, and mends them as far as the MoR
// answers.
describe("a daemon down for longer than the MoR's tries", () => {
  const OUTAGE_HOURS = 6;

  let world: World;
  let paidLater: string;
  let unpaid: string;
  let refused: string;

  /** The books keep real time: the test makes an outage by moving their times into the past. */
  async function hoursPass(hours: number): Promise<void> {
    const db = new pg.Pool({ connectionString: world.databaseUrl, max: 1, pipeline: true });
    const by = `interval '${hours} hours'`;
    await db.query(`update endpoints_open set opened_at = opened_at - ${by}, seen_at = seen_at - ${by}`);
    await db.query(`update installation set began_at = began_at - ${by}`);
    const before = (at: Date): Date => new Date(at.getTime() - hours * 3_600_000);
    const lanes = await db.query<{ lane: string }>('select distinct lane from lane_log');
    for (const { lane } of lanes.rows) {
      await changeByHand(db, lane, (s) => ({
        ...s,
        invoice: s.invoice === null ? null : { ...s.invoice, firstSeenAt: before(s.invoice.firstSeenAt) },
        payments: s.payments.map((p) => ({ ...p, verdictAt: p.verdictAt === null ? null : before(p.verdictAt) })),
        objects: s.objects.map((o) => ({ ...o, createdAt: before(o.createdAt) })),
      }));
    }
    await db.end();
  }

  async function report(): Promise<{ code: number; body: Json }> {
    const { code, out } = await cli(['verify', '--json'], world.env);
    return { code, body: JSON.parse(out) as Json };
  }

  beforeAll(async () => {
    world = await startWorld();
    const first = await world.startDaemon();
    // One invoice with a payment link, paid during the outage, and one renewal with a lost verdict.
    paidLater = await openInvoice(world);
    const link = await world.api('POST', `/v1/invoices/${paidLater}/payment-link`, {
      jurisdiction: 'GB',
      return_url: 'https://shop.example/thanks',
    });
    expect(link.status).toBe(201);
    const s = await world.paidSubscriber();
    // And one refused before the outage: nobody here knows whether it was paid since.
    const other = await world.paidSubscriber({ email: 'bo@example.com' });
    await world.control('POST', '/cards', { customer_id: other.customerId, outcome: 'requires_action' });
    refused = await world.renew(other.subscriptionId);
    await world.invoice(refused, 'open');
    await world.advance(7_200); // anything younger than two minutes counts as on its way
    expect((await report()).body).toMatchObject({ outcome: 'clean', loss_windows: [] }); // quiet while nothing happened
    await world.fault({ target: 'deliveries', side: 'mor', action: 'lose', times: 100 });
    unpaid = await world.renew(s.subscriptionId);
    await world.invoice(unpaid, 'expected');
    await first.stop();
    world.daemons.length = 0;
    await world.control('POST', `/payment-links/${String(link.body['id'])}/pay`, {});
    await world.advance(OUTAGE_HOURS * 3_600); // every try of the event fell on closed endpoints
    await world.control('DELETE', '/faults');
    await hoursPass(OUTAGE_HOURS);
  });
  afterAll(() => world.close());

  it('after a long outage, Crossbill finds a lost payment of a payment link, and marks the invoice paid', async () => {
    await world.startDaemon();
    const invoice = await world.invoice(paidLater, 'paid');
    expect(invoice['payments']).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ origin: 'payment_link', mark: 'confirmed' })]),
    );
    expect((await world.stripe.invoices.retrieve(paidLater)).status).toBe('paid');
  });

  it('after a long outage, `crossbill verify` names the lost hours and each renewal without a verdict of the MoR', async () => {
    const { code, body } = await report();
    expect([code, body['outcome']]).toEqual([3, 'differences']);
    const [window] = body['loss_windows'] as { events: { from: string; to: string } }[];
    const lengthMin = (Date.parse(window?.events.to ?? '') - Date.parse(window?.events.from ?? '')) / 60_000;
    // six hours less three hours and two minutes, and the test's own time
    expect(Math.floor(lengthMin / 60)).toBe(OUTAGE_HOURS - 4);
    const named = (body['differences'] as Json[]).filter(
      (d) => d['invoice_id'] === unpaid && d['kind'] === 'no_verdict',
    );
    expect(named).toMatchObject([{ repair: 'person' }]);
    expect(String(named[0]?.['detail'])).toContain('ask the MoR to send it again');

    // The MoR does not find it by its payment intent, and this says nothing.
    const asked = (body['differences'] as Json[]).filter((d) => d['invoice_id'] === refused);
    expect(asked).toMatchObject([{ kind: 'no_verdict', repair: 'person' }]);
    expect(asked[0]).not.toHaveProperty('review_id');
    expect(String(asked[0]?.['detail'])).toContain('The last verdict is a refusal');

    const text = await cli(['verify'], world.env);
    expect(text.out).toContain("the MoR's events made between");
    expect((await cli(['status'], world.env)).out).toContain('may be lost for good');
    expect((await cli(['doctor'], world.env)).out).toMatch(/WARN {2}outages .*may be lost for good/);
  });
});

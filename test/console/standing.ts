// Books with something of everything in them: paid, declined, held and doubly paid invoices, a refund to make, a parked event.
import { createHmac } from 'node:crypto';
import pg from 'pg';
import { finding } from '../../src/features/verify/rules/findings.js';
import { type Json, type World } from '../support/rigs/world.js';

export type StandingSetup = {
  readonly invoiceId: string;
  /** Refused by the bank, of 1,299.00 USD. */
  readonly openId: string;
  /** Of 29.90 EUR, without a refund. */
  readonly paymentId: string;
  /** A word from the parked event's body. */
  readonly parkedMarker: string;
  /** Every page worth a look, by name. */
  readonly pages: Readonly<Record<string, string>>;
};

export async function status(world: World): Promise<StandingSetup> {
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  const invoiceId = await world.renew(s.subscriptionId);
  const declined = await world.subscriber({ email: 'grace@example.com', amount: 129_900, currency: 'usd' });
  await world.invoice(declined.firstInvoiceId, 'paid');
  await world.control('POST', '/cards', { customer_id: declined.customerId, outcome: 'decline' });
  const open = await world.renew(declined.subscriptionId);
  await world.invoice(open, 'open');
  const yen = await world.subscriber({ email: 'kei@example.com', amount: 4_800, currency: 'jpy' });
  await world.invoice(yen.firstInvoiceId, 'paid');

  await world.invoice(invoiceId, 'held');
  await world.advance(3_700);
  const paid = await world.invoice(invoiceId, 'paid');
  const paymentId = String((paid['payments'] as Json[])[0]?.['id']);
  await doublePayment(world);
  await verifyRun(world, open);
  const held = await world.renew(yen.subscriptionId);
  await world.invoice(held, 'held');

  const parkedMarker = 'invoice.created';
  await parkedEvent(world, parkedMarker);
  const firstOf = async (path: string): Promise<string> => {
    const seen = await world.until(
      `${path} has a row`,
      () => world.api<{ data: Json[] }>('GET', path),
      (r) => r.body.data.length > 0,
    );
    return String(seen.body.data[0]?.['id']);
  };
  const review = await firstOf('/v1/reviews?kind=double_payment');
  const parked = await firstOf('/v1/events?status=parked');
  return {
    invoiceId,
    openId: open,
    paymentId,
    parkedMarker,
    pages: {
      login: '/console/login',
      overview: '/console',
      invoices: '/console/invoices',
      invoice: `/console/invoices/${invoiceId}`,
      'invoice-open': `/console/invoices/${open}`,
      'payment-link': `/console/invoices/${open}/payment-link`,
      proforma: `/console/invoices/${open}/proforma`,
      returned: `/console/payments/${paymentId}/returned`,
      payments: '/console/payments',
      payment: `/console/payments/${paymentId}`,
      refund: `/console/payments/${paymentId}/refund`,
      refunds: '/console/refunds',
      reviews: '/console/reviews',
      review: `/console/reviews/${review}`,
      events: '/console/events',
      parked: '/console/events?status=parked',
      event: `/console/events/${parked}`,
      customers: '/console/customers',
      customer: `/console/customers/${s.customerId}`,
      found: '/console/find?q=29%2C90',
      deliveries: '/console/deliveries',
      ledger: '/console/ledger',
      'trial-balance': '/console/ledger/trial-balance',
      verify: '/console/verify',
      audit: '/console/audit',
      sessions: '/console/sessions',
      settings: '/console/settings',
      'not-found': '/console/invoices/in_none',
    },
  };
}

/** The merchant takes a renewal's money at the counter while the bank debit for it is on its way. */
async function doublePayment(world: World): Promise<void> {
  const s = await world.subscriber({ email: 'edsger@example.com' });
  await world.invoice(s.firstInvoiceId, 'paid');
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'bank_debit' });
  const renewal = await world.renew(s.subscriptionId);
  await world.advance(3_700);
  await world.stripe.invoices.pay(renewal, { paid_out_of_band: true });
  await world.advance(5 * 86_400);
}

/** A run of verify with findings, as the daily one leaves it. */
async function verifyRun(world: World, invoiceId: string): Promise<void> {
  const differences = [
    finding.noVerdict({ invoiceId }, {}),
    finding.unmarked({ invoiceId }, { taken: { minor: 2990n, currency: 'EUR' }, mark: 'waiting' }),
  ];
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(
    `insert into verify_run (id, since, began_at, started_at, finished_at, outcome, compared, differences)
     select 'ver_shown', at, at, at, now(), 'differences', $1::jsonb, $2::jsonb from (select now() - interval '1 minute' as at) run`,
    [JSON.stringify({ invoices: 7, events: 31, payments: 4, credit_notes: 0 }), JSON.stringify(differences)],
  );
  await client.end();
}

/** An authentic delivery, cut off in the middle. */
export async function parkedEvent(world: World, type: string, id = 'evt_cut0000000001'): Promise<void> {
  const body = `{"id":"${id}","type":"${type}","data":{"object":{"customer_email":"ada@example.com","customer_name":"Ada Lov`;
  await delivered(world, body);
}

/** Two authentic deliveries under one id with different content: an item asks for the right one. */
export async function conflictingEvents(world: World, id: string): Promise<void> {
  for (const n of [1, 2])
    await delivered(
      world,
      `{"id":"${id}","object":"event","type":"product.updated","created":1,"livemode":false,"data":{"object":{"id":"prod_${n}","object":"product"}}}`,
    );
  await world.until(
    `an item asks about ${id}`,
    () => world.api<{ data: Json[] }>('GET', '/v1/reviews?kind=conflicting_event&limit=100'),
    ({ body }) => body.data.some((r) => (r['fact'] as Json)['event'] === id),
  );
}

async function delivered(world: World, body: string): Promise<void> {
  const t = Math.floor(Date.now() / 1000);
  const mac = createHmac('sha256', world.sandbox.secrets.stripeWebhookSecret).update(`${t}.${body}`).digest('hex');
  // As Stripe does: a 503 is delivered again.
  await world.until(
    'the webhook endpoint takes the event',
    () =>
      fetch(`${world.daemons[0]?.url}/webhooks/stripe`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': `t=${t},v1=${mac}` },
        body,
      }),
    ({ status }) => status === 200,
  );
}

// Something on every page of the console: the rows of `standing`, and next to them rows of slow causes.
import pg from 'pg';
import { type Json, type World } from '../support/rigs/world.js';
import { cli } from '../cli/rig.js';
import { reviewsOf } from '../support/rigs/channels.js';
import { status, type StandingSetup } from './standing.js';

/** Every page worth a look, by the name of its picture. */
export type Furnished = StandingSetup & { readonly disputeId: string; readonly disputedInvoice: string };

/** Its settings for the daemon. */
export const furnishing = (world: World): Record<string, string> => ({
  RETRY_SCHEDULE: 'soft=3d,5d hard=link authentication=link end=uncollectible',
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  RECOVERY_LINK_JURISDICTION: 'GB',
  RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks',
});

export async function furnished(world: World): Promise<Furnished> {
  const books = await status(world);
  const disputed = await world.subscriber({ email: 'barbara@example.com', amount: 45_000 });
  const paid = await world.invoice(disputed.firstInvoiceId, 'paid');
  const [payment] = paid['payments'] as Json[];
  const disputeId = 'dp_shown0000000001';
  await world.control('POST', '/events', {
    type: 'dispute.action_needed',
    data: {
      disputeId,
      pspReference: payment?.['processor_charge_id'],
      deadline: new Date(Date.now() + 6 * 86_400_000).toISOString(),
      dashboardUrl: 'https://dashboard.example/disputes/1',
      amount: '450.00',
      currency: 'EUR',
    },
  });
  await reviewsOf(world, disputed.firstInvoiceId, 'dispute');
  const refused = (await world.api('GET', `/v1/invoices/${books.openId}`)).body;
  const customer = String(refused['customer_id']);
  await world.api('POST', `/v1/customers/${customer}/payment-method`, {});
  await byHand(world, books.invoiceId, disputed.customerId);
  await cli(['move', '--yes'], world.env);
  const found = await world.api<{ data: Json[] }>('GET', '/v1/verify/differences');
  return {
    ...books,
    disputeId,
    disputedInvoice: disputed.firstInvoiceId,
    pages: {
      // First: the daily verify of a slow machine replaces the run.
      difference: `/console/verify/${String(found.body.data[0]?.['id'])}`,
      ...books.pages,
      'ask-card': `/console/invoices/${books.openId}/ask-card`,
      retry: `/console/invoices/${books.openId}/retry`,
      'method-confirmed': `/console/customers/${customer}/payment-method/confirmed`,
      disputes: '/console/disputes',
      dispute: `/console/disputes/${disputeId}`,
      'evidence-sent': `/console/disputes/${disputeId}/evidence-sent`,
      retries: '/console/retries',
      enrolment: '/console/enrolment',
      moves: '/console/moves',
      outside: '/console/enrolment/outside',
      notifications: '/console/notifications',
      notification: '/console/notifications/msg_shown2',
    },
  };
}

/** Rows as the daemon would have written them in weeks of work with a receiver and a bookkeeper. */
async function byHand(world: World, invoiceId: string, customerId: string): Promise<void> {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  await client.query(
    `insert into ledger_day (day, currency, reason, debit_account, credit_account, entries, amount)
     select current_date - n, 'EUR', 'payment_collected', 'mor_receivable', 'unmarked_payments', 30 + n * n * 5 % 17, 2990 * (30 + n * n * 5 % 17)
       from generate_series(1, 29) n
     union all
     select current_date - n, 'EUR', 'refund_paid', 'unmirrored_refunds', 'mor_receivable', n % 4, 2990 * (n % 4) from generate_series(1, 29) n where n % 4 > 0`,
  );
  await client.query(
    `insert into renewals_day (day, counted_at, paid, unpaid, waiting)
     select current_date - n, now(), 40 + n * 7 % 9, 1 + n % 3, 0 from generate_series(1, 29) n on conflict (day) do nothing`,
  );
  await client.query(
    `insert into customer_link (customer_id, mor_customer_id, reference, linked_by, linked_at) values
       ('cus_shown0000001', 'mcus_7d41', 'batch 1', 'kei', now()), ('cus_shown0000002', 'mcus_7d42', 'batch 1', 'kei', now())`,
  );
  await client.query(
    `insert into invoice (invoice_id, customer_id, number, status, platform_status, billing_reason, currency, amount_due, enrolled, platform_created_at, first_seen_at)
     values ('in_left0000000001', 'cus_left000000001', 'LEFT-0001', 'ignored', 'open', 'subscription_cycle', 'EUR', 1990, false, now(), now())`,
  );
  const refusal = { at: new Date().toISOString(), outcome: 'failed', kind: 'soft', code: 'insufficient_funds' };
  const ended = { at: refusal.at, how: 'nothing', why: null };
  await client.query(
    `insert into invoice (invoice_id, customer_id, number, status, platform_status, billing_reason, currency, amount_due, amount_remaining,
                          retries, platform_created_at, first_seen_at)
     values ('in_refused000001', $1, 'REFUSED-0001', 'open', 'open', 'subscription_cycle', 'EUR', 1990, 1990, $2, now(), now())`,
    [customerId, JSON.stringify({ refusal, retries: [], waitingSince: null, askedAt: null, ended })],
  );
  const body = JSON.stringify({ type: 'invoice.paid', timestamp: new Date().toISOString(), data: { id: invoiceId } });
  const tries = [
    { at: new Date(Date.now() - 3_600_000).toISOString(), status: 503, why: 'it answered 503', elapsedMs: 41 },
    { at: new Date().toISOString(), status: null, why: 'nobody answered within 15 s', elapsedMs: 15_000 },
  ];
  await client.query(
    `insert into notification (id, type, subject, invoice_id, format, body, status, attempts, tries, created_at, delivered_at) values
       ('msg_shown1', 'invoice.paid', 'shown1', $1, 'standard', $2, 'delivered', 1, '[]', now() - interval '2 hours', now() - interval '2 hours'),
       ('msg_shown2', 'invoice.paid', 'shown2', $1, 'standard', $2, 'dead', 2, $3, now() - interval '1 hour', null)`,
    [invoiceId, body, JSON.stringify(tries)],
  );
  await client.end();
}

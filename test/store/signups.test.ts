// The payment methods of signups in a real PostgreSQL: a charge confirms the method behind it, and some mean a bank debit.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../src/shared/domain/model.js';
import { newPayment } from '../../src/core/books/rules/payment-rows.js';
import { INVOICE_ID, aPaymentSucceeded, anInvoice, invoiceEvent } from '../support/builders/events.js';
import { ensureInvoice } from '../support/rigs/decide.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { putPayment } from '../support/builders/put-rows.js';

let x: LaneOnPostgres;
laneForEach((opened) => {
  x = opened;
  x.harness.platform.put(anInvoice());
});

/** The customer of the invoice made a setup at this time. */
async function setup(id: string, at: Date): Promise<void> {
  await x.db.pool.query(
    `insert into signup (id, kind, customer_id, status, intent_id, mor_key, path, body, created_by, created_at)
     values ($1, 'trial', 'cus_oak', 'succeeded', 'i', $1, '/', '{}', 'shop', $2)`,
    [id, at],
  );
}

async function confirmed(): Promise<readonly string[]> {
  const found = await x.db.pool.query<{ id: string }>(
    `select id from signup where confirmed_at is not null and confirmed_by = 'charge' order by seq`,
  );
  return found.rows.map((r) => r.id);
}

it('the charge of a renewal confirms the newest payment method set up before the charge, but no method set up in the same second', async () => {
  const chargedAt = new Date(Math.floor(x.harness.clock.now().getTime() / 1_000) * 1_000);
  await setup('sup_old', new Date(chargedAt.getTime() - 60_000));
  await setup('sup_before', new Date(chargedAt.getTime() - 1));
  await setup('sup_same_second', new Date(chargedAt.getTime() + 500));
  await x.harness.take(aPaymentSucceeded());
  expect((await x.harness.state(INVOICE_ID)).payments).toMatchObject([{ succeededAt: chargedAt }]);
  expect(await confirmed()).toEqual(['sup_before']);
});

it.each([
  [
    'pays by bank debit after a trial with a bank debit only',
    'trial',
    '{"payment_method_types":["sepa_debit"]}',
    null,
    true,
  ],
  [
    'pays by no known debit after a trial open to card and debit',
    'trial',
    '{"payment_method_types":["card","sepa_debit"]}',
    null,
    false,
  ],
  [
    'pays by no known debit after a trial with an undocumented method',
    'trial',
    '{"payment_method_types":["wero"]}',
    null,
    false,
  ],
  ['pays by no known debit after a trial with a card', 'trial', '{}', null, false],
  ['pays by no known debit after the erasure of the signup request', 'trial', null, null, false],
  ['pays by bank debit after a payment settled within four days', 'payment', '{}', 4 * 86_400, true],
  ['pays by no known debit after a payment settled within ten seconds', 'payment', '{}', 10, false],
  ['pays by no known debit after a payment charged immediately', 'payment', '{}', null, false],
])(
  'Crossbill infers from the signup how a customer pays: the customer %s',
  async (what, kind, body, settledSec, debit) => {
    const { context, backend } = x.harness;
    const [customer, signup, lane] = [`cus ${what}`, `sup ${what}`, `in ${what}`];
    await x.db.pool.query(
      `insert into signup (id, kind, customer_id, status, intent_id, mor_key, path, body, created_by, created_at)
       values ($1, $2, $3, 'succeeded', 'i', $1, '/', $4, 'shop', now())`,
      [signup, kind, customer, body],
    );
    const since = context.now().now;
    const paid = (before: LaneState): LaneState => {
      const { state } = ensureInvoice(before, context.now());
      const p = newPayment(context.now(), { invoiceId: lane, customerId: customer, currency: 'EUR', signupId: signup });
      const succeededAt = new Date(since.getTime() + (settledSec ?? 0) * 1000);
      return putPayment(state, { ...p, succeededAt, pendingSince: settledSec === null ? null : since });
    };
    if (kind === 'payment') await changeByHand(x.db.pool, lane, paid);
    expect(await backend.books.signups.paysByDebit(customer)).toBe(debit);
  },
);

const BEFORE = new Date('2026-11-01T00:00:00Z');
const SINCE = new Date('2026-11-10T00:00:00Z');
const AFTER = new Date('2026-11-11T00:00:00Z');
const confirm = (id: string) => x.db.pool.query('update signup set confirmed_at = created_at where id = $1', [id]);
const link = (signup: string | null) =>
  x.db.pool.query(
    `insert into customer_link (customer_id, mor_customer_id, signup_id, linked_at) values ('cus_oak', 'mcus', $1, now())`,
    [signup],
  );

it.each<[string, () => Promise<unknown>, boolean]>([
  ['is unknown', async () => undefined, false],
  ['paid a renewal through the MoR', () => x.harness.take(aPaymentSucceeded()), true],
  ['confirmed a payment method before', () => setup('sup_old', BEFORE).then(() => confirm('sup_old')), true],
  ['left an old signup', () => setup('sup_old', BEFORE).then(() => link('sup_old')), false],
  ['came by an import', () => link(null), true],
  ['came by an import, and has a signup of now', () => link(null).then(() => setup('sup_new', AFTER)), false],
])('a first invoice is left out by the signups of its customer, who %s', async (_, given, leftOut) => {
  await given();
  expect(await x.harness.backend.books.signups.leavesOut({ customerId: 'cus_oak', since: SINCE })).toBe(leftOut);
});

it('the first invoice of a second subscription without a signup becomes an item in a real database', async () => {
  const first = { status: 'open', billingReason: 'subscription_create', invoiceId: 'in_second' } as const;
  x.harness.platform.put(anInvoice(first));
  await x.harness.take(aPaymentSucceeded(), invoiceEvent('invoice.created', first));
  await x.harness.idle(18);
  const { rows } = await x.db.pool.query(
    `select i.status, i.left_out, r.kind, r.topic from invoice i left join review r on r.invoice_id = i.invoice_id
      where i.invoice_id = 'in_second'`,
  );
  expect(rows).toEqual([{ status: 'review', left_out: true, kind: 'signup_overdue', topic: 'first-invoice-unpaid' }]);
});

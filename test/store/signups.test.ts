// The payment methods of signups in a real PostgreSQL: a charge confirms the method behind it, and some mean a bank debit.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../src/shared/domain/model.js';
import { newPayment } from '../../src/engine/payment.js';
import { INVOICE_ID, aPaymentSucceeded, anInvoice } from '../support/builders.js';
import { ensureInvoice } from '../support/decide.js';
import { changeByHand } from '../support/lane-log.js';
import { type LaneOnPostgres, laneForEach } from '../support/lane-on-postgres.js';
import { putPayment } from '../support/put-rows.js';

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
    const paid = (s: LaneState): LaneState => {
      const { state } = ensureInvoice(s, context.now());
      const p = newPayment(context.now(), { invoiceId: lane, customerId: customer, currency: 'EUR', signupId: signup });
      const succeededAt = new Date(since.getTime() + (settledSec ?? 0) * 1000);
      return putPayment(state, { ...p, succeededAt, pendingSince: settledSec === null ? null : since });
    };
    if (kind === 'payment') await changeByHand(x.db.pool, lane, paid);
    expect(await backend.books.signups.paysByDebit(customer)).toBe(debit);
  },
);

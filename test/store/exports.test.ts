// An export while renewals are being marked and refunds mirrored: an entry is there before the row that it names, and stands in it all the same.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Export, ExportsStore } from '../../src/ledger/exports.store.js';
import { aPaymentSucceeded, anInvoice, aRefund, INVOICE_ID } from '../support/builders.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
  x.harness.platform.put(anInvoice());
});
afterEach(() => x.close());

async function all<R>(pages: Export<R>): Promise<R[]> {
  const rows: R[] = [];
  for await (const page of pages) rows.push(...page.rows);
  return rows;
}

it('has each payment and each refund, also while Stripe is asked to show them', async () => {
  const { platform } = x.harness;
  const exports = new ExportsStore(x.db);
  const seen: string[] = [];
  const send = platform.send.bind(platform);
  platform.send = async (...call) => {
    const payments = await all(exports.payments({}));
    const refunds = await all(exports.refunds({}));
    const has = async (table: string): Promise<string> =>
      (await x.db.pool.query(`select from ${table} where invoice_id = $1`, [INVOICE_ID])).rowCount === 0
        ? ' (no row)'
        : '';
    seen.push(
      ...payments.map((p) => `payment ${p.payment.paymentId ?? ''} of ${p.entry.amount}`),
      ...refunds.map(
        (r) => `refund ${r.refund.morRefundId ?? ''} of ${r.entry.amount} of ${r.payment.paymentId ?? ''}`,
      ),
    );
    seen.push(`rows:${await has('payment')}${await has('refund')}`);
    return send(...call);
  };
  await x.harness.take(aPaymentSucceeded());
  expect(seen.slice(0, 2)).toEqual(['payment pay_oak of 1000', 'rows: (no row) (no row)']);
  seen.length = 0;
  await x.harness.take(aRefund({ amount: 300 }));
  expect(seen.slice(0, 3)).toEqual(['payment pay_oak of 1000', 'refund rfnd_1 of 300 of pay_oak', 'rows: (no row)']);
});

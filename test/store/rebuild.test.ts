// The read rows of an invoice are made of its log: what they say can be lost, and is the same again.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { requestRefund } from '../../src/refunds/rules/request-refund.js';
import { Rebuild } from '../../src/engine/rebuild.js';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  INVOICE_ID,
  invoiceEvent,
} from '../support/builders.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
  const { harness } = x;
  harness.platform.put(anInvoice());
  harness.platform.put(anInvoice({ invoiceId: 'in_elm' }));
  await harness.take(invoiceEvent('invoice.created'), aPaymentFailed({ paymentId: 'pay_first' }));
  harness.clock.advance(1_000);
  await harness.take(aPaymentSucceeded(), invoiceEvent('invoice.created', { invoiceId: 'in_elm' }));
  const [payment] = (await harness.state(INVOICE_ID)).payments.filter((p) => p.status === 'succeeded');
  harness.gateway.trouble.push('lost-request');
  const asked = { amount: 300n, reason: null, metadata: {}, by: 'ops' } as never;
  await harness.command(INVOICE_ID, (s, ctx) => requestRefund(s, payment?.id ?? '', asked, ctx));
  await harness.drain();
});
afterEach(() => x.close());

const TABLES = ['invoice', 'payment', 'refund', 'review', 'mor_object', 'open_call'];

/** Every read row but for its number. */
async function readRows(): Promise<string> {
  const rows = await Promise.all(
    TABLES.map((t) => x.db.pool.query(`select '${t}' as t, (to_jsonb(r) - 'seq')::text as row from ${t} r order by 2`)),
  );
  return rows
    .flatMap((found) => found.rows as { t: string; row: string }[])
    .map((r) => `${r.t} ${r.row}`)
    .join('\n');
}

describe('rebuild', () => {
  it('finds nothing to do where the read rows are as the logs say', async () => {
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 0, failed: [] });
  });

  it('makes rows that were changed or lost the same again, and says of how many invoices', async () => {
    const before = await readRows();
    expect(before).toContain('refund {');
    expect(before).toContain('open_call {');
    await x.db.pool.query(`update invoice set status = 'void' where invoice_id = $1`, [INVOICE_ID]);
    await x.db.pool.query(`update payment set mark = 'parked', amount_refunded = 1000`);
    await x.db.pool.query('delete from refund; delete from open_call');
    expect(await readRows()).not.toBe(before);
    const checked = await new Rebuild(x.db).run(true, () => undefined);
    expect(checked).toEqual({ lanes: 2, differed: 1, failed: [] });
    expect(await readRows()).not.toBe(before);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(checked);
    expect(await readRows()).toBe(before);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 0, failed: [] });
  });

  it('takes away the row of a refund that was joined to another since', async () => {
    const { harness } = x;
    const [payment] = (await harness.state(INVOICE_ID)).payments.filter((p) => p.status === 'succeeded');
    harness.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
    await harness.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 200 }));
    const asked = { amount: 200n, reason: null, metadata: {}, by: 'ops' } as never;
    await harness.command(INVOICE_ID, (s, ctx) => requestRefund(s, payment?.id ?? '', asked, ctx));
    await x.db.pool.query('create table before_join as select * from refund');
    await harness.drain();
    const joined = await readRows();
    expect((await harness.state(INVOICE_ID)).refunds.map((r) => r.status)).toContain('joined');
    expect(joined.match(/^refund /gm)).toHaveLength(2);
    await x.db.pool.query(
      'insert into refund overriding system value select * from before_join where id not in (select id from refund)',
    );
    expect((await readRows()).match(/^refund /gm)).toHaveLength(3);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 1, failed: [] });
    expect(await readRows()).toBe(joined);
  });

  it('goes on behind an invoice whose log cannot be read, and names it', async () => {
    await x.db.pool.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
       select lane, max(version) + 1, max(at), true, false, '{"f":99}' from lane_log where lane = $1 group by lane`,
      [INVOICE_ID],
    );
    await x.db.pool.query(`update invoice set status = 'void' where invoice_id = 'in_elm'`);
    const why = expect.stringContaining('has format 99');
    const done = { lanes: 2, differed: 1, failed: [{ lane: INVOICE_ID, why }] };
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(done);
    const { rows } = await x.db.pool.query(`select status from invoice where invoice_id = 'in_elm'`);
    expect(rows).toEqual([{ status: 'expected' }]);
  });

  it('makes rows right whose names another invoice’s rows hold by mistake', async () => {
    await x.harness.take(aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', chargeId: 'ch_elm' }));
    const before = await readRows();
    const rename = 'update payment set payment_id = $2 where payment_id = $1';
    for (const [from, to] of [
      ['pay_oak', 'pay_x'],
      ['pay_elm', 'pay_oak'],
    ])
      await x.db.pool.query(rename, [from, to]);
    const done = { lanes: 2, differed: 2, failed: [] };
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(done);
    expect(await readRows()).toBe(before);
  });

  it('makes them all from nothing, in the order in which the invoices came', async () => {
    const before = await readRows();
    await x.db.pool.query(`truncate ${TABLES.join(', ')}`);
    expect((await new Rebuild(x.db).run(false, () => undefined)).differed).toBe(2);
    expect(await readRows()).toBe(before);
    const { rows } = await x.db.pool.query('select invoice_id from invoice order by seq');
    expect(rows).toEqual([{ invoice_id: INVOICE_ID }, { invoice_id: 'in_elm' }]);
  });
});

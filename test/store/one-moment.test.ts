// A payment is shown as of one moment: a step of its lane writes the payment and its refunds together, and a reader sees both or neither.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Database } from '../../src/store/database.js';
import { ReadModel } from '../../src/engine/read-model.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { PaymentsStore } from '../../src/payments/payments.store.js';

const READS = 300;

let fresh: TestDatabase;
let db: Database;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 3, onError: () => undefined });
  await db.pool.query(
    `insert into invoice (invoice_id, customer_id, status, platform_status, first_seen_at) values ('in_1', 'cus_1', 'paid', 'paid', now());
     insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, succeeded_at, mark, recorded_at)
     values ('pmt_1', 'pay_1', 'in_1', 'cus_1', 'renewal', 'succeeded', 1000, 'eur', now(), 'confirmed', now());
     insert into refund (id, payment_row_id, invoice_id, amount, currency, status, origin, counted, mirror, created_at)
     values ('ref_1', 'pmt_1', 'in_1', 600, 'eur', 'unknown', 'api', false, 'waiting', now());`,
  );
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

it('what is refunded of a payment and its refunds agree in every answer, however often both change meanwhile', async () => {
  const [books, payments] = [new ReadModel(db), new PaymentsStore(db)];
  let over = false;
  const steps = async (): Promise<number> => {
    let n = 0;
    for (; !over; n++) {
      const refunded = n % 2 === 0;
      await db.pool.query(
        `with r as (update refund set status = $1 where id = 'ref_1')
         update payment set amount_refunded = $2 where id = 'pmt_1'`,
        [refunded ? 'succeeded' : 'unknown', refunded ? 600 : 0],
      );
    }
    return n;
  };
  const stepping = steps();
  const torn: string[] = [];
  for (let n = 0; n < READS; n++) {
    const one =
      n % 2 === 0 ? await books.payment('pay_1') : (await payments.list({}, { limit: 1, cursor: null })).data[0];
    const said = [one?.payment.amountRefunded, one?.refunds[0]?.status].join(' ');
    if (said !== '600 succeeded' && said !== '0 unknown') torn.push(said);
  }
  over = true;
  expect(await stepping).toBeGreaterThan(READS / 2);
  expect(torn).toEqual([]);
});

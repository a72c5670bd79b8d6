// Content of real length on every page: a name of 40 letters, amounts of twelve digits, a payment link, long numbers.
import pg from 'pg';
import { type World } from '../support/rigs/world.js';
import { type Furnished } from './furnish.js';

/** 40 letters. */
export const LONG_NAME = 'Wolfeschlegelsteinhausen & Bergerdorf eG';

const KEY = { 'idempotency-key': 'long-content' };
/** In smallest units. */
const TWELVE_DIGITS = '123456789012';

export async function lengthen(world: World, books: Furnished): Promise<Furnished> {
  const made = await world.api('POST', `/v1/invoices/${books.openId}/payment-link`, {
    jurisdiction: 'GB',
    return_url: 'https://shop.example/account/invoices/thanks-for-paying?from=a-payment-link-of-the-mor',
    expires_in: 86_400,
  });
  if (made.status !== 201) throw new Error(`payment link: ${JSON.stringify(made.body)}`);
  const refund = await world.api('POST', `/v1/payments/${books.paymentId}/refunds`, { amount: 100 }, KEY);
  await world.until(
    'the refund succeeded',
    () => world.api('GET', `/v1/refunds/${String(refund.body['id'])}`),
    (r) => r.body['status'] === 'succeeded',
  );
  for await (const { id } of world.stripe.customers.list({ limit: 100 }))
    await world.stripe.customers.update(id, { name: LONG_NAME });
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  for (const sql of [
    `update invoice set amount_due = ${TWELVE_DIGITS}, amount_remaining = case when amount_remaining > 0 then ${TWELVE_DIGITS} else 0 end,
                        number = 'AB12CD34EF56-' || lpad(seq::text, 6, '0')`,
    `update payment set amount = ${TWELVE_DIGITS} where amount is not null`,
    `update refund set amount = ${TWELVE_DIGITS}`,
    `update mor_object set amount = ${TWELVE_DIGITS} where kind in ('dispute', 'alert', 'payment_link')`,
    `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     select debit_account, credit_account, ${TWELVE_DIGITS}, currency, reason, 'long-' || id, invoice_id, payment_row_id, moved_at, recorded_at
       from ledger_entry where reason <> 'payment_collected'`,
  ])
    await client.query(sql);
  await client.end();
  return {
    ...books,
    pages: { ...books.pages, 'refund-done': `/console/refunds/${String(refund.body['id'])}` },
  };
}

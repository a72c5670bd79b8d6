// The payment methods of signups in a real PostgreSQL: a charge confirms the method behind it.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { INVOICE_ID, aPaymentSucceeded, anInvoice } from '../support/builders.js';
import { type LaneOnPostgres, laneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
  x.harness.platform.put(anInvoice());
});
afterEach(() => x.close());

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

it("a renewal's charge confirms the newest setup before it, and no setup in its own second", async () => {
  const chargedAt = new Date(Math.floor(x.harness.clock.now().getTime() / 1_000) * 1_000);
  await setup('sup_old', new Date(chargedAt.getTime() - 60_000));
  await setup('sup_before', new Date(chargedAt.getTime() - 1));
  await setup('sup_same_second', new Date(chargedAt.getTime() + 500));
  await x.harness.take(aPaymentSucceeded());
  expect((await x.harness.state(INVOICE_ID)).payments).toMatchObject([{ succeededAt: chargedAt }]);
  expect(await confirmed()).toEqual(['sup_before']);
});

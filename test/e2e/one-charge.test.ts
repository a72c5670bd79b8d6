// Two invoices' payments that name one charge: the charge is booked once, and a person hears of both.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/world.js';
import { deafMor, newPaid, openRenewal, stripeSide, tellSucceeded, untilReviews } from './support/story.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

it('one charge named by two invoices is the payment of the first alone, and a double_payment item names both', async () => {
  await deafMor(world);
  const first = newPaid();
  const second = { ...newPaid(), chargeId: first.chargeId };
  const invoices: string[] = [];
  for (const ids of [first, second]) {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await openRenewal(world, s);
    await tellSucceeded(world, ids, { customerId: s.customerId, invoiceId, amount: 2990 });
    if (ids === first) await world.invoice(invoiceId, 'paid');
    invoices.push(invoiceId);
  }
  const [paid = '', other = ''] = invoices;
  const [item] = await untilReviews(world, other, ['double_payment']);
  for (const name of [paid, first.paymentId, second.paymentId, first.chargeId])
    expect(String(item?.['summary'])).toContain(name);
  expect((await stripeSide(world, paid)).attached).toHaveLength(1);
  expect((await stripeSide(world, other)).attached).toEqual([]);
  expect((await world.stripe.invoices.retrieve(other)).status).toBe('open');
  const ledger = await world.api('GET', `/v1/ledger?invoice_id=${other}`);
  expect(ledger.body['data']).toEqual([]);
});

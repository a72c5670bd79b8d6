// Two payments whose refunds carry one processor_refund_id: both are booked, and what Stripe refuses is told.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/world.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  stripeSide,
  tell,
  paymentObject,
  tellSucceeded,
  untilPayment,
  untilReviews,
} from './support/story.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

it('two refunds with one processor_refund_id are both recorded, and the one that Stripe refuses is an item that names the other', async () => {
  await deafMor(world);
  const paid = [];
  for (const n of [1, 2]) {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await openRenewal(world, s);
    const ids = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 2990 };
    await tellSucceeded(world, ids, said);
    await world.invoice(invoiceId, 'paid');
    const refund = { refund_id: `rfnd_${n}`, processor_refund_id: 're_shared', amount_refunded_total: 1000 };
    await tell(world, 'payment.refunded', paymentObject(ids, 'partially_refunded', { ...said, amount: 1000 }, refund));
    await untilPayment(world, ids.paymentId, 'is given back in part', (p) => p['amount_refunded'] === 1000);
    paid.push({ ...ids, invoiceId });
    if (n === 1)
      await world.until(
        'the first shows on Stripe',
        () => stripeSide(world, invoiceId),
        (side) => side.notes.length === 1,
      );
  }
  const [first, second] = paid.map((p) => p.invoiceId);
  const [item] = await untilReviews(world, second ?? '', ['effect_failed']);
  expect(String(item?.['summary'])).toContain('refund_reference exists already');
  const other = `Refund rfnd_1 of payment ${paid[0]?.paymentId}, invoice ${first}, carries the same processor's refund id re_shared`;
  expect(String(item?.['proposal'])).toContain(other);
  expect((await stripeSide(world, first ?? '')).refundReferences).toEqual(['re_shared']);
  expect((await stripeSide(world, second ?? '')).notes).toEqual([]);
  const { body } = await world.api('GET', '/v1/events?status=parked');
  expect(body['data']).toEqual([]);
});

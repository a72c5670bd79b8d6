// A part payment that a person lets through, and the rest that settles the invoice.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/world.js';
import { deafMor, newPaid, openRenewal, stripeSide, tellSucceeded, untilReviews } from './support/story.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

it('leaves the invoice open for the rest, marks the rest, and holds a third payment', async () => {
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  await deafMor(world);
  const invoiceId = await openRenewal(world, s);
  const said = { customerId: s.customerId, invoiceId };

  await tellSucceeded(world, newPaid(), { ...said, amount: 1000 });
  const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
  const applied = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, {
    resolution: 'apply',
    note: 'a part',
  });
  expect(applied.status).toBe(200);
  await world.until(
    'the part is attached',
    () => stripeSide(world, invoiceId),
    (there) => there.attached.length === 1,
  );
  expect((await stripeSide(world, invoiceId)).status).toBe('open');

  await tellSucceeded(world, newPaid(), { ...said, amount: 1990 });
  await world.invoice(invoiceId, 'paid');
  const there = await stripeSide(world, invoiceId);
  expect([there.status, there.attached.length, there.amountPaid]).toEqual(['paid', 2, 2990]);

  await tellSucceeded(world, newPaid(), { ...said, amount: 1990 });
  await untilReviews(world, invoiceId, ['double_payment']);
  expect((await stripeSide(world, invoiceId)).attached).toHaveLength(2);
});

// Two invoices' payments that name one charge: the charge is booked once, and a person hears of both.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
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

  // Verify names it too, on the invoice that is not booked, until a person has set that payment aside.
  const named = async (): Promise<unknown[]> => {
    const { out } = await cli(['verify', '--json'], world.env);
    const report = JSON.parse(out) as Record<'differences' | 'explained', { kind: string }[]>;
    return [...report.differences, ...report.explained].filter((d) => d.kind === 'charge_on_two_invoices');
  };
  const [line, ...more] = await named();
  expect(more).toEqual([]);
  expect(line).toMatchObject({
    invoice_id: other,
    payment_id: second.paymentId,
    object_id: first.chargeId,
    review_id: item?.['id'],
    detail: `charge ${first.chargeId} is named by payment ${first.paymentId} of invoice ${paid} (confirmed) and by payment ${second.paymentId} of invoice ${other} (parked)`,
  });
  // Nothing is booked here that could be refunded or marked: only to set it aside is offered.
  expect(item?.['actions']).toEqual(['dismiss']);
  const retried = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, { resolution: 'retry' });
  expect(retried).toMatchObject({ status: 409, body: { code: 'resolution_not_available' } });
  const settled = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, { resolution: 'dismiss' });
  expect(settled.status).toBe(200);
  expect(await named()).toEqual([]);
});

// One charge is one sum of money: the database holds it to one payment, whatever two invoices' payments name.
import { wordsOf } from '../support/item-words.js';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { resolveReview } from '../../src/decisions/decide.js';
import { identifyPayment } from '../../src/refunds/rules/identify-payment.js';
import { completeSignup } from '../../src/signups/rules/complete-signup.js';
import { anInvoice, aPaymentSucceeded, COMPLETION, INVOICE_ID } from '../support/builders.js';
import { balances } from '../support/lane-harness.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

let x: LaneOnPostgres;
beforeEach(async () => {
  x = await laneOnPostgres();
  x.harness.platform.put(anInvoice());
  x.harness.platform.put(anInvoice({ invoiceId: 'in_elm' }));
});
afterEach(() => x.close());

const second = () =>
  aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_elm', chargeId: 'ch_1' });

it('one charge that two invoices name is booked and marked once, and an item names both', async () => {
  const { harness } = x;
  await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }));
  await harness.take(second());
  expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
  const elm = await harness.state('in_elm');
  expect(elm.entries).toEqual([]);
  expect(elm.payments).toMatchObject([{ paymentId: 'pay_elm', mark: 'parked', succeededAt: null }]);
  const [item] = elm.reviews;
  expect(item).toMatchObject({ kind: 'double_payment', status: 'open', invoiceId: 'in_elm' });
  for (const name of ['pay_elm', 'ch_1', 'pay_oak', INVOICE_ID]) expect(wordsOf(item).summary).toContain(name);
  const { rows } = await x.db.pool.query(`select distinct status from inbox_event`);
  expect(rows).toEqual([{ status: 'done' }]);

  // Reported again, it is still one item.
  await harness.take(
    aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_more', chargeId: 'ch_1' }),
  );
  expect((await harness.state('in_elm')).reviews).toHaveLength(1);
  expect(balances(await harness.state(INVOICE_ID))).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
});

it('the item names the first payment as the MoR does, also where it got that name after its money was booked', async () => {
  const { harness } = x;
  harness.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  harness.gateway.charges.add(COMPLETION.chargeId);
  await harness.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await harness.rest();
  const [p] = (await harness.state(INVOICE_ID)).payments;
  expect(p).toMatchObject({ mark: 'confirmed', paymentId: null });
  await harness.command(INVOICE_ID, (s, ctx) => identifyPayment(s, p?.id ?? '', 'pay_first', 'ops', ctx));
  const twin = { invoiceId: 'in_elm', paymentId: 'pay_elm', eventId: 'evt_elm', chargeId: COMPLETION.chargeId };
  await harness.take(aPaymentSucceeded(twin));
  const [item] = (await harness.state('in_elm')).reviews;
  for (const name of ['pay_elm', 'pay_first', INVOICE_ID]) expect(wordsOf(item).summary).toContain(name);
});

it('both at once: one of them is booked, and the other is the item', async () => {
  const { harness } = x;
  await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }), second());
  const both = [await harness.state(INVOICE_ID), await harness.state('in_elm')];
  expect(both.map((s) => s.entries.filter((e) => e.reason === 'payment_collected').length).sort()).toEqual([0, 1]);
  expect(both.flatMap((s) => s.reviews.map((r) => r.kind))).toEqual(['double_payment']);
  expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

it('a person cannot have it marked for the second invoice, and dismisses it', async () => {
  const { harness } = x;
  await harness.take(aPaymentSucceeded({ chargeId: 'ch_1' }));
  await harness.take(second());
  const [item] = (await harness.state('in_elm')).reviews;
  const choose = (resolution: 'retry' | 'dismiss') =>
    harness.command('in_elm', (s, ctx) => resolveReview(s, item?.id ?? '', { resolution, note: 'n', by: 'ops' }, ctx));
  expect(await choose('retry')).toMatchObject({ ok: false, status: 409, code: 'resolution_not_available' });
  expect(await choose('dismiss')).toMatchObject({ ok: true });
  await harness.rest();
  const elm = await harness.state('in_elm');
  expect(elm.payments).toMatchObject([{ mark: 'none', status: 'failed', succeededAt: null }]);
  expect(elm.invoice?.status).toBe('open');
  expect(elm.reviews).toMatchObject([{ status: 'resolved', resolution: 'dismiss' }]);
  expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

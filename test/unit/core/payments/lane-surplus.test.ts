// More or less was taken for an invoice than is due on it after the mark, on the lane's real flow: what a person chooses, and what becomes
// of it.
import { eur } from '../../../support/builders/channel-object.js';
import { expect, it } from '@jest/globals';
import { openFacts } from '../../../support/builders/channel-lane.js';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type Resolution } from '../../../../src/shared/domain/review-row.js';
import { type Delivery } from '../../../../src/shared/domain/ports/inbox.js';
import { aPaymentSucceeded, aRefund, INVOICE_ID, invoiceEvent } from '../../../support/builders/events.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';

const state = (harness: LaneHarness): Promise<LaneState> => harness.state(INVOICE_ID);

async function choose(harness: LaneHarness, resolution: Resolution): Promise<LaneState> {
  await chooseItem(harness, resolution);
  await harness.idle();
  return state(harness);
}

/** 10.00 are marked. A credit note of 2.00 came between our look and the mark, so 2.00 are too much. */
async function overpaid(): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice();
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.deliver(aPaymentSucceeded());
  const send = h.platform.send.bind(h.platform);
  h.platform.send = async (call) => {
    if (call.asked.kind === 'attach_payment') h.platform.change(INVOICE_ID, { amountDue: 800n, amountRemaining: 800n });
    return send(call);
  };
  await h.drain();
  expect(openKinds(await state(h))).toEqual(['amount_mismatch']);
  return h;
}

it('after the MoR refuses a surplus refund, the review item opens again, and a second choice refunds the surplus', async () => {
  const h = await overpaid();
  h.gateway.trouble.push('refused');
  const refused = await choose(h, 'refund');
  expect(refused.refunds.map((r) => [r.amount, r.status])).toEqual([[200n, 'failed']]);
  expect(openKinds(refused)).toEqual(['amount_mismatch']);
  const s = await choose(h, 'refund');
  expect(s.refunds.map((r) => [r.amount, r.status, r.surplus])).toEqual([
    [200n, 'failed', 0n],
    [200n, 'succeeded', 200n],
  ]);
  expect([openKinds(s), h.platform.notes]).toEqual([[], []]);
});

it('a failed refund of a surplus opens the review item again', async () => {
  const h = await overpaid();
  h.gateway.nextStatus = 'failed';
  const s = await choose(h, 'refund');
  expect(s.refunds.map((r) => r.status)).toEqual(['failed']);
  expect(openKinds(s).toSorted()).toEqual(['amount_mismatch', 'refund_stuck']);
});

it('a pending refund of a surplus opens no review item', async () => {
  const h = await overpaid();
  h.gateway.nextStatus = 'pending';
  const s = await choose(h, 'refund');
  expect([s.refunds.map((r) => r.status), openKinds(s)]).toEqual([['pending'], []]);
  await h.take(aRefund({ refundId: s.refunds[0]?.morRefundId ?? '', amount: 200, total: 200 }));
  expect([(await state(h)).refunds.map((r) => r.status), openKinds(await state(h))]).toEqual([['succeeded'], []]);
});

/** As an endpoint with an API version of before 2025-03-31 gets it: without a surplus, and with nothing paid where it came out of band. */
function paidEvent(at: Date, amountPaid: bigint): Delivery {
  const e = invoiceEvent('invoice.paid', { at, amountDue: 800n, amountPaid, amountRemaining: 0n });
  const body = JSON.parse(e.body.toString('utf8')) as { data: { object: { amount_overpaid?: number } } };
  delete body.data.object.amount_overpaid;
  return { ...e, body: Buffer.from(JSON.stringify(body)) };
}

it('a Stripe event without an overpaid amount keeps the surplus item open, and the chosen refund makes no credit note', async () => {
  const h = await overpaid();
  await h.take(paidEvent(h.clock.now(), 1000n));
  expect(openKinds(await state(h))).toEqual(['amount_mismatch']);
  const s = await choose(h, 'refund');
  expect([s.refunds.map((r) => [r.amount, r.surplus]), h.platform.notes]).toEqual([[[200n, 200n]], []]);
});

it('after an out-of-band mark, a Stripe event without an overpaid amount keeps the surplus item open', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { markMode: 'out_of_band' } });
  await h.deliver(aPaymentSucceeded());
  const send = h.platform.send.bind(h.platform);
  h.platform.send = async (call) => {
    if (call.asked.kind === 'pay_out_of_band')
      h.platform.change(INVOICE_ID, { amountDue: 800n, amountRemaining: 800n });
    return send(call);
  };
  await h.drain();
  await h.take(paidEvent(h.clock.now(), 0n));
  expect([openKinds(await state(h)), (await state(h)).invoice?.amountPaid]).toEqual([['amount_mismatch'], 800n]);
});

async function applied(...refunds: number[]): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ amountDue: 800n });
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded());
  let total = 0;
  for (const amount of refunds) {
    total += amount;
    await h.take(aRefund({ refundId: `rfnd_${total}`, amount, total }));
  }
  await choose(h, 'apply');
  expect(h.platform.invoices.get(INVOICE_ID)).toMatchObject({ amountPaid: 1000n, amountOverpaid: 200n });
  return h;
}
const remaining = (minor: bigint) => [{ code: 'rest-due', status: 'open', due: eur(minor) }];
const items = async (harness: LaneHarness): Promise<readonly unknown[]> => openFacts(await state(harness));
const OVERPAID = { code: 'overpaid', over: eur(200n), due: eur(800n), credited: true };

it('after a full refund of the surplus, the item asks the operator to correct the customer’s balance, and offers no refund', async () => {
  const h = await applied(200);
  expect(balances(await state(h))).toEqual({ mor_receivable: 800n, settled_invoices: -800n });
  expect(h.platform.notes).toEqual([]);
  expect(await items(h)).toMatchObject([{ ...OVERPAID, refunded: eur(200n), left: eur(0n) }]);
  await expect(chooseItem(h, 'refund')).rejects.toThrow('resolution_not_available');
  const s = await choose(h, 'dismiss');
  expect([openKinds(s), s.refunds.map((r) => r.surplus)]).toEqual([[], [200n]]);
});

it('after a refund of half the surplus, the operator can refund or keep the other half', async () => {
  const h = await applied(100);
  expect(balances(await state(h))).toEqual({ mor_receivable: 900n, settled_invoices: -900n });
  expect(await items(h)).toMatchObject([{ ...OVERPAID, refunded: eur(100n), left: eur(100n) }]);
  const s = await choose(h, 'refund');
  expect(s.refunds.map((r) => [r.amount, r.surplus])).toEqual([
    [100n, 100n],
    [100n, 100n],
  ]);
  expect([openKinds(s), h.platform.notes]).toEqual([[], []]);
  const kept = await applied(100);
  expect(openKinds(await choose(kept, 'apply'))).toEqual([]);
  await kept.take(aRefund({ refundId: 'rfnd_sale', amount: 300, total: 400 }));
  expect(kept.platform.notes).toMatchObject([{ minor: 300n }]); // of the sale: the customer has the surplus
});

it('if a refund is larger than the surplus, Crossbill makes a credit note of the amount above the surplus', async () => {
  const h = await applied(300);
  expect(balances(await state(h))).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  expect(h.platform.notes).toMatchObject([{ minor: 100n }]);
  expect(await items(h)).toMatchObject([{ ...OVERPAID, refunded: eur(200n) }]);
});

it('after the operator applies a payment with a surplus, a later refund becomes a credit note', async () => {
  const h = await applied();
  expect(await items(h)).toEqual([]);
  await h.take(aRefund({ amount: 200 }));
  expect(h.platform.notes).toMatchObject([{ minor: 200n }]);
});

it('a surplus refunded in the MoR’s portal opens an item about the customer’s balance', async () => {
  const h = await overpaid();
  await h.take(aRefund({ amount: 200 }));
  const [item] = (await state(h)).reviews.filter((r) => r.status === 'open');
  expect(item?.fact).toMatchObject({
    code: 'overpaid',
    by: [{ payment: 'pay_oak', amount: eur(1000n) }],
    credited: true,
  });
  expect([openKinds(await choose(h, 'dismiss')), h.platform.notes]).toEqual([[], []]);
});

/** 10.00 are marked; meanwhile 15.00 became due. */
async function marked(): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice();
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  h.platform.fail('attach_payment', 'lost-request');
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountDue: 1500n, amountRemaining: 1500n, total: 1500n });
  h.clock.advance(5_000); // within the time that a read counts as fresh
  await h.idle();
  return h;
}

it('the choice `retry` reads the invoice again, and the item about the amount still due stays open while money is due', async () => {
  const h = await marked();
  const read = (): number => h.platform.asked.filter((a) => a.startsWith('read')).length;
  const again = async (): Promise<readonly unknown[]> => {
    const before = read();
    const s = await choose(h, 'retry');
    expect(read()).toBe(before + 1);
    return openFacts(s);
  };
  expect(await again()).toMatchObject(remaining(500n));
  h.platform.change(INVOICE_ID, { amountRemaining: 300n });
  expect(await again()).toMatchObject(remaining(300n));
  h.platform.change(INVOICE_ID, { status: 'paid', amountRemaining: 0n });
  expect(await again()).toEqual([]);
});

it('the item about the amount still due opens again after a refused refund, and closes after a successful refund', async () => {
  const h = await marked();
  h.gateway.trouble.push('refused');
  expect(openFacts(await choose(h, 'refund'))).toMatchObject(remaining(500n));
  const s = await choose(h, 'refund');
  expect([openFacts(s), s.refunds.map((r) => r.status)]).toEqual([[], ['failed', 'succeeded']]);
});

it('if a draft with an applied payment is finalized at a higher amount, a review item names the amount still due', async () => {
  const h = LaneHarness.withInvoice({ status: 'draft', amountDue: 900n }, { settings: { draftPolicy: 'finalize' } });
  await h.take(aPaymentSucceeded());
  expect(openFacts(await state(h))).toMatchObject([{ code: 'amount-differs', taken: eur(1000n), due: eur(900n) }]);
  h.platform.change(INVOICE_ID, { amountDue: 1500n, amountRemaining: 1500n });
  const s = await choose(h, 'apply');
  expect([openFacts(s), s.invoice?.status]).toMatchObject([remaining(500n), 'open']);
});

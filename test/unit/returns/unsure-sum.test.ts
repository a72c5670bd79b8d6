// A dispute over a part of a payment, in whatever way the MoR writes the sum: no loss of more than the bank took is booked unsaid.
import { expect, it } from '@jest/globals';
import { disputed } from '../../../src/disputes/dispute-page.js';
import { anInvoice, aPaymentSucceeded, delivery, INVOICE_ID } from '../../support/builders.js';
import { wordsOf } from '../../support/item-words.js';
import { balances, LaneHarness } from '../../support/lane-harness.js';
import { resolveReview } from '../../support/decide.js';

/** A marked payment of 10.00 EUR. */
async function paid(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  return h;
}

async function tell(h: LaneHarness, minute: number, type: string, data: object): Promise<void> {
  const id = `evt_${minute}`;
  const created = new Date(h.clock.now().getTime() + minute * 60_000).toISOString();
  const body = { id, type, created, data: { disputeId: 'dp_1', paymentId: 'pay_oak', ...data } };
  await h.take(delivery('mor_events', id, type, INVOICE_ID, body));
}
const lost = (h: LaneHarness, sum: object, minute = 1): Promise<void> =>
  tell(h, minute, 'dispute.outcome', { outcome: 'lost', ...sum });

async function booked(h: LaneHarness): Promise<readonly [bigint, readonly string[]]> {
  const s = await h.state(INVOICE_ID);
  const open = s.reviews.filter((r) => r.status === 'open').map((r) => wordsOf(r).summary);
  return [balances(s)['disputed_payments'] ?? 0n, open];
}

it('Crossbill books a lost dispute with a decimal sum in either shape', async () => {
  for (const sum of [{ amount: '3.00', currency: 'EUR' }, { amount: { amount: '3.00', currency: 'eur' } }]) {
    const h = await paid();
    await lost(h, sum);
    expect(await booked(h)).toEqual([300n, ['dispute dp_1 was lost: the bank took 3.00 EUR back']]);
  }
});

it('Crossbill books no ambiguous sum, and a person decides', async () => {
  const unsure = (said: string): string =>
    `dispute dp_1 was lost, and how much the bank took is not sure: the MoR wrote "${said}"; the loss is not in the ledger`;
  for (const [sum, said] of [
    [{ amount: 300, currency: 'EUR' }, '300 EUR'],
    [{ amount: '300', currency: 'eur' }, '300 eur'],
    [{ disputedAmount: '3.00', amount: { amount: '10.00', currency: 'EUR' } }, '3.00'],
    [{ amount: { value: 3 } }, '{"value":3}'],
  ] as const) {
    const h = await paid();
    await lost(h, sum);
    expect(await booked(h)).toEqual([0n, [unsure(said)]]);
    const [dispute] = (await h.state(INVOICE_ID)).objects;
    const [payment = null] = (await h.state(INVOICE_ID)).payments;
    expect(dispute && disputed({ dispute, payment }).minor).toBeNull();
  }
});

it('a later clear sum books the loss, and a person with a manual booking hears of it', async () => {
  const h = await paid();
  await lost(h, { amount: 300, currency: 'EUR' });
  const [item] = (await h.state(INVOICE_ID)).reviews;
  const choice = { resolution: 'dismiss', note: 'booked beside it', by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  await lost(h, { amount: '3.00', currency: 'EUR' }, 2);
  const said = 'dispute dp_1 was lost: the bank took 3.00 EUR back; it is in the ledger now';
  expect(await booked(h)).toEqual([300n, [said]]);
});

it('the last understood sum is the loss', async () => {
  const h = await paid();
  await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
  await lost(h, { amount: { amount: '3.00', currency: 'EUR' } }, 2);
  expect((await booked(h))[0]).toBe(300n);
});

const whole = { amount: { amount: '10.00', currency: 'EUR' } };
const part = { amount: { amount: '3.00', currency: 'EUR' } };

it('Crossbill books no sum from a payment and a dispute with two, and a person decides', async () => {
  const h = await paid();
  await lost(h, { payment: { id: 'pay_oak', ...whole }, dispute: { id: 'dp_1', ...part } });
  const said = expect.stringContaining('is not sure: the MoR wrote "10.00 EUR or 3.00 EUR"');
  expect(await booked(h)).toEqual([0n, [said]]);
});

it('Crossbill books no loss if one of two sums is unreadable', async () => {
  for (const amount of [{ amount: '10.00', currency: 'EUR' }, '10.00']) {
    const h = await paid();
    const dispute = { id: 'dp_1', amount: 300, currency: 'EUR' };
    await lost(h, { payment: { id: 'pay_oak', amount, currency: 'EUR' }, dispute });
    expect(await booked(h)).toEqual([0n, [expect.stringContaining('wrote "10.00 EUR or 300 EUR"')]]);
  }
});

it('two equal sums book the loss', async () => {
  const same = await paid();
  await lost(same, { payment: whole, dispute: { amount: { amount: '10.0', currency: 'eur' } } });
  expect(await booked(same)).toEqual([1000n, ['dispute dp_1 was lost: the bank took 10.00 EUR back']]);
});

it('Crossbill does not book the earlier sum after another, later one', async () => {
  const h = await paid();
  await tell(h, 1, 'dispute.action_needed', whole);
  await lost(h, { amount: 300, currency: 'EUR' }, 2);
  expect(await booked(h)).toEqual([0n, [expect.stringContaining('the MoR wrote "300 EUR"')]]);
  const s = await h.state(INVOICE_ID);
  const [dispute, payment] = [s.objects[0], s.payments[0]];
  if (dispute === undefined || payment === undefined) throw new Error('none');
  expect(disputed({ dispute, payment })).toEqual({ minor: null, currency: null });
});

it('1000 EUR, or no sum, books all of a 10.00 EUR payment: each reading takes it whole', async () => {
  for (const sum of [{ amount: 1000, currency: 'eur' }, { amount: '1000', currency: 'EUR' }, {}]) {
    const h = await paid();
    await lost(h, sum);
    expect(await booked(h)).toEqual([1000n, ['dispute dp_1 was lost: the bank took 10.00 EUR back']]);
  }
});

it("a request for evidence shows an unclear sum in the MoR's own words", async () => {
  const h = await paid();
  await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
  expect((await booked(h))[1]).toEqual([
    'the customer\'s bank disputes a sum that the MoR wrote as "300 EUR": dispute dp_1, evidence is needed (no deadline given)',
  ]);
});

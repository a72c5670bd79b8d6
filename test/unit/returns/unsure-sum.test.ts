// A dispute over a part of a payment, in whatever way the MoR writes the sum: no loss of more than the bank took is booked unsaid.
import { describe, expect, it } from '@jest/globals';
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

describe('a lost dispute over 3.00 EUR of a payment of 10.00 EUR', () => {
  it('is booked with its sum where that is a decimal beside its currency, as where it is one object', async () => {
    for (const sum of [{ amount: '3.00', currency: 'EUR' }, { amount: { amount: '3.00', currency: 'eur' } }]) {
      const h = await paid();
      await lost(h, sum);
      expect(await booked(h)).toEqual([300n, ['dispute dp_1 was lost: the bank took 3.00 EUR back']]);
    }
  });

  it('is not booked, and a person is asked, where it could be read as another sum', async () => {
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

  it('is booked once a later event says it plainly, and whoever booked it beside the ledger is told', async () => {
    const h = await paid();
    await lost(h, { amount: 300, currency: 'EUR' });
    const [item] = (await h.state(INVOICE_ID)).reviews;
    const choice = { resolution: 'dismiss', note: 'booked beside it', by: 'ada' } as const;
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
    await lost(h, { amount: '3.00', currency: 'EUR' }, 2);
    const said = 'dispute dp_1 was lost: the bank took 3.00 EUR back; it is in the ledger now';
    expect(await booked(h)).toEqual([300n, [said]]);
  });

  it('is a loss of what was said last, where that is understood', async () => {
    const h = await paid();
    await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
    await lost(h, { amount: { amount: '3.00', currency: 'EUR' } }, 2);
    expect((await booked(h))[0]).toBe(300n);
  });
});

describe('a lost dispute whose events name more than one sum', () => {
  const whole = { amount: { amount: '10.00', currency: 'EUR' } };
  const part = { amount: { amount: '3.00', currency: 'EUR' } };

  it('is not booked, and a person is asked, where the payment stands beside the dispute', async () => {
    const h = await paid();
    await lost(h, { payment: { id: 'pay_oak', ...whole }, dispute: { id: 'dp_1', ...part } });
    const said = expect.stringContaining('is not sure: the MoR wrote "10.00 EUR or 3.00 EUR"');
    expect(await booked(h)).toEqual([0n, [said]]);
  });

  it('is not booked where only one of the two can be read', async () => {
    for (const amount of [{ amount: '10.00', currency: 'EUR' }, '10.00']) {
      const h = await paid();
      const dispute = { id: 'dp_1', amount: 300, currency: 'EUR' };
      await lost(h, { payment: { id: 'pay_oak', amount, currency: 'EUR' }, dispute });
      expect(await booked(h)).toEqual([0n, [expect.stringContaining('wrote "10.00 EUR or 300 EUR"')]]);
    }
  });

  it('is booked where both are the same', async () => {
    const same = await paid();
    await lost(same, { payment: whole, dispute: { amount: { amount: '10.0', currency: 'eur' } } });
    expect(await booked(same)).toEqual([1000n, ['dispute dp_1 was lost: the bank took 10.00 EUR back']]);
  });

  it('is not booked with the sum of before where the later one can be read, and is another either way', async () => {
    const h = await paid();
    await tell(h, 1, 'dispute.action_needed', whole);
    await lost(h, { amount: 300, currency: 'EUR' }, 2);
    expect(await booked(h)).toEqual([0n, [expect.stringContaining('the MoR wrote "300 EUR"')]]);
    const s = await h.state(INVOICE_ID);
    const [dispute, payment] = [s.objects[0], s.payments[0]];
    if (dispute === undefined || payment === undefined) throw new Error('none');
    expect(disputed({ dispute, payment })).toEqual({ minor: null, currency: null });
  });
});

describe('a lost dispute over all of a payment of 10.00 EUR', () => {
  it('is booked where it says 1000 EUR, which takes all of it however it is read, or no sum at all', async () => {
    for (const sum of [{ amount: 1000, currency: 'eur' }, { amount: '1000', currency: 'EUR' }, {}]) {
      const h = await paid();
      await lost(h, sum);
      expect(await booked(h)).toEqual([1000n, ['dispute dp_1 was lost: the bank took 10.00 EUR back']]);
    }
  });
});

it('evidence is asked for with the sum as the MoR wrote it, where that is not understood', async () => {
  const h = await paid();
  await tell(h, 1, 'dispute.action_needed', { amount: 300, currency: 'EUR' });
  expect((await booked(h))[1]).toEqual([
    'the customer\'s bank disputes a sum that the MoR wrote as "300 EUR": dispute dp_1, evidence is needed (no deadline given)',
  ]);
});

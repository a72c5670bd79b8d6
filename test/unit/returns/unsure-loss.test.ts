// A dispute that was lost for a sum that is not sure: what a person is told, besides that it is not in the ledger.
import { expect, it } from '@jest/globals';
import { disputeAnswer } from '../../../src/disputes/words.js';
import { anInvoice, aPaymentSucceeded, aRefund, delivery, INVOICE_ID } from '../../support/builders.js';
import { aDispute, asked, dismissed, goesOn, only, paid, paidTwice, withThem } from '../../support/disputed-lane.js';
import { wordsOf } from '../../support/item-words.js';
import { LaneHarness } from '../../support/lane-harness.js';

const unread = { said: '300 EUR', at: '2026-11-20T12:00:00.000Z' };
const lost = aDispute({ status: 'lost', detail: { outcome: 'lost', outcomeAt: '2026-11-20T12:00:00.000Z', unread } });

it('an unsure loss of money on no invoice tells nobody to bill the customer', () => {
  const item = only(withThem(paidTwice({ mark: 'parked' }), [{ ...lost, paymentRowId: 'pmt_2' }]));
  expect(wordsOf(item).summary).toContain('not sure');
  expect(wordsOf(item).proposal).not.toContain('Bill the customer again');
  expect(wordsOf(item).proposal).not.toContain('The invoice stays paid');
});
it('a sure sum after an unsure one tells a person with both bookings of the reversal', () => {
  const at = (minute: number): string => `2026-11-20T12:0${minute}:00.000Z`;
  const first = dismissed(withThem(paid(), [lost]), 'dp_1:lost');
  const sums = { amount: 1000n, currency: 'EUR' };
  const sure = goesOn(first, { ...sums, detail: { ...lost.detail, amountAt: at(1) } });
  expect(wordsOf(only(sure)).summary).toContain('it is in the ledger now');
  const dealt = dismissed(sure, 'dp_1:lost');
  const detail = { ...dealt.objects[0]?.detail, unread: { said: '300 EUR', at: at(2) } };
  const again = goesOn(dealt, { detail }, 6);
  expect(again.objects[0]?.detail.loss?.minor).toBe('0');
  expect(wordsOf(only(again)).summary).toMatch(/; what was booked is taken back; the loss is not in the ledger$/);
});
it('after a sure, an unsure and again a sure sum of a loss, the item says: the ledger has booked it', () => {
  const at = (minute: number): string => `2026-11-20T12:0${minute}:00.000Z`;
  const sums = { amount: 1000n, currency: 'EUR' };
  const detail = { outcome: 'lost', outcomeAt: at(0), amountAt: at(0) };
  const first = dismissed(withThem(paid(), [aDispute({ ...sums, status: 'lost', detail })]), 'dp_1:lost');
  const unsure = goesOn(first, { detail: { ...first.objects[0]?.detail, unread: { said: '300 EUR', at: at(1) } } });
  const dealt = dismissed(unsure, 'dp_1:lost');
  const sure = goesOn(dealt, { detail: { ...dealt.objects[0]?.detail, amountAt: at(2) } }, 6);
  expect(sure.objects[0]?.detail.loss?.minor).toBe('1000');
  expect(wordsOf(only(sure)).summary).toContain('it is in the ledger now');
  const [booked, back, again] = sure.entries;
  expect([booked?.reason, back?.reason, again?.reason]).toEqual(['dispute_lost', 'dispute_reversed', 'dispute_lost']);
  expect(again?.movedAt).toEqual(back?.movedAt); // no month has it twice
});
it('an unsure sum after a surer one marks its page as unsure', () => {
  const known = { ...lost, amount: 1000n, currency: 'EUR' };
  const s = withThem(paid(), [known]);
  const text = (minor: string): string =>
    disputeAnswer(
      { ...known, detail: { ...known.detail, loss: { of: 'pmt_1', minor, entries: 2, movedAt: unread.at } } },
      new Date(unread.at),
    ).text;
  expect(wordsOf(only(s)).summary).toContain('not sure');
  expect(text('0')).toContain('as how much it was is not sure');
});
it("an unsure loss of a fully refunded payment names the customer's double share", () => {
  const item = only(withThem(paid({ amountRefunded: 2990n, status: 'refunded' }), [lost]));
  expect(`${wordsOf(item).summary} ${wordsOf(item).proposal}`).toMatch(/refunded as well|twice/);
});
it('a later sure sum tells a person to reverse the manual booking', () => {
  const then = goesOn(dismissed(withThem(paid(), [lost]), 'dp_1:lost'), {
    ...{ amount: 300n, currency: 'EUR' },
    detail: { ...lost.detail, amountAt: unread.at },
  });
  expect(asked(then)).toEqual(['dp_1:lost']);
  expect(wordsOf(only(then)).summary).toContain('took 3.00 EUR back; it is in the ledger now');
  expect(wordsOf(only(then)).proposal).toMatch(
    /^Reverse your own booking outside the ledger\. Bill the customer again/,
  );
});
it('a later win tells a person to reverse the manual booking', () => {
  const first = withThem(paid(), [{ ...lost, detail: { outcome: 'lost', outcomeAt: unread.at } }]);
  expect(wordsOf(only(first)).summary).toContain('took 29.90 EUR');
  const then = goesOn(first, { detail: { ...(first.objects[0]?.detail ?? {}), unread } });
  expect(wordsOf(only(then)).summary).toContain('the loss is not in the ledger');
  const beside = dismissed(then, 'dp_1:lost');
  const won = goesOn(beside, { status: 'won' }, 20);
  expect(asked(won)).toEqual(['dp_1:won']);
  expect(wordsOf(only(won)).proposal).toContain('Reverse your own booking');
});

it('the page of a reversed unsure loss does not call the money returned', () => {
  const first = withThem(paid(), [{ ...lost, detail: { outcome: 'lost', outcomeAt: unread.at } }]);
  const then = goesOn(first, { detail: { ...(first.objects[0]?.detail ?? {}), unread } });
  expect(disputeAnswer(then.objects[0] ?? lost, new Date('2026-11-21T00:00:00Z')).text).not.toContain(
    'given back as well',
  );
});

type Told = readonly [heard: string, created: string, type: string, data: object];
const euros = (amount: string): object => ({ amount: { amount, currency: 'EUR' } });

async function booked(...told: readonly Told[]): Promise<unknown[]> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  for (const [heard, created, type, said] of told) {
    h.clock.set(new Date(heard));
    const [id, data] = [`evt_${heard}`, { disputeId: 'dp_1', paymentId: 'pay_oak', ...said }];
    if (type === 'refund') await h.take(aRefund({ amount: 1000, at: new Date(created), ...said }));
    else await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  }
  const entries = (await h.state(INVOICE_ID)).entries.filter((e) => e.reason.startsWith('dispute'));
  return entries.map((e) => [e.reason, e.amount.minor, e.movedAt.toISOString()]);
}

it('the months never count an unsure and then sure loss twice', async () => {
  const [lostOn, unsureOn, sureOn] = [
    '2026-11-21T12:00:00.000Z',
    '2026-12-02T12:00:00.000Z',
    '2026-12-03T12:00:00.000Z',
  ];
  const entries = await booked(
    [lostOn, lostOn, 'dispute.outcome', { outcome: 'lost', ...euros('10.00') }],
    [unsureOn, unsureOn, 'dispute.action_needed', { amount: 300, currency: 'EUR' }],
    [sureOn, sureOn, 'dispute.revision_requested', euros('10.00')],
  );
  expect(entries).toEqual([
    ['dispute_lost', 1000n, lostOn],
    ['dispute_reversed', 1000n, unsureOn],
    ['dispute_lost', 1000n, unsureOn],
  ]);
});

it.each([
  ['whose payment was refunded', 'refund', {}],
  ['that was won', 'dispute.outcome', { outcome: 'won' }],
])('no loss goes back before its booking: its sum grew in December, %s in November', async (_, type, said) => {
  const [lostOn, grewOn, lastOn] = ['2026-11-21T12:00:00.000Z', '2026-11-30T22:00:00.000Z', '2026-11-30T23:00:00.000Z'];
  const [heard, last] = ['2026-12-01T01:00:00.000Z', '2026-12-01T02:00:00.000Z'];
  const entries = await booked(
    [lostOn, lostOn, 'dispute.outcome', { outcome: 'lost', ...euros('4.00') }],
    [heard, grewOn, 'dispute.action_needed', euros('10.00')],
    [last, lastOn, type, said],
  );
  expect(entries).toEqual([
    ['dispute_lost', 400n, lostOn],
    ['dispute_lost', 600n, heard],
    ['dispute_reversed', 1000n, heard],
  ]);
});

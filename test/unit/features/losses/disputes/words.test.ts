// A dispute in one sentence: how it stands, by when, and what to do.
import { expect, it } from '@jest/globals';
import { eur } from '../../../../support/builders/channel-object.js';
import { disputeAdvice } from '../../../../../src/features/losses/disputes/words.js';
import { type MorObjectRow, newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { stepsInWords } from '../../../../../src/features/retries/schedule.view.js';
import { SCHEDULE } from '../../../../support/rigs/retry-rig.js';
import { anInvoice, aPaymentSucceeded, aRefund, delivery, INVOICE_ID } from '../../../../support/builders/events.js';
import {
  aDispute,
  asked,
  dismissed,
  goesOn,
  only,
  paid,
  paidTwice,
  withThem,
} from '../../../../support/builders/disputed-lane.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const dispute = (over: Partial<MorObjectRow>): MorObjectRow =>
  newMorObject(NOW, { id: 'obj_1', kind: 'dispute', invoiceId: 'in_1', status: 'action_needed', ...over });
const said = (over: Partial<MorObjectRow>): string => disputeAdvice(dispute(over), NOW).text;

it("the console's sentence on an open dispute names the deadline and the days left, and turns red in the last three days", () => {
  const later = dispute({ deadline: new Date('2026-11-28T13:00:00Z') });
  expect(disputeAdvice(later, NOW)).toEqual({
    tone: 'warn',
    text: "The customer's bank disputes the payment: evidence is due by 28 Nov, 8 days left. The invoice stays paid.",
  });
  const soon = dispute({ deadline: new Date('2026-11-20T18:00:00Z') });
  expect(disputeAdvice(soon, NOW)).toMatchObject({
    tone: 'bad',
    text: expect.stringContaining('18:00 UTC today, less than a day left'),
  });
  expect(said({ deadline: new Date('2026-11-18T00:00:00Z') })).toContain('evidence is overdue: it was due by 18 Nov');
  expect(said({})).toContain('the MoR named no deadline');
});

it("the console's sentence on a decided dispute names the winner and the day, or quotes the MoR's unclear outcome", () => {
  const outcomeAt = '2026-11-03T10:00:00Z';
  expect(said({ status: 'won', detail: { outcomeAt } })).toBe(
    'Won on 3 Nov: you keep the money, and there is nothing to do.',
  );
  const loss = { of: 'pmt_1', minor: '2990', entries: 1, movedAt: outcomeAt };
  expect(said({ status: 'lost', detail: { outcomeAt, loss } })).toBe(
    'Lost on 3 Nov: the bank took the money back, and the loss is in the ledger. The invoice stays paid on Stripe.',
  );
  expect(said({ status: 'lost', detail: { outcomeAt, loss: { ...loss, minor: '0' } } })).toBe(
    'Lost on 3 Nov: the bank took the money back, and the ledger has no loss, because the customer already had this money back. The invoice stays paid on Stripe.',
  );
  expect(said({ status: 'decided', detail: { outcome: 'CLOSED' } })).toContain('the MoR said "CLOSED"');
  expect(said({ status: 'revision_requested', detail: { reviewerNote: 'proof of delivery' } })).toContain(
    'better evidence ("proof of delivery")',
  );
  expect(said({ kind: 'alert', status: 'handled', detail: { refunded: true } })).toContain(
    'the payment was refunded before a dispute',
  );
});

it("the console's sentence on a dispute leaves out an unknown day, winner, note or ledger entry", () => {
  expect(said({ status: 'won' })).toBe('Won: you keep the money, and there is nothing to do.');
  expect(said({ status: 'lost' })).toBe('Lost: the bank took the money back. The invoice stays paid on Stripe.');
  for (const detail of [{}, { outcome: null }]) {
    expect(said({ status: 'decided', detail })).toBe(
      "Decided, but it is unclear who won: the MoR said nothing. Look in the MoR's portal, and settle the review item.",
    );
  }
  for (const detail of [{}, { reviewerNote: null }]) {
    expect(said({ status: 'revision_requested', detail })).toBe(
      'The MoR wants better evidence: it is due, but the MoR named no deadline. The invoice stays paid.',
    );
  }
});

it('the console names a deadline for evidence if the MoR asked for evidence after it decided the dispute', () => {
  const deadline = new Date('2026-11-22T13:00:00Z');
  const loss = { of: 'pmt_1', minor: '2990', entries: 1, movedAt: '2026-11-03T10:00:00Z' };
  const detail = { outcomeAt: loss.movedAt, saidAt: '2026-11-04T10:00:00Z', loss };
  expect(disputeAdvice(dispute({ status: 'won', deadline, detail }), NOW)).toEqual({
    tone: 'bad',
    text: 'Won on 3 Nov: you keep the money. Later the MoR asked for evidence: it is due by 22 Nov, 2 days left.',
  });
  const back = { ...detail, reviewerNote: 'blurred' };
  expect(disputeAdvice(dispute({ status: 'lost', deadline, detail: back }), NOW)).toMatchObject({
    tone: 'bad',
    text: expect.stringMatching(/stays paid on Stripe\. Later the MoR asked for evidence \("blurred"\): it is due by/),
  });
});

it("the console's sentence on a dispute counts the whole days to the deadline, and says overdue from the deadline on", () => {
  const left = (hours: number): string => said({ deadline: new Date(NOW.getTime() + hours * 3_600_000) });
  expect(left(48)).toContain('due by 22 Nov, 2 days left');
  expect(left(47)).toContain('due by 22 Nov, 1 day left');
  expect(left(24)).toContain('due by 21 Nov, 1 day left');
  expect(left(23.9)).toContain('due by 21 Nov, less than a day left');
  expect(left(0.1)).toContain('due by 12:06 UTC today, less than a day left');
  expect(left(0)).toContain('overdue: it was due by 12:00 UTC today');
});

it("the console's sentence on a dispute is red under three days or for an unclear outcome, and green for a win", () => {
  const tone = (over: Partial<MorObjectRow>): string => disputeAdvice(dispute(over), NOW).tone;
  const threeDays = NOW.getTime() + 3 * 86_400_000;
  for (const open of [{}, { status: 'revision_requested' }, { kind: 'alert', status: 'received' }] as const) {
    expect(tone(open)).toBe('warn');
    expect(tone({ ...open, deadline: new Date(threeDays) })).toBe('warn');
    expect(tone({ ...open, deadline: new Date(threeDays - 1) })).toBe('bad');
    expect(tone({ ...open, deadline: new Date(0) })).toBe('bad');
  }
  expect(['won', 'lost', 'decided'].map((status) => tone({ status }))).toEqual(['good', 'warn', 'bad']);
  for (const refunded of [true, false, null]) {
    expect(tone({ kind: 'alert', status: 'handled', detail: { refunded } })).toBe('calm');
  }
});

it("the console's sentence on an alert says that a refund prevents the dispute, and later how the alert ended", () => {
  expect(said({ kind: 'alert', status: 'received', deadline: new Date('2026-11-28T13:00:00Z') })).toBe(
    "The customer's bank warns that a dispute may follow: an answer is due by 28 Nov, 8 days left. A refund in time prevents the dispute.",
  );
  const ended = (detail: MorObjectRow['detail']): string => said({ kind: 'alert', status: 'handled', detail });
  expect(ended({ refunded: true })).toBe('Handled: the payment was refunded before a dispute.');
  expect(ended({ refunded: false })).toBe('Handled: the payment was not refunded.');
  for (const detail of [{}, { refunded: null }]) {
    expect(ended(detail)).toBe('Handled: the MoR did not say whether the payment was refunded.');
  }
});

it("without a relay the console's sentence on a retry schedule names a payment link instead of a charge by the MoR", () => {
  const recoveryLinks = { jurisdiction: 'GB', returnUrl: 'https://shop.example', expiresSec: 60 };
  expect(stepsInWords(SCHEDULE, 'soft', { relay: 'created', recoveryLinks })).toBe(
    'the MoR charges again after 3 days, then the MoR charges again 5 days after that, then the MoR charges again 7 days after that',
  );
  expect(stepsInWords(SCHEDULE, 'hard', { relay: 'created', recoveryLinks })).toBe('the customer gets a payment link');
  expect(stepsInWords(SCHEDULE, 'soft', { relay: null, recoveryLinks })).toMatch(
    /^the customer gets a payment link after 3 days/,
  );
  expect(stepsInWords({ ...SCHEDULE, hard: [] }, 'hard', { relay: 'created', recoveryLinks })).toBe('nothing is tried');
});

const unread = { said: '300 EUR', at: '2026-11-20T12:00:00.000Z' };
const lost = aDispute({ status: 'lost', detail: { outcome: 'lost', outcomeAt: '2026-11-20T12:00:00.000Z', unread } });

it('if a parked payment is lost in a dispute of unclear amount, the review item does not tell the operator to bill again', () => {
  const item = only(withThem(paidTwice({ mark: 'parked' }), [{ ...lost, paymentRowId: 'pmt_2' }]));
  expect(item?.fact).toMatchObject({ code: 'loss-unread', apart: 'for-nothing' });
});
it('if the amount of a booked loss becomes uncertain, the review item says that Crossbill reversed the booking', () => {
  const at = (minute: number): string => `2026-11-20T12:0${minute}:00.000Z`;
  const first = dismissed(withThem(paid(), [lost]), 'dp_1:lost');
  const sums = { amount: 1000n, currency: 'EUR' };
  const sure = goesOn(first, { ...sums, detail: { ...lost.detail, amountAt: at(1) } });
  expect(only(sure)?.fact).toMatchObject({ code: 'dispute-lost', twice: null, bookedSince: true, apart: null });
  const dealt = dismissed(sure, 'dp_1:lost');
  const detail = { ...dealt.objects[0]?.detail, unread: { said: '300 EUR', at: at(2) } };
  const again = goesOn(dealt, { detail }, 6);
  expect(again.objects[0]?.detail.loss?.minor).toBe('0');
  expect(only(again)?.fact).toMatchObject({ code: 'loss-unread', takenBack: true, refunded: false, apart: null });
});
it('if a lost amount becomes uncertain and then certain again, the review item says that Crossbill booked the loss', () => {
  const at = (minute: number): string => `2026-11-20T12:0${minute}:00.000Z`;
  const sums = { amount: 1000n, currency: 'EUR' };
  const detail = { outcome: 'lost', outcomeAt: at(0), amountAt: at(0) };
  const first = dismissed(withThem(paid(), [aDispute({ ...sums, status: 'lost', detail })]), 'dp_1:lost');
  const unsure = goesOn(first, { detail: { ...first.objects[0]?.detail, unread: { said: '300 EUR', at: at(1) } } });
  const dealt = dismissed(unsure, 'dp_1:lost');
  const sure = goesOn(dealt, { detail: { ...dealt.objects[0]?.detail, amountAt: at(2) } }, 6);
  expect(sure.objects[0]?.detail.loss?.minor).toBe('1000');
  expect(only(sure)?.fact).toMatchObject({ code: 'dispute-lost', twice: null, bookedSince: true, apart: null });
  const [booked, back, again] = sure.entries;
  expect([booked?.reason, back?.reason, again?.reason]).toEqual(['dispute_lost', 'dispute_reversed', 'dispute_lost']);
  expect(again?.movedAt).toEqual(back?.movedAt); // no month has it twice
});
it("if the latest amount of a lost dispute can mean two sums, the console's sentence on the dispute says that the amount is unclear", () => {
  const known = { ...lost, amount: 1000n, currency: 'EUR' };
  const s = withThem(paid(), [known]);
  const text = (minor: string): string =>
    disputeAdvice(
      { ...known, detail: { ...known.detail, loss: { of: 'pmt_1', minor, entries: 2, movedAt: unread.at } } },
      new Date(unread.at),
    ).text;
  expect(only(s)?.fact).toMatchObject({ code: 'loss-unread', unread: '300 EUR' });
  expect(text('0')).toContain('because the amount is unclear');
});
it('if a refunded payment has a lost dispute of unclear amount, the review item says that the customer may be paid twice', () => {
  const item = only(withThem(paid({ amountRefunded: 2990n, status: 'refunded' }), [lost]));
  expect(item?.fact).toMatchObject({ code: 'loss-unread', refunded: true });
});
it('if a dismissed loss of unclear amount gets a clear amount, a new item tells the operator to reverse the manual booking', () => {
  const then = goesOn(dismissed(withThem(paid(), [lost]), 'dp_1:lost'), {
    ...{ amount: 300n, currency: 'EUR' },
    detail: { ...lost.detail, amountAt: unread.at },
  });
  expect(asked(then)).toEqual(['dp_1:lost']);
  expect(only(then)?.fact).toMatchObject({
    code: 'dispute-lost',
    amount: eur(300n),
    twice: null,
    bookedSince: true,
    apart: null,
  });
});
it('if the MoR wins a dispute after a person dismissed the item of the unclear loss, a new item asks to reverse the manual booking', () => {
  const first = withThem(paid(), [{ ...lost, detail: { outcome: 'lost', outcomeAt: unread.at } }]);
  expect(only(first)?.fact).toMatchObject({
    code: 'dispute-lost',
    amount: eur(2990n),
    twice: null,
    bookedSince: false,
    apart: null,
  });
  const then = goesOn(first, { detail: { ...(first.objects[0]?.detail ?? {}), unread } });
  expect(only(then)?.fact).toMatchObject({ code: 'loss-unread', takenBack: true });
  const beside = dismissed(then, 'dp_1:lost');
  const won = goesOn(beside, { status: 'won' }, 20);
  expect(asked(won)).toEqual(['dp_1:won']);
  expect(only(won)?.fact).toMatchObject({ code: 'won-after-loss', beside: true });
});

it("the console's sentence on an uncertain loss does not say that the money was refunded", () => {
  const first = withThem(paid(), [{ ...lost, detail: { outcome: 'lost', outcomeAt: unread.at } }]);
  const then = goesOn(first, { detail: { ...(first.objects[0]?.detail ?? {}), unread } });
  expect(disputeAdvice(then.objects[0] ?? lost, new Date('2026-11-21T00:00:00Z')).text).not.toContain(
    'already had this money back',
  );
});

type Notified = readonly [heard: string, created: string, type: string, data: object];
const euros = (amount: string): object => ({ amount: { amount, currency: 'EUR' } });

async function booked(...notified: readonly Notified[]): Promise<unknown[]> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  for (const [heard, created, type, said] of notified) {
    h.clock.set(new Date(heard));
    const [id, data] = [`evt_${heard}`, { disputeId: 'dp_1', paymentId: 'pay_oak', ...said }];
    if (type === 'refund') await h.take(aRefund({ amount: 1000, at: new Date(created), ...said }));
    else await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
  }
  const entries = (await h.state(INVOICE_ID)).entries.filter((e) => e.reason.startsWith('dispute'));
  return entries.map((e) => [e.reason, e.amount.minor, e.movedAt.toISOString()]);
}

it('if the amount of a loss becomes uncertain and then certain again, no month of the ledger counts the loss twice', async () => {
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
  ['the payment is refunded', 'refund', {}],
  ['the MoR wins the dispute', 'dispute.outcome', { outcome: 'won' }],
])(
  'if the lost amount of a dispute rises and then %s, the reversal in the ledger is not older than the last loss entry',
  async (_, type, said) => {
    const [lostOn, grewOn, lastOn] = [
      '2026-11-21T12:00:00.000Z',
      '2026-11-30T22:00:00.000Z',
      '2026-11-30T23:00:00.000Z',
    ];
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
  },
);

// A dispute in one sentence: how it stands, by when, and what to do.
import { expect, it } from '@jest/globals';
import { disputeAnswer } from '../../../src/disputes/words.js';
import { type MorObjectRow, newMorObject } from '../../../src/domain/mor-object.js';
import { stepsInWords } from '../../../src/retries/schedule.view.js';
import { SCHEDULE } from '../../support/retry-rig.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const dispute = (over: Partial<MorObjectRow>): MorObjectRow =>
  newMorObject(NOW, { id: 'obj_1', kind: 'dispute', invoiceId: 'in_1', status: 'action_needed', ...over });
const said = (over: Partial<MorObjectRow>): string => disputeAnswer(dispute(over), NOW).text;

it('the sentence of a dispute names the deadline and the days left, and is urgent in the last three', () => {
  const later = dispute({ deadline: new Date('2026-11-28T13:00:00Z') });
  expect(disputeAnswer(later, NOW)).toEqual({
    tone: 'warn',
    text: "The customer's bank disputes the payment: evidence is due by 28 Nov, 8 days left. The invoice stays paid meanwhile.",
  });
  const soon = dispute({ deadline: new Date('2026-11-20T18:00:00Z') });
  expect(disputeAnswer(soon, NOW)).toMatchObject({
    tone: 'bad',
    text: expect.stringContaining('18:00 UTC today, less than a day left'),
  });
  expect(said({ deadline: new Date('2026-11-18T00:00:00Z') })).toContain('evidence is overdue: it was due by 18 Nov');
  expect(said({})).toContain('the MoR named no deadline');
});

it('the sentence of a dispute names the winner only in known words', () => {
  const outcomeAt = '2026-11-03T10:00:00Z';
  expect(said({ status: 'won', detail: { outcomeAt } })).toBe(
    'Won on 3 Nov: the money stays, and there is nothing to do.',
  );
  const loss = { of: 'pmt_1', minor: '2990', entries: 1, movedAt: outcomeAt };
  expect(said({ status: 'lost', detail: { outcomeAt, loss } })).toBe(
    'Lost on 3 Nov: the bank took the money back, and the loss is in the ledger. The invoice stays paid on Stripe.',
  );
  expect(said({ status: 'lost', detail: { outcomeAt, loss: { ...loss, minor: '0' } } })).toBe(
    'Lost on 3 Nov: the bank took the money back, and none of it is a loss in the ledger, as it was given back as well. The invoice stays paid on Stripe.',
  );
  expect(said({ status: 'decided', detail: { outcome: 'CLOSED' } })).toContain('the MoR said "CLOSED"');
  expect(said({ status: 'revision_requested', detail: { reviewerNote: 'proof of delivery' } })).toContain(
    'sent back ("proof of delivery")',
  );
  expect(said({ kind: 'alert', status: 'handled', detail: { refunded: true } })).toContain(
    'given back before it became a dispute',
  );
});

it('the sentence of a dispute leaves out an unknown day, winner, note or ledger', () => {
  expect(said({ status: 'won' })).toBe('Won: the money stays, and there is nothing to do.');
  expect(said({ status: 'lost' })).toBe('Lost: the bank took the money back. The invoice stays paid on Stripe.');
  for (const detail of [{}, { outcome: null }]) {
    expect(said({ status: 'decided', detail })).toBe(
      'Decided, but who won is not clear: the MoR said nothing. Look there, and settle the review item.',
    );
  }
  for (const detail of [{}, { reviewerNote: null }]) {
    expect(said({ status: 'revision_requested', detail })).toBe(
      'The evidence was sent back: better evidence is wanted; the MoR named no deadline. The invoice stays paid meanwhile.',
    );
  }
});

it('the sentence of a dispute names the deadline of evidence after the outcome', () => {
  const deadline = new Date('2026-11-22T13:00:00Z');
  const loss = { of: 'pmt_1', minor: '2990', entries: 1, movedAt: '2026-11-03T10:00:00Z' };
  const detail = { outcomeAt: loss.movedAt, saidAt: '2026-11-04T10:00:00Z', loss };
  expect(disputeAnswer(dispute({ status: 'won', deadline, detail }), NOW)).toEqual({
    tone: 'bad',
    text: 'Won on 3 Nov: the money stays. Evidence was asked for after that: it is due by 22 Nov, 2 days left.',
  });
  const back = { ...detail, reviewerNote: 'blurred' };
  expect(disputeAnswer(dispute({ status: 'lost', deadline, detail: back }), NOW)).toMatchObject({
    tone: 'bad',
    text: expect.stringMatching(/stays paid on Stripe\. Evidence was asked for after that \("blurred"\): it is due by/),
  });
});

it('the sentence of a dispute counts whole days, and is overdue from the deadline on', () => {
  const left = (hours: number): string => said({ deadline: new Date(NOW.getTime() + hours * 3_600_000) });
  expect(left(48)).toContain('due by 22 Nov, 2 days left');
  expect(left(47)).toContain('due by 22 Nov, 1 day left');
  expect(left(24)).toContain('due by 21 Nov, 1 day left');
  expect(left(23.9)).toContain('due by 21 Nov, less than a day left');
  expect(left(0.1)).toContain('due by 12:06 UTC today, less than a day left');
  expect(left(0)).toContain('overdue: it was due by 12:00 UTC today');
});

it('a dispute is urgent under three days or with an unclear winner; a win is good, a loss a warning', () => {
  const tone = (over: Partial<MorObjectRow>): string => disputeAnswer(dispute(over), NOW).tone;
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

it('the sentence of an alert says how to prevent the dispute, and how it ended', () => {
  expect(said({ kind: 'alert', status: 'received', deadline: new Date('2026-11-28T13:00:00Z') })).toBe(
    "The customer's bank warns that a dispute may follow: an answer is due by 28 Nov, 8 days left. A refund in time prevents it.",
  );
  const ended = (detail: MorObjectRow['detail']): string => said({ kind: 'alert', status: 'handled', detail });
  expect(ended({ refunded: true })).toBe('Handled: the payment was given back before it became a dispute.');
  expect(ended({ refunded: false })).toBe('Handled: the payment was not given back.');
  for (const detail of [{}, { refunded: null }]) {
    expect(ended(detail)).toBe('Handled: the MoR did not say whether the payment was given back.');
  }
});

it('the words of a schedule name a substitute for each missing part', () => {
  const recoveryLinks = { jurisdiction: 'GB', returnUrl: 'https://shop.example', expiresSec: 60 };
  expect(stepsInWords(SCHEDULE, 'soft', { relay: true, recoveryLinks })).toBe(
    'the MoR charges again after 3 days, then the MoR charges again 5 days after that, then the MoR charges again 7 days after that',
  );
  expect(stepsInWords(SCHEDULE, 'hard', { relay: true, recoveryLinks })).toBe('the customer gets a payment link');
  expect(stepsInWords(SCHEDULE, 'soft', { relay: false, recoveryLinks })).toMatch(
    /^the customer gets a payment link after 3 days/,
  );
  expect(stepsInWords({ ...SCHEDULE, hard: [] }, 'hard', { relay: true, recoveryLinks })).toBe('nothing is tried');
});

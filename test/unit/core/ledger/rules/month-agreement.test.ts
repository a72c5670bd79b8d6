// The verdict on a month of the ledger.
import { expect, it } from '@jest/globals';
import { type MonthCompared } from '../../../../../src/shared/domain/difference.js';
import { decideMonth, sayAgreement } from '../../../../../src/core/ledger/rules/month-agreement.js';
import { monthOf } from '../../../../../src/core/ledger/rules/month.js';
import { type LedgerSum, trialBalances } from '../../../../../src/core/ledger/rules/trial-balance.js';
import { never } from '../../../../support/never.js';

const NOVEMBER = monthOf('2026-11') ?? never();
const sum = (reason: string, debit: LedgerSum['debit'], credit: LedgerSum['credit']): LedgerSum => ({
  ...{ currency: 'EUR', reason, debit, credit, before: 0n, during: 2990n, entries: 1 },
});
const taken = sum('payment_collected', 'mor_receivable', 'unmarked_payments');
const marked = sum('payment_marked', 'unmarked_payments', 'settled_invoices');
const finished = trialBalances([taken, marked]);
const at = (day: string): Date => new Date(`${day}T06:00:00Z`);
const compared = (over: Partial<MonthCompared> = {}): MonthCompared => ({
  ...{ differences: 0, comparedAt: at('2026-12-02'), isWhole: true },
  ...over,
});
const stateOf = (of: MonthCompared, balances = finished): string => decideMonth(NOVEMBER, balances, of).state;

it('a whole compared month without differences and without open money agrees', () => {
  expect(stateOf(compared())).toBe('agrees');
  expect(stateOf(compared(), [])).toBe('agrees');
});

it('a month with an unsettled difference differs, whatever else is known of it', () => {
  expect(stateOf(compared({ differences: 1 }))).toBe('differs');
  expect(stateOf(compared({ differences: 1, isWhole: false }), trialBalances([taken]))).toBe('differs');
});

it('a month with money that Stripe does not show is unfinished', () => {
  expect(stateOf(compared(), trialBalances([taken]))).toBe('unfinished');
  expect(stateOf(compared({ comparedAt: null, isWhole: false }), trialBalances([taken]))).toBe('unfinished');
});

it('a month with a gap between the verify runs, or without a run, is not compared', () => {
  expect(stateOf(compared({ isWhole: false }))).toBe('not_compared');
  expect(stateOf(compared({ comparedAt: null }))).toBe('not_compared');
});

it('a month is over if the newest comparison began after its end', () => {
  const isOver = (comparedAt: Date | null): boolean => decideMonth(NOVEMBER, finished, compared({ comparedAt })).isOver;
  expect(isOver(at('2026-11-30'))).toBe(false);
  expect(isOver(NOVEMBER.until)).toBe(true);
  expect(isOver(null)).toBe(false);
});

it.each([
  ['agrees', {}, 'The month agrees with Stripe and the MoR.'],
  ['agrees so far', { comparedAt: at('2026-11-20') }, 'The month agrees with Stripe and the MoR so far.'],
  ['one difference', { differences: 1 }, 'The month does not agree: verify found 1 unsettled difference.'],
  ['two differences', { differences: 2 }, 'The month does not agree: verify found 2 unsettled differences.'],
  ['not compared', { isWhole: false }, 'The month is not known to agree: verify has not compared all of it.'],
] as const)('the verdict on a month is one sentence: %s', (_, over, sentence) => {
  expect(sayAgreement(decideMonth(NOVEMBER, finished, compared(over)))).toBe(sentence);
});

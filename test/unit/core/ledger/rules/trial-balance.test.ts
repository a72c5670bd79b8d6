// The trial balance of a month, without a database.
import { expect, it } from '@jest/globals';
import { ACCOUNTS } from '../../../../../src/shared/domain/postings.js';
import {
  type LedgerSum,
  moneyOf,
  openEnds,
  trialBalances,
} from '../../../../../src/core/ledger/rules/trial-balance.js';

const sum = (over: Partial<LedgerSum>): LedgerSum => ({
  ...{ currency: 'EUR', reason: 'payment_collected', debit: 'mor_receivable', credit: 'unmarked_payments' },
  ...{ before: 0n, during: 0n, entries: 0, ...over },
});
const SUMS = [
  sum({ before: 1000n, during: 300n, entries: 3 }),
  sum({
    reason: 'payment_marked',
    debit: 'unmarked_payments',
    credit: 'settled_invoices',
    before: 1000n,
    during: 250n,
    entries: 2,
  }),
  sum({ reason: 'refund_paid', debit: 'unmirrored_refunds', credit: 'mor_receivable', during: 40n, entries: 1 }),
  sum({ currency: 'CHF', before: 7n }),
];

it('a trial balance shows opening, movements and closing of each account in each currency', () => {
  const [chf, eur] = trialBalances(SUMS);
  expect([chf?.currency, eur?.currency]).toEqual(['CHF', 'EUR']);
  const zero = { opening: 0n, debit: 0n, credit: 0n, closing: 0n };
  expect(eur?.accounts).toEqual([
    { account: 'mor_receivable', clearing: false, opening: 1000n, debit: 300n, credit: 40n, closing: 1260n },
    { account: 'disputed_payments', clearing: false, ...zero },
    { account: 'unmarked_payments', clearing: true, opening: 0n, debit: 250n, credit: 300n, closing: -50n },
    { account: 'unmirrored_refunds', clearing: true, ...zero, debit: 40n, closing: 40n },
    { account: 'settled_invoices', clearing: false, opening: -1000n, debit: 0n, credit: 250n, closing: -1250n },
  ]);
  expect(eur?.accounts.map((l) => l.account)).toEqual([...ACCOUNTS]);
  expect(eur?.total).toEqual({ opening: 0n, debit: 590n, credit: 590n, closing: 0n });
  expect(chf?.total).toEqual(zero);
});

it('a trial balance lists only the kinds of ledger entries that its month has', () => {
  const [chf, eur] = trialBalances(SUMS);
  expect(eur?.moved.map((m) => m.reason)).toEqual(['payment_collected', 'payment_marked', 'refund_paid']);
  expect(chf?.moved).toEqual([]);
});

it("a trial balance lists the clearing accounts that are not zero at the month's end", () => {
  const [chf, eur] = trialBalances(SUMS);
  expect((eur === undefined ? [] : openEnds(eur)).map((e) => e.amount)).toEqual([50n, 40n]);
  expect((chf === undefined ? [] : openEnds(chf)).map((e) => e.amount)).toEqual([7n]);
  const even = trialBalances([...SUMS.slice(0, 1), sum({ ...SUMS[1], during: 300n })]);
  expect(even.map(openEnds)).toEqual([[]]);
  expect(trialBalances([])).toEqual([]);
});

it('the kept amount of a month is its payments less refunds and losses at the bank, plus reversed losses', () => {
  const lost = { debit: 'disputed_payments', credit: 'mor_receivable', entries: 1 } as const;
  const back = { debit: lost.credit, credit: lost.debit, entries: 1 } as const;
  const banks = [
    sum({ reason: 'dispute_lost', ...lost, before: 500n, during: 90n }),
    sum({ reason: 'debit_returned', ...lost, during: 20n }),
    sum({ reason: 'dispute_reversed', ...back, during: 30n }),
  ];
  const [chf, eur] = trialBalances([...SUMS, ...banks]).map(moneyOf);
  expect(eur).toEqual({ taken: 300n, refunded: 40n, lost: 80n, kept: 180n });
  expect(chf).toEqual({ taken: 0n, refunded: 0n, lost: 0n, kept: 0n });
});

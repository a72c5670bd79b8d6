// The ledger's rules without a database: which accounts each movement touches and when, the months, the trial balance.
import { expect, it } from '@jest/globals';
import { newPayment } from '../../src/engine/payment.js';
import { type LedgerEntry, type PaymentRow } from '../../src/domain/model.js';
import { type LedgerSum, moneyOf, openEnds, trialBalances } from '../../src/ledger/rules/trial-balance.js';
import { ACCOUNTS, REASONS } from '../../src/domain/postings.js';
import { monthBeside, monthOf, nameOf } from '../../src/ledger/rules/month.js';
import {
  debitReturned,
  debitReturnReversed,
  disputeLost,
  disputeReversed,
  lossCredited,
  lossCreditReversed,
  paymentCollected,
  paymentMarked,
  refundMirrored,
  refundOfUnmarked,
  refundPaid,
} from '../../src/domain/postings.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { aCtx } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const OCTOBER = new Date('2026-10-31T23:59:59Z');
const LATER = new Date('2026-11-02T00:00:00Z');

const payment = (over: Partial<PaymentRow> = {}, ctx = aCtx()): PaymentRow =>
  newPayment(ctx, {
    id: 'pmt_1',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    paymentId: 'pay_1',
    processorChargeId: 'ch_1',
    succeededAt: OCTOBER,
    mark: 'waiting',
    ...over,
  });

const p = (): PaymentRow => payment();
const r = () => ({ ...newRefund(aCtx(), p(), 1000n, null, 'event'), id: 'ref_1', succeededAt: OCTOBER }) as const;
const lost = { at: LATER, movedAt: OCTOBER };
const names = { invoiceId: 'in_1', paymentRowId: 'pmt_1', paymentId: 'pay_1', processorChargeId: 'ch_1' };

it('an entry belongs to the month of its money, however late Crossbill writes it', () => {
  const of = (e: LedgerEntry): unknown[] => [e.debit, e.credit, e.subject, e.amount.minor, e.refundId, e.eventId];
  const entries = [
    paymentCollected(p(), 2990n, LATER, 'evt_1'),
    paymentMarked(p(), 2990n, LATER),
    refundPaid(p(), r(), LATER, 'evt_2'),
    refundMirrored(p(), r(), LATER),
    refundOfUnmarked(p(), r(), LATER),
    disputeLost(p(), 'obj_1', 500n, lost),
    debitReturned(p(), 'obj_2', 500n, lost),
  ];
  expect(entries.map(of)).toEqual([
    ['mor_receivable', 'unmarked_payments', 'pmt_1', 2990n, null, 'evt_1'],
    ['unmarked_payments', 'settled_invoices', 'pmt_1', 2990n, null, null],
    ['unmirrored_refunds', 'mor_receivable', 'ref_1', 1000n, 'ref_1', 'evt_2'],
    ['settled_invoices', 'unmirrored_refunds', 'ref_1', 1000n, 'ref_1', null],
    ['unmarked_payments', 'unmirrored_refunds', 'ref_1', 1000n, 'ref_1', null],
    ['disputed_payments', 'mor_receivable', 'obj_1', 500n, null, null],
    ['disputed_payments', 'mor_receivable', 'obj_2', 500n, null, null],
  ]);
  for (const e of entries) {
    expect(e).toMatchObject({ ...names, at: LATER, movedAt: OCTOBER });
    expect(e.amount.currency).toBe('EUR');
  }
});

it('a reversal of a loss belongs to the day of the reversal', () => {
  const taken = {
    debit: 'mor_receivable',
    credit: 'disputed_payments',
    at: LATER,
    movedAt: OCTOBER,
    refundId: null,
    eventId: null,
  };
  const amount = { minor: 500n, currency: 'EUR' };
  expect(disputeReversed(p(), 'obj_1:2', 500n, lost)).toMatchObject({
    ...taken,
    ...names,
    amount,
    subject: 'obj_1:2',
  });
  expect(debitReturnReversed(p(), 'obj_2:2', 500n, lost)).toMatchObject({
    ...taken,
    ...names,
    amount,
    subject: 'obj_2:2',
  });
});

it('an entry without a time from the MoR belongs to the day of its writing', () => {
  expect(paymentMarked(payment({ succeededAt: null }), 2990n, LATER)).toMatchObject({ at: LATER, movedAt: LATER });
});

it('each kind of entry has its own reason from the list', () => {
  const reasons = [
    paymentCollected(p(), 1n, LATER, null),
    paymentMarked(p(), 1n, LATER),
    refundPaid(p(), r(), LATER, null),
    refundMirrored(p(), r(), LATER),
    refundOfUnmarked(p(), r(), LATER),
    disputeLost(p(), 'o', 1n, lost),
    disputeReversed(p(), 'o', 1n, lost),
    debitReturned(p(), 'o', 1n, lost),
    debitReturnReversed(p(), 'o', 1n, lost),
    lossCredited(p(), 'o', 1n, LATER),
    lossCreditReversed(p(), 'o', 1n, LATER),
  ].map((e) => e.reason);
  expect(reasons.toSorted()).toEqual([...REASONS].toSorted());
});

it('a month of the books is whole days in UTC, up to the first moment of the next', () => {
  expect(monthOf('2026-12')).toEqual({
    since: new Date('2026-12-01T00:00:00Z'),
    until: new Date('2027-01-01T00:00:00Z'),
  });
  expect(monthOf('1970-01')?.since).toEqual(new Date(0));
  for (const wrong of ['2026-13', '2026-00', '2026-1', '26-01', '1969-12', '2026-01-01', ' 2026-01', '2026', '']) {
    expect(monthOf(wrong)).toBeNull();
  }
});

it('a month has a name, one before it and one after it, also over the end of a year', () => {
  const december = monthOf('2026-12') ?? never();
  const [before, after] = [monthBeside(december, -1), monthBeside(december, 1)];
  expect([before, december, after].map(nameOf)).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(before.until).toEqual(december.since);
  expect(after).toEqual(monthOf('2027-01'));
});

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

it('a trial balance shows for each account the opening, the movements and the closing', () => {
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

it('a trial balance names only the month’s movements', () => {
  const [chf, eur] = trialBalances(SUMS);
  expect(eur?.moved.map((m) => m.reason)).toEqual(['payment_collected', 'payment_marked', 'refund_paid']);
  expect(chf?.moved).toEqual([]);
});

it('a trial balance names amounts missing on Stripe at the month’s end, or nothing', () => {
  const [chf, eur] = trialBalances(SUMS);
  expect((eur === undefined ? [] : openEnds(eur)).map((e) => e.amount)).toEqual([50n, 40n]);
  expect((chf === undefined ? [] : openEnds(chf)).map((e) => e.amount)).toEqual([7n]);
  const even = trialBalances([...SUMS.slice(0, 1), sum({ ...SUMS[1], during: 300n })]);
  expect(even.map(openEnds)).toEqual([[]]);
  expect(trialBalances([])).toEqual([]);
});

it('kept money is the payments less refunds and bank losses, plus reversals', () => {
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

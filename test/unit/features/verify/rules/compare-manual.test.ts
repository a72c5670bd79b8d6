// What people did on Stripe by hand, against the ledger: each is named with its sum, and what is right is not named.
import { describe, expect, it } from '@jest/globals';
import { type Difference, type OurInvoice } from '../../../../../src/shared/domain/difference.js';
import { type BalanceEntryFacts, type ShownInvoice } from '../../../../../src/shared/domain/ports/billing-reader.js';
import {
  compareBalance,
  compareCreditNotes,
  compareDetached,
  compareForeignNotes,
  compareOverpaid,
  compareRecord,
  creditedBeyondLedger,
} from '../../../../../src/features/verify/rules/compare-manual.js';
import { type Cover, finding } from '../../../../../src/features/verify/rules/findings.js';
import { INVOICE_ID } from '../../../../support/builders/events.js';
import { aDispute } from '../../../../support/builders/disputed-lane.js';
import { facts, note, ours, payment, record, refund, review } from '../../../../support/builders/compare-rows.js';

const shown = (over: Partial<ShownInvoice> = {}): ShownInvoice => ({
  ...facts(),
  amountOverpaid: 0n,
  payments: [],
  creditedAfterPayment: 0n,
  ...over,
});
const attached = (paymentRecordId: string | null, status = 'paid') => ({
  ...{ paymentRecordId, byPlatform: false, status, amountPaid: 2990n },
});
const eur = (minor: bigint) => ({ minor, currency: 'EUR' });
const paid = { invoiceId: INVOICE_ID, paymentId: 'pay_1' };
const kinds = (found: readonly Difference[]): string[] => found.map((d) => `${d.kind} ${d.objectId}`);

it('a payment record detached from its invoice on Stripe is a charged_not_marked difference', () => {
  expect(compareDetached(shown({ status: 'open' }), ours())).toEqual([
    finding.detached({ ...paid, objectId: 'pr_1' }, { record: 'pr_1', amount: eur(2990n), status: 'open' }),
  ]);
  const unnamed = ours({ payments: [payment({ paymentId: null })] });
  expect(compareDetached(shown(), unnamed)).toMatchObject([{ paymentId: 'pmt_1' }]);
});

it('a payment record counts as detached unless the invoice has a paid entry for this record', () => {
  expect(compareDetached(shown({ payments: [attached('pr_1')] }), ours())).toEqual([]);
  const not = [attached('pr_1', 'canceled'), attached('pr_9'), attached(null)];
  expect(kinds(compareDetached(shown({ payments: not }), ours()))).toEqual(['charged_not_marked pr_1']);
  const two = ours({ payments: [payment(), payment({ id: 'pmt_2', paymentRecordId: 'pr_2' })] });
  expect(kinds(compareDetached(shown({ payments: [attached('pr_1')] }), two))).toEqual(['charged_not_marked pr_2']);
});

it("the command `crossbill verify` reports a detached payment record only if Stripe lists the invoice's payments and the ledger has the mark", () => {
  expect(compareDetached(shown({ payments: null }), ours())).toEqual([]);
  for (const over of [{ mark: 'parked' }, { amount: null }, { paymentRecordId: null }] as const) {
    expect(compareDetached(shown(), ours({ payments: [payment(over)] }))).toEqual([]);
  }
});

it('`crossbill verify` reports an overpaid invoice as a difference, and names the surplus', () => {
  expect(compareOverpaid(shown({ amountOverpaid: 110n }), ours())).toEqual([
    finding.overpaid(paid, { surplus: eur(110n), refunded: null }),
  ]);
  expect(compareOverpaid(shown({ amountOverpaid: 1n }), ours())).toHaveLength(1);
  expect(compareOverpaid(shown({ amountOverpaid: 0n }), ours())).toEqual([]);
});

it('the difference of an overpaid invoice names the part of the surplus that was refunded', () => {
  const refunds = [
    refund({ surplus: 60n }),
    refund({ id: 'ref_2', surplus: 20n }),
    refund({ id: 'ref_3', surplus: 9n, counted: false }),
  ];
  const found = (own: OurInvoice) => compareOverpaid(shown({ amountOverpaid: 110n }), own);
  expect(found(ours({ refunds }))).toEqual([finding.overpaid(paid, { surplus: eur(110n), refunded: eur(80n) })]);
  expect(found(ours({ refunds: [refund()] }))).toEqual([
    finding.overpaid(paid, { surplus: eur(110n), refunded: null }),
  ]);
});

it('an amount_mismatch item explains an overpaid invoice; `crossbill verify` reports no overpaid invoice without a mark by Crossbill', () => {
  const found = (over: object): unknown =>
    compareOverpaid(shown({ amountOverpaid: 110n }), ours({ openReviews: [review(over)] }))[0]?.reviewId;
  expect([found({}), found({ kind: 'double_payment' })]).toEqual(['rev_1', null]);
  for (const payments of [[], [payment({ mark: 'parked' })]]) {
    expect(compareOverpaid(shown({ amountOverpaid: 110n }), ours({ payments }))).toEqual([]);
  }
  const second = ours({ payments: [payment({ mark: 'closed' }), payment({ id: 'pmt_2', paymentId: 'pay_2' })] });
  expect(compareOverpaid(shown({ amountOverpaid: 110n }), second)).toMatchObject([{ paymentId: 'pay_2' }]);
});

it('the command `crossbill verify` reads the credit notes of an invoice only if the notes exceed the refunds in the ledger', () => {
  const beyond = (credited: bigint, over: object = {}): boolean =>
    creditedBeyondLedger(shown({ creditedAfterPayment: credited }), ours({ refunds: [refund(over)] }));
  expect([beyond(999n), beyond(1000n), beyond(1001n)]).toEqual([false, false, true]);
  expect([beyond(1000n, { mirror: 'crediting' }), beyond(0n, { mirror: 'crediting' })]).toEqual([true, false]);
  // What gives a surplus back lowers no sale and has no credit note.
  expect([beyond(900n, { surplus: 100n }), beyond(901n, { surplus: 100n })]).toEqual([false, true]);
  const two = ours({ refunds: [refund(), refund({ id: 'ref_2', amount: 500n })] });
  expect(creditedBeyondLedger(shown({ creditedAfterPayment: 1500n }), two)).toBe(false);
  expect(creditedBeyondLedger(shown({ creditedAfterPayment: 1501n }), two)).toBe(true);
});

const foreign = { creditNoteId: 'cn_9', refundId: null, references: [] };

const about = { invoiceId: INVOICE_ID, objectId: 'cn_9' };
const nothing = { by: 'nothing' } as const;
const covered = (over: Parameters<typeof ours>[0], cover: Cover): void => {
  const facts = { note: 'cn_9', amount: eur(1000n), cover };
  expect(compareForeignNotes(ours(over), [note(foreign)])).toEqual([finding.notedByHand(about, facts)]);
};

it('the command `crossbill verify` reports a credit note without a refund at the MoR as a refund by hand, or as a credit to the balance', () => {
  expect(compareForeignNotes(ours(), [note({ ...foreign, amount: 400n, afterPayment: 300n })])).toEqual([
    finding.notedByHand(about, { note: 'cn_9', amount: eur(300n), cover: nothing }),
  ]);
  expect(compareForeignNotes(ours(), [note({ ...foreign, toBalance: true })])).toEqual([
    finding.notedToBalance(about, { note: 'cn_9', amount: eur(1000n), cover: nothing }),
  ]);
});

it('the difference of a credit note without its own refund names a refund of the same amount', () => {
  const by = { by: 'refund', refund: 'rfnd_1', unfinished: null, note: null } as const;
  covered({ refunds: [refund({ creditNoteId: null, mirror: 'parked' })] }, by);
  covered({ refunds: [refund({ morRefundId: null })] }, { ...by, refund: 'ref_1', note: 'cn_1' });
  // A bank debit's takes days, and Stripe shows nothing of it until then.
  const pending = refund({ status: 'pending', creditNoteId: null, mirror: 'none' });
  covered({ refunds: [pending] }, { ...by, unfinished: 'pending' });
  for (const over of [{ amount: 999n }, { currency: 'USD' }, { status: 'failed' }, { status: 'joined' }] as const)
    covered({ refunds: [refund(over)] }, nothing);
});

it("the difference of a credit note without a refund names a lost dispute of at least the note's amount", () => {
  const lost = (minor: string) => [
    aDispute({
      status: 'lost',
      detail: { loss: { of: 'pmt_1', minor, entries: 1, movedAt: '2026-11-20T12:00:00Z' } },
    }),
  ];
  covered({ objects: lost('1000') }, { by: 'loss', lost: eur(1000n) });
  covered({ objects: lost('999') }, nothing);
});

it('`crossbill verify` reports no difference for a void credit note, a note that returns no paid money, or a note of another invoice', () => {
  for (const over of [{ status: 'void' }, { afterPayment: 0n }, { afterPayment: -1n }, { invoiceId: 'in_9' }]) {
    expect(compareForeignNotes(ours(), [note({ ...foreign, ...over })])).toEqual([]);
  }
  expect(compareForeignNotes(ours(), [note({ ...foreign, afterPayment: 1n })])).toHaveLength(1);
});

it('a credit note on an invoice without a payment of the MoR is no difference', () => {
  for (const payments of [[], [payment({ succeededAt: null })]]) {
    expect(compareForeignNotes(ours({ payments }), [note(foreign)])).toEqual([]);
  }
  const later = ours({ payments: [payment({ succeededAt: null }), payment({ id: 'pmt_2' })] });
  expect(compareForeignNotes(later, [note(foreign)])).toHaveLength(1);
});

it('the first credit note of a refund is no difference, and a second note for the same refund is a difference', () => {
  const given = ours({ refunds: [refund()] });
  expect(compareForeignNotes(given, [note()])).toEqual([]);
  // Its note is known, so another one that names the refund is somebody’s second.
  expect(kinds(compareForeignNotes(given, [note(), note({ creditNoteId: 'cn_2' })]))).toEqual([
    'refunded_by_hand cn_2',
  ]);
});

it('verify reports no foreign credit note if the note names a refund still without a credit note in Crossbill', () => {
  const waiting = ours({ refunds: [refund({ creditNoteId: null, mirror: 'crediting' })] });
  const named = (over: object): number => compareForeignNotes(waiting, [note({ ...foreign, ...over })]).length;
  expect(named({ refundId: 'ref_1' })).toBe(0);
  expect(named({ references: ['re_1'] })).toBe(0);
  expect(named({ references: ['x', 'rfnd_1'] })).toBe(0);
  expect([named({}), named({ refundId: 'ref_2', references: ['re_2'] })]).toEqual([1, 1]);
  const bare = ours({
    refunds: [refund({ creditNoteId: null, morRefundId: null, processorRefundId: null }), refund({ id: 'ref_2' })],
  });
  expect(compareForeignNotes(bare, [note(foreign)])).toHaveLength(1);
  expect(compareForeignNotes(bare, [note()])).toEqual([]);
});

describe('the credit note of a refund', () => {
  const found = (notes: Parameters<typeof note>[0][], over: Parameters<typeof refund>[0] = {}): string[] =>
    compareCreditNotes(ours({ refunds: [refund(over)] }), notes.map(note)).map((d) => `${d.kind}: ${d.detail}`);

  it('the credit note of a refund is a difference if its amount or currency differs from the refund', () => {
    expect(found([{ creditNoteId: 'cn_0', status: 'void' }, { creditNoteId: 'cn_2', amount: 1n }, {}])).toEqual([]);
    expect(found([{ amount: 900n }])).toHaveLength(1);
    expect(found([{ currency: 'USD' }])).toEqual([
      'amount_differs: Refund ref_1 reduces the sale by 10.00 EUR. Its credit note says 10.00 USD.',
    ]);
  });

  it('a missing or void credit note of a refund is a refund_not_mirrored difference', () => {
    const gone = (state: string): string => `refund_not_mirrored: Credit note cn_1 for refund ref_1 is ${state}.`;
    expect([found([]), found([{ status: 'void' }])]).toEqual([[gone('missing')], [gone('void')]]);
  });

  it('a refund still waiting for Stripe, or a refund of a surplus alone, needs no credit note', () => {
    expect(found([], { mirror: 'waiting' })).toEqual([]);
    expect(found([], { surplus: 1000n, creditNoteId: null })).toEqual([]);
    expect(found([], { surplus: 999n, creditNoteId: null })).toHaveLength(1);
  });
});

const differs = (refunds: Parameters<typeof refund>[0][], amountRefunded: bigint): string[] =>
  compareRecord(ours({ refunds: refunds.map(refund) }), payment(), record({ amountRefunded })).map((d) => d.kind);

it('a payment record with less refunded than the ledger lacks a refund; a record with more has a refund by hand', () => {
  expect(compareRecord(ours({ refunds: [refund()] }), payment(), record({ amountRefunded: 999n }))).toEqual([
    finding.lessRefunded({ ...paid, objectId: 'pr_1' }, { record: 'pr_1', refunded: eur(999n), mirrored: eur(1000n) }),
  ]);
  expect(differs([{}], 1001n)).toEqual(['refunded_by_hand']);
  expect(differs([], 1n)).toEqual(['refunded_by_hand']);
  expect(differs([{}, { id: 'ref_2', amount: 1n }], 1001n)).toEqual([]);
});

it('the command `crossbill verify` expects each reported refund on the payment record; a refund still being reported can be there or missing', () => {
  expect([differs([{ mirror: 'crediting' }], 1000n), differs([{ mirror: 'crediting' }], 0n)]).toEqual([
    [],
    ['refund_not_mirrored'],
  ]);
  for (const mirror of ['reporting', 'parked'] as const) {
    expect([differs([{ mirror }], 0n), differs([{ mirror }], 1000n)]).toEqual([[], []]);
    expect(differs([{ mirror }], 1001n)).toEqual(['refunded_by_hand']);
  }
  for (const mirror of ['none', 'waiting', 'not_needed'] as const) {
    expect([differs([{ mirror }], 0n), differs([{ mirror }], 1000n)]).toEqual([[], ['refunded_by_hand']]);
  }
});

it('a refund still being reported is on the payment record in full or not at all; `crossbill verify` reports any other sum as a refund by hand', () => {
  const mirror = 'parked';
  expect(differs([{ mirror }], 400n)).toEqual(['refunded_by_hand']);
  const two = [{ mirror }, { id: 'ref_2', mirror: 'reporting', amount: 300n }] as const;
  for (const shown of [0n, 300n, 1000n, 1300n]) expect(differs([...two], shown)).toEqual([]);
  for (const shown of [1n, 700n, 1299n]) expect(differs([...two], shown)).toEqual(['refunded_by_hand']);
  const done = { id: 'ref_3', amount: 200n } as const;
  for (const shown of [200n, 500n, 1200n, 1500n]) expect(differs([...two, done], shown)).toEqual([]);
  expect(differs([...two, done], 300n)).toEqual(['refunded_by_hand']);
  expect(differs([...two, done], 199n)).toEqual(['refund_not_mirrored']);
});

it('with 40 refunds still being reported, `crossbill verify` accepts every refunded sum between the least and the most possible', () => {
  const many = Array.from(
    { length: 40 },
    (_, i) => ({ mirror: 'parked', id: `ref_${i}`, amount: 2n ** BigInt(i) }) as const,
  );
  const most = 2n ** 40n - 1n;
  const done = { id: 'ref_done', amount: 5n } as const;
  for (const shown of [5n, 2n ** 39n, most + 5n]) expect(differs([...many, done], shown)).toEqual([]);
  expect(differs([...many, done], most + 6n)).toEqual(['refunded_by_hand']);
  expect(differs([...many, done], 4n)).toEqual(['refund_not_mirrored']);
});

it('for a payment record, `crossbill verify` counts only the refunds of its own payment', () => {
  expect(differs([{ paymentRowId: 'pmt_2' }], 0n)).toEqual([]);
  expect(differs([{ paymentRowId: 'pmt_2' }], 1000n)).toEqual(['refunded_by_hand']);
});

it('a refund refused by Stripe, with an open review item, does not explain a refund on the payment record', () => {
  const refused = { kind: 'effect_failed', refundId: 'ref_1', subject: 'report_refund:pay_1:re_1' } as const;
  const shows = (item: object): string[] =>
    compareRecord(
      ours({ refunds: [refund({ mirror: 'parked' })], openReviews: [review({ ...refused, ...item })] }),
      payment(),
      record({ amountRefunded: 1000n }),
    ).map((d) => d.kind);
  expect(shows({})).toEqual(['refunded_by_hand']);
  expect(shows({ refundId: 'ref_2' })).toEqual([]);
  expect(shows({ kind: 'refund_stuck' })).toEqual([]);
  expect(shows({ subject: 'issue_credit_note:report_refund:' })).toEqual([]);
});

it('a payment record missing on Stripe is a charged_not_marked difference', () => {
  expect(compareRecord(ours(), payment(), null)).toEqual([
    finding.recordGone({ ...paid, objectId: 'pr_1' }, { record: 'pr_1' }),
  ]);
  const none = compareRecord(ours(), payment({ paymentId: null, paymentRecordId: null }), null);
  expect(none).toMatchObject([{ paymentId: 'pmt_1', objectId: null }]);
});

describe('the balance of a customer with a payment through the MoR', () => {
  const entry = (entryId: string, amount: bigint, over: Partial<BalanceEntryFacts> = {}): BalanceEntryFacts => ({
    ...{ entryId, invoiceId: null, byHand: true, amount, currency: 'EUR' },
    ...over,
  });
  const named = (...entries: BalanceEntryFacts[]): string[] => kinds(compareBalance('cus_1', entries));

  it('a manual credit to the balance of a customer is a credited_by_hand difference', () => {
    expect(compareBalance('cus_1', [entry('cbtxn_1', -500n, { invoiceId: INVOICE_ID })])).toEqual([
      finding.balanceCredited(
        { invoiceId: INVOICE_ID, objectId: 'cbtxn_1' },
        { customer: 'cus_1', entry: 'cbtxn_1', amount: eur(500n) },
      ),
    ]);
    expect(named(entry('a', -1n), entry('b', -2n))).toEqual(['credited_by_hand a', 'credited_by_hand b']);
  });

  it('a manual credit to the balance is no difference after a manual debit takes as much back', () => {
    expect(named(entry('a', -500n), entry('b', 499n))).toEqual(['credited_by_hand a']);
    expect(named(entry('a', -500n), entry('b', 500n))).toEqual([]);
    expect(named(entry('a', 500n), entry('b', 0n))).toEqual([]);
    expect(named(entry('a', -500n), entry('b', 0n))).toEqual(['credited_by_hand a']);
  });

  it("a debit of the customer's balance takes back no credit in another currency", () => {
    const yen = entry('b', 500n, { currency: 'JPY' });
    expect(named(entry('a', -500n), yen)).toEqual(['credited_by_hand a']);
    expect(named(entry('a', -500n), yen, entry('c', 500n))).toEqual([]);
    expect(named(entry('a', -500n), entry('b', -300n, { currency: 'JPY' }), entry('c', 500n))).toEqual([
      'credited_by_hand b',
    ]);
  });

  it('a balance movement by Stripe is no difference and takes back no manual credit', () => {
    expect(named(entry('a', -500n, { byHand: false }))).toEqual([]);
    expect(named(entry('a', -500n), entry('b', 500n, { byHand: false }))).toEqual(['credited_by_hand a']);
    expect(named()).toEqual([]);
  });
});

// What an open item explains, tax that is not committed, and the edges of the comparison.
import { FACTS } from '../../../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from '../../../../src/domain/model.js';
import {
  compareAttached,
  compareCharges,
  compareCreditNotes,
  compareInvoice,
  compareWithin,
  difference,
  paidBeyondLedger,
} from '../../../../src/verify/rules/compare.js';
import { type Difference, isRepairable } from '../../../../src/domain/difference.js';
import { differenceId } from '../../../../src/verify/rules/acknowledge.js';
import { INVOICE_ID, START } from '../../../support/builders.js';
import { facts, invoice, LATER, note, ours, payment, refund, review } from '../../../support/compare-rows.js';

describe('what an open item explains', () => {
  const TWO_MINUTES = new Date(START.getTime() + 120_000);
  const unmirrored = (over: Partial<ReviewRow>, r: Partial<RefundRow> = {}): (string | null)[] =>
    compareWithin(ours({ refunds: [refund({ mirror: 'waiting', ...r })], openReviews: [review(over)] }), LATER)
      .filter((d) => d.kind === 'refund_not_mirrored')
      .map((d) => d.reviewId);

  it('of a refund that does not show: its own item, or one that keeps its payment', () => {
    expect(unmirrored({ kind: 'effect_failed', refundId: 'ref_1', paymentRowId: null })).toEqual(['rev_1']);
    expect(unmirrored({ kind: 'effect_failed', refundId: 'ref_2', paymentRowId: null })).toEqual([null]);
    expect(unmirrored({ kind: 'double_payment' })).toEqual(['rev_1']);
    expect(unmirrored({ kind: 'refund_gap' })).toEqual(['rev_1']);
    expect(unmirrored({ kind: 'dispute' })).toEqual([null]);
    expect(unmirrored({ kind: 'double_payment', paymentRowId: 'pmt_2' })).toEqual([null]);
    expect(unmirrored({ kind: 'refund_gap', paymentRowId: 'pmt_2' })).toEqual([null]);
  });

  it('of a refund: it is a difference at once; without an item only after two minutes', () => {
    const given = ours({ refunds: [refund({ mirror: 'waiting' })] });
    const early = new Date(START.getTime() + 119_999);
    expect(compareWithin(given, early)).toEqual([]);
    expect(compareWithin(given, TWO_MINUTES)).toHaveLength(1);
    const asked = review({ kind: 'effect_failed', refundId: 'ref_1' });
    expect(compareWithin({ ...given, openReviews: [asked] }, early)).toMatchObject([{ reviewId: 'rev_1' }]);
    const created = ours({ refunds: [refund({ mirror: 'waiting', succeededAt: null, createdAt: LATER })] });
    expect(compareWithin(created, LATER)).toEqual([]);
  });

  it('of refunds that do not add up: the item is the difference, and no other item is one', () => {
    const gap = review({ id: 'rev_gap', kind: 'refund_gap', fact: FACTS.refund_gap });
    expect(compareWithin(ours({ openReviews: [gap, review()] }), LATER)).toMatchObject([
      {
        kind: 'amount_differs',
        repair: 'person',
        detail: 'the running totals of the refunds of payment pay_1 do not add up at 10.00 EUR',
        invoiceId: INVOICE_ID,
        reviewId: 'rev_gap',
      },
    ]);
  });

  it('of less than was marked on Stripe: the item that keeps its payment', () => {
    const found = (over: Partial<ReviewRow>): (string | null)[] =>
      compareInvoice(facts({ amountPaid: 1n }), ours({ openReviews: [review(over)] }), LATER).map((d) => d.reviewId);
    expect(found({})).toEqual(['rev_1']);
    expect(found({ paymentRowId: 'pmt_2' })).toEqual([null]);
    expect(found({ kind: 'dispute' })).toEqual([null]);
  });

  it('of a charge on two invoices: the item about this payment', () => {
    const other = payment({
      id: 'pmt_0',
      paymentId: 'pay_0',
      invoiceId: 'in_0',
      recordedAt: new Date(START.getTime() - 1),
    });
    const found = (over: Partial<ReviewRow>): (string | null)[] =>
      compareCharges(ours({ sameCharge: [other], openReviews: [review(over)] })).map((d) => d.reviewId);
    expect(found({ kind: 'double_payment' })).toEqual(['rev_1']);
    expect(found({ kind: 'double_payment', paymentRowId: 'pmt_2' })).toEqual([null]);
    expect(found({})).toEqual([null]);
    const another = { ...other, processorChargeId: 'ch_9' };
    expect(compareCharges(ours({ sameCharge: [another, { ...other, invoiceId: INVOICE_ID }] }))).toEqual([]);
    expect(compareCharges(ours())).toEqual([]);
    // Recorded at one moment, the ids decide: one of the two names it, and never both.
    const atOnce = { ...other, recordedAt: START };
    expect(compareCharges(ours({ sameCharge: [atOnce] }))).toHaveLength(1);
    expect(compareCharges(ours({ payments: [atOnce], sameCharge: [payment()] }))).toEqual([]);
    for (const status of ['failed', 'requires_action'] as const) {
      expect(compareCharges(ours({ sameCharge: [{ ...other, status }] }))).toEqual([]);
    }
  });
});
describe('the edges', () => {
  it('a draft that nobody answered for is a renewal without a verdict too; one that is over, or not late, is none', () => {
    const silent = (over: Partial<InvoiceRow>): readonly Difference[] =>
      compareWithin(ours({ invoice: invoice({ expectedBy: START, ...over }), payments: [] }), LATER);
    expect(silent({ platformStatus: 'draft' })).toMatchObject([{ kind: 'no_verdict', invoiceId: INVOICE_ID }]);
    expect([silent({ platformStatus: 'uncollectible' }), silent({ platformStatus: 'paid' })]).toEqual([[], []]);
    expect([
      silent({ platformStatus: 'open', expectedBy: LATER }),
      silent({ platformStatus: 'open', expectedBy: null }),
    ]).toEqual([[], []]);
  });

  it('of money: what did not succeed, is of an unknown amount, or was left aside is not unmarked', () => {
    for (const over of [{ succeededAt: null }, { amount: null }, { mark: 'closed' }] as const) {
      expect(compareWithin(ours({ payments: [payment({ mark: 'waiting', ...over })] }), LATER)).toEqual([]);
    }
  });

  it('of what is asked of Stripe: only where more is paid than was marked', () => {
    expect(paidBeyondLedger(facts({ amountPaid: 2991n }), ours())).toBe(true);
    expect([paidBeyondLedger(facts(), ours()), paidBeyondLedger(facts({ amountPaid: 0n }), null)]).toEqual([
      false,
      false,
    ]);
    expect(paidBeyondLedger(facts({ amountPaid: 1n }), null)).toBe(true);
    expect(paidBeyondLedger(facts(), ours({ payments: [payment({ mark: 'parked' })] }))).toBe(true);
    expect(paidBeyondLedger(facts(), ours({ payments: [payment({ amount: null })] }))).toBe(true);
  });

  it('of what pays an invoice: a payment that Stripe does not say the amount of proves no mark by hand', () => {
    const listed = [{ paymentRecordId: null, byPlatform: true, status: 'paid', amountPaid: null }];
    expect(compareAttached(facts(), ours({ payments: [] }), listed)).toEqual([]);
    const open = [{ paymentRecordId: 'pr_9', byPlatform: false, status: 'open', amountPaid: 2990n }];
    expect(compareAttached(facts({ amountPaid: 0n }), null, open)).toEqual([]);
    expect(compareAttached(facts({ amountPaid: 500n }), null, [])).toMatchObject([
      {
        kind: 'marked_not_charged',
        reviewId: null,
        detail: expect.stringMatching(/^5\.00 EUR was marked paid out of band/),
      },
    ]);
  });

  it('of a record beside a payment of as much that waits for a person, whose item says it: after a restore it was let through before', () => {
    const listed = [{ paymentRecordId: 'pr_9', byPlatform: false, status: 'paid', amountPaid: 2990n }];
    const waits = (over: Partial<PaymentRow>): ReturnType<typeof ours> =>
      ours({
        payments: [payment({ mark: 'parked', paymentRecordId: null, ...over })],
        openReviews: [review({ kind: 'amount_mismatch' })],
      });
    expect(compareAttached(facts(), waits({}), listed)).toMatchObject([
      {
        kind: 'marked_not_charged',
        reviewId: 'rev_1',
        detail: expect.stringMatching(
          /^payment record pr_9 pays the invoice, and payment \S+ of as much waits for a person$/,
        ),
      },
    ]);
    expect(compareAttached(facts(), waits({ amount: 2989n }), listed)).toMatchObject([
      { reviewId: null, detail: expect.stringMatching(/the MoR has reported no payment for it$/) },
    ]);
  });

  it('of credit notes: their currency counts, and what is missing is said by its name', () => {
    const given = ours({ refunds: [refund()] });
    expect(compareCreditNotes(given, [note({ currency: 'USD' })])).toMatchObject([
      {
        kind: 'amount_differs',
        refundId: 'ref_1',
        detail: 'refund ref_1 takes 10.00 EUR off the sale; its credit note says 10.00 USD',
      },
    ]);
    expect(compareCreditNotes(given, [])[0]?.detail).toBe('credit note cn_1 of refund ref_1 is missing');
    expect(compareCreditNotes(given, [note({ status: 'void' })])[0]?.detail).toBe(
      'credit note cn_1 of refund ref_1 is void',
    );
    expect(compareCreditNotes(ours({ refunds: [refund({ mirror: 'waiting' })] }), [])).toEqual([]);
  });

  it('of an invoice’s age: one whose day is not known is old enough', () => {
    expect(compareInvoice(facts({ createdAt: null }), null, LATER)).toHaveLength(1);
    const told = compareInvoice(facts({ status: 'void', createdAt: null }), ours({ payments: [] }), LATER);
    expect(told[0]?.detail).toBe('Stripe shows the invoice void; our events say paid');
    const short = compareInvoice(facts({ amountPaid: 2000n }), ours(), LATER);
    expect(short[0]).toMatchObject({
      ...{ paymentId: 'pay_1', detail: 'the ledger marked 29.90 EUR; Stripe shows 20.00 EUR paid (paid)' },
    });
  });
});
it('what a person was asked to decide is not repaired behind their back', () => {
  expect(isRepairable(difference('charged_not_marked', 'look-again', '', {}))).toBe(true);
  expect(isRepairable(difference('charged_not_marked', 'look-again', '', { reviewId: 'rev_1' }))).toBe(false);
  expect(isRepairable(difference('amount_differs', 'person', '', {}))).toBe(false);
});

describe('a difference that a person acknowledged', () => {
  const about = { invoiceId: 'in_1', paymentId: 'pay_1', refundId: 'ref_1', eventId: 'evt_1', objectId: 'cn_1' };
  const known = { kind: 'refunded_by_hand', ...about, detail: 'credit note cn_1 gives back 3.00 EUR' };

  it('is the same one in the next run, and another one as soon as any of its facts is another', () => {
    expect(differenceId(known)).toMatch(/^dif_[0-9a-f]{24}$/);
    expect(differenceId({ ...known })).toBe(differenceId(known));
    const others = [
      ...Object.keys(about).flatMap((name) => [{ [name]: 'other' }, { [name]: null }]),
      ...[{ kind: 'credited_by_hand' }, { detail: 'credit note cn_1 gives back 3.01 EUR' }],
      { invoiceId: 'pay_1', paymentId: 'in_1' },
    ];
    const ids = others.map((over) => differenceId({ ...known, ...over }));
    expect(new Set([differenceId(known), ...ids]).size).toBe(others.length + 1);
  });
});

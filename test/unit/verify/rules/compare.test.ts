// Each kind of difference between the ledger and Stripe, planted one at a time, and what must not count as one.
import { describe, expect, it } from '@jest/globals';
import { type PaymentRow } from '../../../../src/domain/model.js';
import {
  compareAttached,
  compareCharges,
  compareCreditNotes,
  compareInvoice,
  compareWithin,
} from '../../../../src/verify/rules/compare.js';
import { type Difference } from '../../../../src/domain/difference.js';
import { compareRecord } from '../../../../src/verify/rules/compare-hands.js';
import { START } from '../../../support/builders.js';
import { facts, invoice, LATER, note, ours, payment, record, refund, review } from '../../../support/compare-rows.js';

describe('within the ledger', () => {
  it('a marked payment with a mirrored refund is no difference', () => {
    expect(compareWithin(ours({ refunds: [refund()] }), LATER)).toEqual([]);
  });

  it('money that was taken and is not marked is one, after two minutes', () => {
    const waiting = ours({ payments: [payment({ mark: 'waiting' })] });
    expect(compareWithin(waiting, LATER)).toMatchObject([
      { kind: 'charged_not_marked', paymentId: 'pay_1', repair: 'look-again', reviewId: null },
    ]);
    expect(compareWithin(waiting, new Date(START.getTime() + 60_000))).toEqual([]);
  });

  it('money that waits for Stripe’s draft hour is none; with a failed finalization it is explained', () => {
    const held = ours({ invoice: invoice({ platformStatus: 'draft' }), payments: [payment({ mark: 'held' })] });
    expect(compareWithin(held, LATER)).toEqual([]);
    const failed = { ...held, openReviews: [review({ kind: 'finalization_failed', paymentRowId: null })] };
    expect(compareWithin(failed, LATER)).toMatchObject([{ kind: 'charged_not_marked', reviewId: 'rev_1' }]);
    // Stripe's own limit is three days: after that nothing more comes.
    const fourDays = new Date(START.getTime() + 96 * 3_600_000);
    expect(compareWithin(held, fourDays)).toMatchObject([{ kind: 'charged_not_marked', reviewId: null }]);
  });

  it('is explained by the item that keeps the payment, not by a dispute about it', () => {
    const parked = ours({ payments: [payment({ mark: 'parked' })] });
    expect(compareWithin({ ...parked, openReviews: [review()] }, LATER)).toMatchObject([{ reviewId: 'rev_1' }]);
    expect(compareWithin({ ...parked, openReviews: [review({ kind: 'dispute' })] }, LATER)).toMatchObject([
      { reviewId: null },
    ]);
  });

  it('is explained, with its refunds, by a refund of it that is stuck: its question comes back once that is over', () => {
    const refunds = [
      refund({ mirror: 'waiting', creditNoteId: null }),
      refund({ id: 'ref_2', status: 'pending', mirror: 'none' }),
    ];
    const openReviews = [review({ kind: 'refund_stuck', refundId: 'ref_2' })];
    const about = (mark: 'parked' | 'waiting'): unknown =>
      compareWithin(ours({ payments: [payment({ mark })], refunds, openReviews }), LATER).map((d) => [
        d.kind,
        d.reviewId,
      ]);
    const explained = [
      ['charged_not_marked', 'rev_1'],
      ['refund_not_mirrored', 'rev_1'],
    ];
    expect(about('parked')).toEqual(explained);
    expect(about('waiting')).toEqual(explained.map(([kind]) => [kind, null]));
  });

  it('a refund that does not show on Stripe is one', () => {
    const waiting = ours({ refunds: [refund({ mirror: 'waiting', creditNoteId: null })] });
    expect(compareWithin(waiting, LATER)).toMatchObject([{ kind: 'refund_not_mirrored', refundId: 'ref_1' }]);
    expect(compareWithin(waiting, LATER)[0]?.detail).toMatch(/does not show on Stripe \(waiting\)$/);
    const opened = compareWithin({ ...waiting, invoice: { ...waiting.invoice, platformStatus: 'open' } }, LATER);
    expect(opened.find((d) => d.kind === 'refund_not_mirrored')?.detail).toMatch(
      /does not show on Stripe: it waits until the rest of the invoice is paid$/,
    );
    expect(compareWithin(ours({ refunds: [refund({ status: 'pending', mirror: 'none' })] }), LATER)).toEqual([]);
    expect(compareWithin(ours({ refunds: [refund({ mirror: 'not_needed' })] }), LATER)).toEqual([]);
  });

  it('a renewal without a verdict is one once its time has passed', () => {
    const silent = ours({
      invoice: invoice({ status: 'expected', platformStatus: 'open', expectedBy: START }),
      payments: [],
    });
    expect(compareWithin(silent, LATER)).toMatchObject([{ kind: 'no_verdict', repair: 'person', reviewId: null }]);
    const told = { ...silent, openReviews: [review({ kind: 'renewal_overdue', paymentRowId: null })] };
    expect(compareWithin(told, LATER)).toMatchObject([{ reviewId: 'rev_1' }]);
    const refused = payment({ succeededAt: null, status: 'failed', mark: 'none', verdictAt: START });
    expect(compareWithin({ ...silent, payments: [refused] }, LATER)).toEqual([]);
  });
});
describe('against the invoice on Stripe', () => {
  it('the same amount paid is no difference', () => {
    expect(compareInvoice(facts(), ours(), LATER)).toEqual([]);
  });

  it('less paid than marked is one, and nothing paid is a charge that is not marked', () => {
    expect(compareInvoice(facts({ amountPaid: 2000n }), ours(), LATER)).toMatchObject([
      { kind: 'amount_differs', repair: 'person' },
    ]);
    expect(compareInvoice(facts({ amountPaid: 0n, status: 'open' }), ours(), LATER)).toMatchObject([
      { kind: 'charged_not_marked' },
    ]);
    expect(compareInvoice(facts({ currency: 'USD' }), ours(), LATER)).toMatchObject([{ kind: 'amount_differs' }]);
  });

  it('an invoice that never arrived is one, except a signup’s, an empty or a void one, and one just made', () => {
    expect(compareInvoice(facts(), null, LATER)).toMatchObject([
      { kind: 'event_never_delivered', repair: 'look-again' },
    ]);
    expect(compareInvoice(facts({ billingReason: 'subscription_create' }), null, LATER)).toEqual([]);
    expect(compareInvoice(facts({ amountDue: 0n }), null, LATER)).toEqual([]);
    expect(compareInvoice(facts({ status: 'void' }), null, LATER)).toEqual([]);
    expect(compareInvoice(facts({ createdAt: LATER }), null, LATER)).toEqual([]);
    expect(compareInvoice(facts({ createdAt: LATER }), null, LATER, 0)).toMatchObject([
      { kind: 'event_never_delivered', repair: 'look-again' },
    ]);
  });

  it('another status than the one we were told is one', () => {
    const open = ours({ invoice: invoice({ platformStatus: 'open' }), payments: [] });
    expect(compareInvoice(facts({ status: 'void', amountPaid: 0n }), open, LATER)).toMatchObject([
      { kind: 'event_never_delivered', repair: 'look-again' },
    ]);
    const young = facts({ status: 'void', amountPaid: 0n, createdAt: LATER });
    expect(compareInvoice(young, open, LATER, 0)).toEqual([]); // its news is on the way
  });

  it('a payment record of somebody else’s is one, ours is none, and what Stripe collected itself is none', () => {
    const unmarked = ours({ payments: [] });
    const paidBy = (id: string | null) => [
      { paymentRecordId: id, byPlatform: id === null, status: 'paid', amountPaid: 2990n },
    ];
    expect(compareAttached(facts(), unmarked, paidBy('pr_9'))).toMatchObject([{ kind: 'marked_not_charged' }]);
    expect(compareAttached(facts(), unmarked, paidBy(null))).toEqual([]);
    expect(compareAttached(facts(), ours(), paidBy('pr_1'))).toEqual([]);
    const beside = [...paidBy('pr_1'), ...paidBy('pr_9')];
    expect(compareAttached(facts({ amountPaid: 5980n }), ours(), beside)).toMatchObject([
      { kind: 'marked_not_charged' },
    ]);
  });

  it('only what names a payment intent or a charge was collected by Stripe: an unknown type beside a mark by hand is no money', () => {
    const listed = [{ paymentRecordId: null, byPlatform: false, status: 'paid', amountPaid: 2990n }];
    expect(compareAttached(facts(), ours({ payments: [] }), listed)).toMatchObject([{ kind: 'marked_not_charged' }]);
    const marked = ours({ payments: [payment({ paymentRecordId: null, markMode: 'out_of_band' })] });
    expect(compareAttached(facts(), marked, listed)).toEqual([]);
  });

  it('a mark out of band is one unless it is ours or a person was asked', () => {
    expect(compareAttached(facts(), ours({ payments: [] }), [])).toMatchObject([
      { kind: 'marked_not_charged', reviewId: null },
    ]);
    expect(
      compareAttached(facts(), ours({ payments: [payment({ paymentRecordId: null, markMode: 'out_of_band' })] }), []),
    ).toEqual([]);
    const asked = ours({
      payments: [payment({ mark: 'parked', paymentRecordId: null })],
      openReviews: [review({ kind: 'double_payment' })],
    });
    expect(compareAttached(facts(), asked, [])).toMatchObject([{ reviewId: 'rev_1' }]);
  });
});
describe('one charge on two invoices', () => {
  const first = payment({ id: 'pmt_a', paymentId: 'pay_a', invoiceId: 'in_a', processorChargeId: 'ch_1' });
  const late = new Date(first.recordedAt.getTime() + 1000);
  const second = payment({ id: 'pmt_b', paymentId: 'pay_b', processorChargeId: 'ch_1', recordedAt: late });
  const about = (p: PaymentRow, other: PaymentRow): Difference[] =>
    compareCharges(ours({ payments: [p], sameCharge: [other] }));

  it('is named once, with both invoices, also when both were booked and nobody was asked', () => {
    expect(about(second, first)).toMatchObject([
      {
        kind: 'charge_on_two_invoices',
        invoiceId: second.invoiceId,
        paymentId: 'pay_b',
        objectId: 'ch_1',
        reviewId: null,
        detail: expect.stringMatching(/pay_a of invoice in_a .* pay_b of invoice in_/),
      },
    ]);
    expect(about(first, second)).toEqual([]);
    const unbooked = { ...first, succeededAt: null };
    expect(about(unbooked, second)).toHaveLength(1);
    expect(about(second, unbooked)).toEqual([]);
  });

  it('is none once one of them was set aside or given back, or never succeeded', () => {
    expect(about({ ...second, mark: 'closed' }, first)).toEqual([]);
    expect(about(second, { ...first, mark: 'closed' })).toEqual([]);
    expect(about({ ...second, status: 'failed' }, first)).toEqual([]);
  });
});
describe('refunds on Stripe', () => {
  const given = ours({ refunds: [refund()] });

  it('a credit note of the same amount is no difference', () => {
    expect(compareCreditNotes(given, [note()])).toEqual([]);
  });

  it('a credit note that is void, gone, or of another amount is one', () => {
    expect(compareCreditNotes(given, [note({ status: 'void' })])).toMatchObject([{ kind: 'refund_not_mirrored' }]);
    expect(compareCreditNotes(given, [])).toMatchObject([{ kind: 'refund_not_mirrored' }]);
    expect(compareCreditNotes(given, [note({ amount: 900n })])).toMatchObject([{ kind: 'amount_differs' }]);
  });

  it('a payment record with another sum of refunds, or none at all, is one; a report under way is none', () => {
    const p = payment();
    expect(compareRecord(given, p, record())).toEqual([]);
    expect(compareRecord(given, p, record({ amountRefunded: 0n }))).toMatchObject([{ kind: 'refund_not_mirrored' }]);
    expect(compareRecord(given, p, record({ amountRefunded: 1500n }))).toMatchObject([{ kind: 'refunded_by_hand' }]);
    expect(compareRecord(given, p, null)).toMatchObject([{ kind: 'charged_not_marked' }]);
    const underWay = ours({ refunds: [refund(), refund({ id: 'ref_2', amount: 500n, mirror: 'reporting' })] });
    expect(compareRecord(underWay, p, record({ amountRefunded: 1500n }))).toEqual([]);
  });

  it('one of ours that Stripe refused explains no refund there of the same amount; one that a person settled does', () => {
    const p = payment();
    const refunds = [refund(), refund({ id: 'ref_2', amount: 500n, mirror: 'parked' })];
    const item = review({ kind: 'effect_failed', refundId: 'ref_2', subject: 'report_refund:pay_1:re_2' });
    const shown = record({ amountRefunded: 1500n });
    expect(compareRecord(ours({ refunds, openReviews: [item] }), p, shown)).toMatchObject([
      { kind: 'refunded_by_hand', reviewId: null },
    ]);
    expect(compareRecord(ours({ refunds }), p, shown)).toEqual([]);
    // Reported, and only its credit note was refused.
    const noted = review({ ...item, subject: 'issue_credit_note:pay_1:re_2' });
    expect(compareRecord(ours({ refunds, openReviews: [noted] }), p, shown)).toEqual([]);
  });
});

// What is still under way and no difference yet, what a difference is said to be about, and what pays an invoice to the cent.
import { describe, expect, it } from '@jest/globals';
import { type OurInvoice } from '../../../../src/domain/difference.js';
import { type PaymentRow, type RefundRow } from '../../../../src/domain/model.js';
import { DRAFT_PATIENCE_MS } from '../../../../src/policy.js';
import {
  compareAttached,
  compareCharges,
  compareCreditNotes,
  compareInvoice,
  compareWithin,
} from '../../../../src/verify/rules/compare.js';
import { INVOICE_ID, START } from '../../../support/builders.js';
import { facts, invoice, LATER, note, ours, payment, refund, review } from '../../../support/compare-rows.js';

const draft = invoice({ platformStatus: 'draft' });
const open = invoice({ platformStatus: 'open' });
const within = (over: Partial<OurInvoice>, now = LATER): string[] =>
  compareWithin(ours(over), now).map((d) => `${d.kind} ${d.reviewId}`);

describe('money that waits for Stripe’s draft', () => {
  it('is none that is missing for three days, and from then on it is', () => {
    const held = { invoice: draft, payments: [payment({ mark: 'held' })] };
    const patience = START.getTime() + DRAFT_PATIENCE_MS;
    expect(within(held, new Date(patience - 1))).toEqual([]);
    expect(within(held, new Date(patience))).toEqual(['charged_not_marked null']);
  });

  it('waits only while it is held, and its invoice is a draft', () => {
    expect(within({ invoice: open, payments: [payment({ mark: 'held' })] })).toEqual(['charged_not_marked null']);
    expect(within({ invoice: draft, payments: [payment({ mark: 'waiting' })] })).toEqual(['charged_not_marked null']);
  });

  it('lets a refund of it wait as long, and no refund of another payment', () => {
    const refunds = [refund({ mirror: 'waiting' })];
    const held = payment({ mark: 'held' });
    expect(within({ invoice: draft, payments: [held], refunds })).toEqual([]);
    const marked = payment({ id: 'pmt_2' });
    const ofMarked = [refund({ mirror: 'waiting', paymentRowId: 'pmt_2' })];
    expect(within({ invoice: draft, payments: [held, marked], refunds: ofMarked })).toEqual([
      'refund_not_mirrored null',
    ]);
    const ofNone = [refund({ mirror: 'waiting', paymentRowId: 'pmt_9' })];
    expect(within({ invoice: draft, payments: [held], refunds: ofNone })).toEqual(['refund_not_mirrored null']);
  });
});

describe('an open item explains', () => {
  it('no money of another payment than its own', () => {
    const parked = { payments: [payment({ mark: 'parked' })] };
    expect(within({ ...parked, openReviews: [review({ paymentRowId: 'pmt_2' })] })).toEqual([
      'charged_not_marked null',
    ]);
    expect(within({ ...parked, openReviews: [review()] })).toEqual(['charged_not_marked rev_1']);
  });

  it('no renewal without a verdict, unless it is about that', () => {
    const silent = { invoice: invoice({ platformStatus: 'open', expectedBy: START }), payments: [] };
    expect(within({ ...silent, openReviews: [review({ kind: 'dispute' })] })).toEqual(['no_verdict null']);
    const letGo = payment({ mark: 'closed', status: 'failed', succeededAt: null });
    expect(within({ ...silent, payments: [letGo], openReviews: [] })).toEqual(['no_verdict null']);
    expect(within({ ...silent, payments: [{ ...letGo, mark: 'none', verdictAt: START }], openReviews: [] })).toEqual(
      [],
    );
  });

  it('no payment of somebody else’s on the invoice, unless it is about a double payment', () => {
    const found = (kind: 'dispute' | 'double_payment'): unknown =>
      compareAttached(facts(), ours({ payments: [], openReviews: [review({ kind })] }), [])[0]?.reviewId;
    expect([found('dispute'), found('double_payment')]).toEqual([null, 'rev_1']);
  });
});

describe('why something does not show yet', () => {
  const why = (over: Partial<OurInvoice>): string | undefined => / on Stripe(.*)$/.exec(detail(over) ?? '')?.[1];
  const detail = (over: Partial<OurInvoice>): string | undefined =>
    compareWithin(ours(over), LATER).find((d) => d.kind !== 'charged_not_marked')?.detail;

  it('is the rest of the invoice for a refund that waits, of a marked payment, while the invoice is open', () => {
    const rest = ': it waits until the rest of the invoice is paid';
    const waiting = (r: Partial<RefundRow> = {}): readonly RefundRow[] => [refund({ mirror: 'waiting', ...r })];
    expect(why({ invoice: open, refunds: waiting() })).toBe(rest);
    expect(why({ invoice: open, refunds: waiting({ mirror: 'crediting' }) })).toBe(' (crediting)');
    expect(why({ invoice: open, refunds: waiting(), payments: [payment({ mark: 'parked' })] })).toBe(' (waiting)');
    expect(why({ invoice: open, refunds: waiting({ paymentRowId: 'pmt_9' }) })).toBe(' (waiting)');
    expect(why({ refunds: waiting() })).toBe(' (waiting)');
    const crediting = [refund({ mirror: 'crediting' })];
    expect(why({ invoice: open, refunds: crediting, payments: [payment({ mark: 'parked' })] })).toBe(' (crediting)');
  });
});

describe('a charge on two invoices', () => {
  const elsewhere = (over: Partial<PaymentRow>): PaymentRow =>
    payment({ id: 'pmt_0', paymentId: 'pay_0', invoiceId: 'in_0', recordedAt: new Date(START.getTime() - 1), ...over });
  const named = (p: PaymentRow, other: PaymentRow): (string | undefined)[] =>
    compareCharges(ours({ payments: [p], sameCharge: [other] })).map((d) => d.detail);

  it('is named with the charge and what became of both payments', () => {
    expect(named(payment({ mark: 'parked' }), elsewhere({ paymentId: null }))).toEqual([
      `charge ch_1 is named by payment pmt_0 of invoice in_0 (confirmed) and by payment pay_1 of invoice ${INVOICE_ID} (parked)`,
    ]);
  });

  it('is named on the payment that was recorded later, whatever their ids are', () => {
    expect(named(payment(), elsewhere({ id: 'pmt_9' }))).toHaveLength(1);
    expect(named(elsewhere({ id: 'pmt_9' }), payment())).toEqual([]);
  });

  it('is none where no charge is known', () => {
    expect(named(payment({ processorChargeId: null }), elsewhere({ processorChargeId: null }))).toEqual([]);
  });
});

describe('what Stripe shows as paid', () => {
  const paidAt = (amountPaid: bigint, over: Partial<OurInvoice>): string[] =>
    compareInvoice(facts({ amountPaid }), ours(over), LATER).map((d) => `${d.kind} ${d.invoiceId}`);

  it('need not hold a surplus that was given back, and must hold all else that was marked', () => {
    const payments = [payment({ amount: 3100n })];
    const surplus = (over: Partial<RefundRow>): readonly RefundRow[] => [refund({ amount: 110n, ...over })];
    expect(paidAt(2990n, { payments, refunds: surplus({ surplus: 110n }) })).toEqual([]);
    expect(paidAt(2989n, { payments, refunds: surplus({ surplus: 110n }) })).toEqual([`amount_differs ${INVOICE_ID}`]);
    expect(paidAt(2990n, { payments, refunds: surplus({}) })).toEqual([`amount_differs ${INVOICE_ID}`]);
    expect(paidAt(2990n, { payments, refunds: surplus({ surplus: 110n, counted: false }) })).toHaveLength(1);
  });

  it('is held against no payment whose amount is not known', () => {
    const unknown = ours({ payments: [payment({ amount: null })] });
    expect(compareInvoice(facts({ currency: 'USD', amountPaid: 0n }), unknown, LATER)).toEqual([]);
  });

  it('on an invoice that never arrived, or of another status, is named with that invoice', () => {
    expect(compareInvoice(facts(), null, LATER)).toMatchObject([{ invoiceId: INVOICE_ID }]);
    const told = compareInvoice(facts({ status: 'void' }), ours({ payments: [] }), LATER);
    expect(told).toMatchObject([{ kind: 'event_never_delivered', invoiceId: INVOICE_ID }]);
  });
});

describe('what pays an invoice', () => {
  const listed = (paymentRecordId: string, amountPaid: bigint) => ({
    ...{ paymentRecordId, byPlatform: false, status: 'paid', amountPaid },
  });

  it('beside our own payment record is money that the MoR never took, to the cent', () => {
    expect(compareAttached(facts({ amountPaid: 3490n }), ours(), [listed('pr_1', 2990n)])).toMatchObject([
      { kind: 'marked_not_charged', detail: expect.stringMatching(/^5\.00 EUR was marked paid out of band/) },
    ]);
    expect(compareAttached(facts({ amountPaid: 2990n }), ours(), [listed('pr_1', 2990n)])).toEqual([]);
    const two = ours({ payments: [payment(), payment({ id: 'pmt_2', paymentRecordId: null, amount: 500n })] });
    expect(compareAttached(facts({ amountPaid: 3490n }), two, [listed('pr_1', 2990n)])).toEqual([]);
    expect(compareAttached(facts({ amountPaid: 3491n }), two, [listed('pr_1', 2990n)])).toHaveLength(1);
  });

  it('by a mark out of band may be our own payment, whose record was taken off', () => {
    expect(compareAttached(facts(), ours(), [])).toEqual([]);
    expect(compareAttached(facts({ amountPaid: 2991n }), ours(), [])).toHaveLength(1);
  });

  it('by a record that is not ours is named by that record', () => {
    expect(compareAttached(facts(), ours({ payments: [] }), [listed('pr_9', 2990n)])[0]?.detail).toBe(
      'payment record pr_9 pays the invoice, and the MoR has reported no payment for it',
    );
  });
});

describe('the credit note of a refund', () => {
  it('is its own, whatever other notes the invoice has', () => {
    const others = [note({ creditNoteId: 'cn_0', status: 'void' }), note({ creditNoteId: 'cn_2', amount: 1n })];
    expect(compareCreditNotes(ours({ refunds: [refund()] }), [...others, note()])).toEqual([]);
  });

  it('is not asked for where nothing was taken off the sale: all of it gave a surplus back', () => {
    const given = refund({ surplus: 1000n, creditNoteId: null });
    expect(compareCreditNotes(ours({ refunds: [given] }), [])).toEqual([]);
    expect(compareCreditNotes(ours({ refunds: [{ ...given, surplus: 999n }] }), [])).toHaveLength(1);
  });
});

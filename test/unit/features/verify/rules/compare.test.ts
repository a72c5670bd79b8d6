// Each kind of difference between the ledger and the invoice on Stripe, planted one at a time, and what is none.
import { describe, expect, it } from '@jest/globals';
import { type Difference, type OurInvoice } from '../../../../../src/shared/domain/difference.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { DRAFT_TIMEOUT_MS } from '../../../../../src/shared/policy.js';
import {
  compareAttached,
  compareCharges,
  compareInvoice,
  compareWithin,
  paidBeyondLedger,
} from '../../../../../src/features/verify/rules/compare.js';
import { finding } from '../../../../../src/features/verify/rules/findings.js';
import { INVOICE_ID, START } from '../../../../support/builders/events.js';
import { facts, invoice, LATER, ours, payment, refund, review } from '../../../../support/builders/compare-rows.js';
import { FACTS } from '../../../../support/builders/item-facts.js';

const draft = invoice({ platformStatus: 'draft' });
const open = invoice({ platformStatus: 'open' });
const after = (ms: number): Date => new Date(START.getTime() + ms);
const within = (over: Partial<OurInvoice>, now = LATER): string[] =>
  compareWithin(ours(over), now).map((d) => `${d.kind} ${d.reviewId}`);

it('a payment marked on its invoice with a refund shown on Stripe is no difference', () => {
  expect(within({ refunds: [refund()] })).toEqual([]);
});

it('a payment not marked after two minutes is a charged_not_marked difference, and its repair reads the invoice again', () => {
  const waiting = { payments: [payment({ mark: 'waiting' })] };
  expect(compareWithin(ours(waiting), LATER)).toMatchObject([
    { kind: 'charged_not_marked', paymentId: 'pay_1', repair: 'look-again', reviewId: null },
  ]);
  expect([within(waiting, after(119_999)), within(waiting, after(120_000))]).toEqual([[], ['charged_not_marked null']]);
});

it('an unmarked payment is no difference if it has not succeeded, has no amount or was closed by an operator', () => {
  for (const over of [{ succeededAt: null }, { amount: null }, { mark: 'closed' }] as const)
    expect(within({ payments: [payment({ mark: 'waiting', ...over })] })).toEqual([]);
});

it('a payment held for a draft is no difference for three days; afterwards a finalization_failed item explains the difference', () => {
  const held = { invoice: draft, payments: [payment({ mark: 'held' })] };
  expect(within(held, after(DRAFT_TIMEOUT_MS - 1))).toEqual([]);
  expect(within(held, after(DRAFT_TIMEOUT_MS))).toEqual(['charged_not_marked null']);
  const failed = [review({ kind: 'finalization_failed', paymentRowId: null })];
  expect(within({ ...held, openReviews: failed })).toEqual(['charged_not_marked rev_1']);
  expect(within({ ...held, invoice: open })).toEqual(['charged_not_marked null']);
  expect(within({ ...held, payments: [payment({ mark: 'waiting' })] })).toEqual(['charged_not_marked null']);
});

it('a refund of a held payment is no difference for three days; a refund of any other payment is a difference', () => {
  const held = payment({ mark: 'held' });
  const late = (paymentRowId: string, payments = [held]): string[] =>
    within({ invoice: draft, payments, refunds: [refund({ mirror: 'waiting', paymentRowId })] });
  expect(late('pmt_1')).toEqual([]);
  expect(late('pmt_2', [held, payment({ id: 'pmt_2' })])).toEqual(['refund_not_mirrored null']);
  expect(late('pmt_9')).toEqual(['refund_not_mirrored null']);
});

it("a payment's own review item explains its missing mark; a dispute item or an item of another payment does not", () => {
  const parked = (over: Parameters<typeof review>[0]): string[] =>
    within({ payments: [payment({ mark: 'parked' })], openReviews: [review(over)] });
  expect(parked({})).toEqual(['charged_not_marked rev_1']);
  expect(parked({ kind: 'dispute' })).toEqual(['charged_not_marked null']);
  expect(parked({ paymentRowId: 'pmt_2' })).toEqual(['charged_not_marked null']);
});

it('the refund_stuck item of a parked payment explains that payment and its other refunds', () => {
  const refunds = [
    refund({ mirror: 'waiting', creditNoteId: null }),
    refund({ id: 'ref_2', status: 'pending', mirror: 'none' }),
  ];
  const openReviews = [review({ kind: 'refund_stuck', refundId: 'ref_2' })];
  const about = (mark: 'parked' | 'waiting'): string[] =>
    within({ payments: [payment({ mark })], refunds, openReviews });
  expect(about('parked')).toEqual(['charged_not_marked rev_1', 'refund_not_mirrored rev_1']);
  expect(about('waiting')).toEqual(['charged_not_marked null', 'refund_not_mirrored null']);
});

it('a refund missing on Stripe after two minutes is a difference, unless the refund is pending or not meant for Stripe', () => {
  const waiting = { refunds: [refund({ mirror: 'waiting', creditNoteId: null })] };
  expect(compareWithin(ours(waiting), LATER)).toMatchObject([{ kind: 'refund_not_mirrored', refundId: 'ref_1' }]);
  expect(within(waiting, after(119_999))).toEqual([]);
  expect(within(waiting, after(120_000))).toHaveLength(1);
  expect(within({ refunds: [refund({ mirror: 'waiting', succeededAt: null, createdAt: LATER })] })).toEqual([]);
  expect(within({ refunds: [refund({ status: 'pending', mirror: 'none' })] })).toEqual([]);
  expect(within({ refunds: [refund({ mirror: 'not_needed' })] })).toEqual([]);
});

it('if a refund or its payment has an open item, the missing refund is a difference without delay, explained by the item', () => {
  const explained = (over: Parameters<typeof review>[0]): (string | undefined)[] =>
    within({ refunds: [refund({ mirror: 'waiting' })], openReviews: [review(over)] }).filter((d) =>
      d.startsWith('refund_not_mirrored'),
    );
  const [yes, no] = [['refund_not_mirrored rev_1'], ['refund_not_mirrored null']];
  expect(explained({ kind: 'effect_failed', refundId: 'ref_1', paymentRowId: null })).toEqual(yes);
  expect(explained({ kind: 'effect_failed', refundId: 'ref_2', paymentRowId: null })).toEqual(no);
  for (const kind of ['double_payment', 'refund_gap'] as const) {
    expect(explained({ kind })).toEqual(yes);
    expect(explained({ kind, paymentRowId: 'pmt_2' })).toEqual(no);
  }
  expect(explained({ kind: 'dispute' })).toEqual(no);
  const asked = [review({ kind: 'effect_failed', refundId: 'ref_1' })];
  const refunds = [refund({ mirror: 'waiting' })];
  expect(within({ refunds, openReviews: asked }, after(1))).toEqual(yes);
});

it('the difference of a refund on an open invoice says that the refund waits for the rest of the payment', () => {
  const about = { invoiceId: INVOICE_ID, refundId: 'ref_1' };
  const waits = (over: Partial<OurInvoice>, mirror: RefundRow['mirror'] = 'waiting'): boolean => {
    const refunded = { minor: 1000n, currency: 'EUR' };
    const found = compareWithin(ours(over), LATER).find((d) => d.kind === 'refund_not_mirrored');
    const untilPaid = finding.unmirrored(about, { refunded, mirror, untilPaid: true });
    expect([untilPaid, finding.unmirrored(about, { refunded, mirror, untilPaid: false })]).toContainEqual(found);
    return found?.id === untilPaid.id;
  };
  const waiting = (refundRow: Partial<RefundRow> = {}): readonly RefundRow[] => [
    refund({ mirror: 'waiting', ...refundRow }),
  ];
  expect(waits({ invoice: open, refunds: waiting() })).toBe(true);
  expect(waits({ invoice: open, refunds: waiting({ mirror: 'crediting' }) }, 'crediting')).toBe(false);
  expect(waits({ invoice: open, refunds: waiting(), payments: [payment({ mark: 'parked' })] })).toBe(false);
  expect(waits({ invoice: open, refunds: waiting({ paymentRowId: 'pmt_9' }) })).toBe(false);
  expect(waits({ refunds: waiting() })).toBe(false);
});

it('an open refund_gap item makes `crossbill verify` report amount_differs, and an item of another kind does not', () => {
  const gap = review({ id: 'rev_gap', kind: 'refund_gap', fact: FACTS.refund_gap });
  expect(compareWithin(ours({ openReviews: [gap, review()] }), LATER)).toMatchObject([
    { kind: 'amount_differs', repair: 'person', invoiceId: INVOICE_ID, reviewId: 'rev_gap' },
  ]);
});

it('a renewal without a verdict after its due time is a no_verdict difference, and its renewal_overdue item explains it', () => {
  const silent = (over: Partial<InvoiceRow>, more: Partial<OurInvoice> = {}): string[] =>
    within({ invoice: invoice({ platformStatus: 'open', expectedBy: START, ...over }), payments: [], ...more });
  expect([silent({}), silent({ platformStatus: 'draft' })]).toEqual([['no_verdict null'], ['no_verdict null']]);
  for (const over of [{ platformStatus: 'uncollectible' }, { platformStatus: 'paid' }] as const)
    expect(silent(over)).toEqual([]);
  expect([silent({ expectedBy: LATER }), silent({ expectedBy: null })]).toEqual([[], []]);
  const asked = (kind: 'renewal_overdue' | 'dispute') => ({ openReviews: [review({ kind, paymentRowId: null })] });
  expect(silent({}, asked('renewal_overdue'))).toEqual(['no_verdict rev_1']);
  expect(silent({}, asked('dispute'))).toEqual(['no_verdict null']);
  const refused = payment({ succeededAt: null, status: 'failed', mark: 'none', verdictAt: START });
  expect(silent({}, { payments: [refused] })).toEqual([]);
  expect(silent({}, { payments: [payment({ mark: 'closed', status: 'failed', succeededAt: null })] })).toEqual([
    'no_verdict null',
  ]);
});

describe('the comparison with the invoice on Stripe', () => {
  const found = (over: Parameters<typeof facts>[0], own: OurInvoice | null = ours()): string[] =>
    compareInvoice(facts(over), own, LATER).map((d) => `${d.kind} ${d.repair} ${d.reviewId}`);
  const lost = ['event_never_delivered look-again null'];

  it('if Stripe shows less than the marked amount, `crossbill verify` reports amount_differs, or charged_not_marked if Stripe shows nothing paid', () => {
    expect(found({})).toEqual([]);
    expect(found({ amountPaid: 2000n })).toEqual(['amount_differs person null']);
    expect(found({ amountPaid: 0n, status: 'open' })).toEqual(['charged_not_marked person null']);
    expect(found({ currency: 'USD' })).toEqual(['amount_differs person null']);
    expect(compareInvoice(facts({ amountPaid: 2000n }), ours(), LATER)).toMatchObject([
      { paymentId: 'pay_1', detail: 'Crossbill marked 29.90 EUR. Stripe shows 20.00 EUR paid (invoice: paid).' },
    ]);
    expect(found({ currency: 'USD', amountPaid: 0n }, ours({ payments: [payment({ amount: null })] }))).toEqual([]);
  });

  it("if Stripe shows less paid than the mark, only the payment's own review item about the mark explains the difference", () => {
    const explained = (over: Parameters<typeof review>[0]): string[] =>
      found({ amountPaid: 1n }, ours({ openReviews: [review(over)] }));
    expect(explained({})).toEqual(['amount_differs person rev_1']);
    expect(explained({ paymentRowId: 'pmt_2' })).toEqual(['amount_differs person null']);
    expect(explained({ kind: 'dispute' })).toEqual(['amount_differs person null']);
  });

  it('if the MoR refunded a surplus, Stripe may show that much less paid; any other missing amount is a difference', () => {
    const paid = (amountPaid: bigint, over: Partial<RefundRow>): number =>
      found(
        { amountPaid },
        ours({ payments: [payment({ amount: 3100n })], refunds: [refund({ amount: 110n, ...over })] }),
      ).length;
    expect([paid(2990n, { surplus: 110n }), paid(2989n, { surplus: 110n })]).toEqual([0, 1]);
    expect([paid(2990n, {}), paid(2990n, { surplus: 110n, counted: false })]).toEqual([1, 1]);
  });

  it('an invoice on Stripe that Crossbill does not know is a difference, unless it is new, void, empty or of a signup', () => {
    expect(found({}, null)).toEqual(lost);
    expect(found({ createdAt: null }, null)).toEqual(lost);
    for (const over of [{ billingReason: 'subscription_create' }, { amountDue: 0n }, { status: 'void' }] as const)
      expect(found(over, null)).toEqual([]);
    expect(found({ createdAt: LATER }, null)).toEqual([]);
    expect(compareInvoice(facts({ createdAt: LATER }), null, LATER, 0)).toMatchObject([{ invoiceId: INVOICE_ID }]);
  });

  it('another status on Stripe than in the ledger is a difference, unless its event may still arrive', () => {
    const own = ours({ invoice: open, payments: [] });
    const voided = { status: 'void', amountPaid: 0n } as const;
    expect(found(voided, own)).toEqual(lost);
    expect(compareInvoice(facts({ ...voided, createdAt: LATER }), own, LATER, 0)).toEqual([]);
    const notified = compareInvoice(facts({ status: 'void', createdAt: null }), ours({ payments: [] }), LATER);
    expect(notified).toMatchObject([
      { invoiceId: INVOICE_ID, detail: 'The invoice is void on Stripe. Crossbill last saw it paid.' },
    ]);
  });

  it('the command `crossbill verify` reads the payments of an invoice if Stripe shows more paid than the ledger marked', () => {
    expect(paidBeyondLedger(facts({ amountPaid: 2991n }), ours())).toBe(true);
    expect(paidBeyondLedger(facts({ amountPaid: 1n }), null)).toBe(true);
    expect([paidBeyondLedger(facts(), ours()), paidBeyondLedger(facts({ amountPaid: 0n }), null)]).toEqual([
      ...[false, false],
    ]);
    for (const over of [{ mark: 'parked' }, { amount: null }] as const)
      expect(paidBeyondLedger(facts(), ours({ payments: [payment(over)] }))).toBe(true);
  });
});

describe('the payments of an invoice on Stripe', () => {
  const listed = (paymentRecordId: string | null, amountPaid: bigint | null = 2990n, over: object = {}) => ({
    ...{ paymentRecordId, byPlatform: false, status: 'paid', amountPaid, ...over },
  });
  type Attached = ReturnType<typeof listed>;
  const found = (amountPaid: bigint, own: OurInvoice | null, ...attached: Attached[]): string[] =>
    compareAttached(facts({ amountPaid }), own, attached).map((d) => `${d.reviewId}: ${d.detail}`);
  const none = ours({ payments: [] });
  const foreign = 'null: Payment record pr_9 pays the invoice.';
  const byHand = (sum: string, item: string | null = null): string =>
    `${item}: Somebody marked ${sum} EUR as paid out of band. The MoR reported no such payment.`;

  it("a payment record of somebody else on an invoice is a difference, unlike Crossbill's record or a charge by Stripe", () => {
    expect(found(2990n, none, listed('pr_9'))).toEqual([`${foreign} The MoR reported no such payment.`]);
    expect(found(5980n, ours(), listed('pr_1'), listed('pr_9'))).toHaveLength(1);
    expect(found(2990n, ours(), listed('pr_1'))).toEqual([]);
    expect(found(2990n, none, listed(null, 2990n, { byPlatform: true }))).toEqual([]);
    expect(found(0n, null, listed('pr_9', 2990n, { status: 'open' }))).toEqual([]);
  });

  it('if money is paid without a payment record and without a charge by Stripe, `crossbill verify` reports each cent as marked out of band', () => {
    expect(found(500n, null)).toEqual([byHand('5.00')]);
    expect(found(2990n, none, listed(null))).toEqual([byHand('29.90')]);
    expect(found(3490n, ours(), listed('pr_1'))).toEqual([byHand('5.00')]);
    const two = ours({ payments: [payment(), payment({ id: 'pmt_2', paymentRecordId: null, amount: 500n })] });
    expect(found(3490n, two, listed('pr_1'))).toEqual([]);
    expect(found(3491n, two, listed('pr_1'))).toEqual([byHand('0.01')]);
    expect(found(2990n, none, listed(null, null, { byPlatform: true }))).toEqual([]); // its amount is unknown
  });

  it('the command `crossbill verify` does not report an out-of-band mark by Crossbill, or a mark with a detached record, as paid by somebody else', () => {
    const marked = ours({ payments: [payment({ paymentRecordId: null, markMode: 'out_of_band' })] });
    expect([found(2990n, marked), found(2990n, marked, listed(null))]).toEqual([[], []]);
    expect([found(2990n, ours()), found(2991n, ours())]).toEqual([[], [byHand('0.01')]]);
  });

  it('a double_payment item explains money that somebody else put on an invoice, and a dispute item does not', () => {
    const asked = (kind: 'dispute' | 'double_payment') => ours({ payments: [], openReviews: [review({ kind })] });
    expect(found(2990n, asked('double_payment'))).toEqual([byHand('29.90', 'rev_1')]);
    expect(found(2990n, asked('dispute'))).toEqual([byHand('29.90')]);
  });

  it("the item of a parked payment explains somebody else's payment record of the same amount", () => {
    const waits = (over: Partial<PaymentRow>): OurInvoice =>
      ours({
        payments: [payment({ mark: 'parked', paymentRecordId: null, ...over })],
        openReviews: [review({ kind: 'amount_mismatch' })],
      });
    expect(found(2990n, waits({}), listed('pr_9'))).toEqual([
      `${foreign.replace('null', 'rev_1')} Payment pay_1 of the same amount waits for a person.`,
    ]);
    expect(found(2990n, waits({ amount: 2989n }), listed('pr_9'))).toEqual([
      `${foreign} The MoR reported no such payment.`,
    ]);
  });
});

describe('one charge on two invoices', () => {
  const first = payment({ id: 'pmt_a', paymentId: 'pay_a', invoiceId: 'in_a' });
  const second = payment({ recordedAt: after(1) });
  const about = (payment: PaymentRow, other: PaymentRow, over: Partial<OurInvoice> = {}): Difference[] =>
    compareCharges(ours({ payments: [payment], sameCharge: [other], ...over }));

  it('a charge on two invoices is one difference, on the later payment and with both invoices', () => {
    expect(about(second, first)).toMatchObject([
      {
        ...{ kind: 'charge_on_two_invoices', repair: 'person', reviewId: null },
        ...{ invoiceId: INVOICE_ID, paymentId: 'pay_1', objectId: 'ch_1' },
        detail: `Two payments name charge ch_1: payment pay_a of invoice in_a (mark: confirmed) and payment pay_1 of invoice ${INVOICE_ID} (mark: confirmed).`,
      },
    ]);
    expect(about(first, second)).toEqual([]);
    expect(about(second, { ...first, id: 'pmt_9', paymentId: null })[0]?.detail).toContain('payment pmt_9 of invoice');
  });

  it('the command `crossbill verify` reports a charge on two invoices once: at the unbooked payment, or at the later payment, or at the higher id, in this order', () => {
    const unbooked = { ...first, succeededAt: null };
    expect([about(unbooked, second).length, about(second, unbooked).length]).toEqual([1, 0]);
    const atOnce = { ...second, recordedAt: first.recordedAt };
    expect([about(atOnce, first).length, about(first, atOnce).length]).toEqual([0, 1]);
  });

  it('the command `crossbill verify` reports no charge on two invoices for a failed or closed payment, for different charges or within one invoice', () => {
    for (const over of [{ mark: 'closed' }, { status: 'failed' }, { status: 'requires_action' }] as const) {
      expect(about({ ...second, ...over }, first)).toEqual([]);
      expect(about(second, { ...first, ...over })).toEqual([]);
    }
    expect(about(second, { ...first, processorChargeId: 'ch_9' })).toEqual([]);
    expect(about(second, { ...first, invoiceId: INVOICE_ID })).toEqual([]);
    expect(about({ ...second, processorChargeId: null }, { ...first, processorChargeId: null })).toEqual([]);
    expect(compareCharges(ours())).toEqual([]);
  });

  it('the command `crossbill verify` explains a charge on two invoices only if the later payment has a double_payment item', () => {
    const found = (over: Parameters<typeof review>[0]): unknown =>
      about(second, first, { openReviews: [review(over)] })[0]?.reviewId;
    expect(found({ kind: 'double_payment' })).toBe('rev_1');
    expect([found({ kind: 'double_payment', paymentRowId: 'pmt_2' }), found({})]).toEqual([null, null]);
  });
});

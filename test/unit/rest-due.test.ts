// What is still due after a mark, or was paid beyond it, where an invoice has several payments: each is asked about by its own facts.
import { aKind, FACTS } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { closeReviews, openReview, putRefund } from '../../src/engine/change.js';
import { type LaneState, type PaymentRow, type RefundStatus, type Resolution } from '../../src/domain/model.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { settleRest, tellBeyond, tellRest } from '../../src/payments/rules/rest.js';
import { open } from '../support/channel-lane.js';
import { ctx, invoice, lane, payment, withInvoice } from '../support/waiting-payment.js';

const paid = (amountPaid: bigint): Partial<InvoiceFacts> => ({ status: 'paid', amountPaid, amountRemaining: 0n });
const outOfBand = payment({ mark: 'confirmed', markMode: 'out_of_band' });
const other = (over: Partial<PaymentRow> = {}): PaymentRow =>
  payment({ id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2', mark: 'confirmed', amount: 1000n, ...over });
const summaries = (s: LaneState): readonly string[] => open(s).map((r) => wordsOf(r).summary);

describe('an invoice that was marked out of band', () => {
  const beyond = (s: LaneState, before: bigint | null, of: PaymentRow = outOfBand, took?: bigint): readonly string[] =>
    summaries(tellBeyond(s, of, before === null ? null : invoice(paid(before)), took, ctx()));
  const forty = ['the invoice was marked as paid with 40.00 EUR, and 29.90 EUR was taken'];

  it('took what is paid on it now and was not before', () => {
    const s = lane(paid(4000n), outOfBand);
    expect(beyond(s, null)).toEqual(forty);
    expect(beyond(s, 0n)).toEqual(forty);
    expect(beyond(s, 1009n)).toEqual(['the invoice was marked as paid with 29.91 EUR, and 29.90 EUR was taken']);
    expect(beyond(s, 1010n)).toEqual([]);
    expect(beyond(lane(paid(2990n), outOfBand), 0n)).toEqual([]);
  });

  it('took what no other marked payment settled, where the mark is shown already', () => {
    const of = (...others: PaymentRow[]): readonly string[] => beyond(lane(paid(4000n), outOfBand, ...others), 4000n);
    expect(of()).toEqual(forty);
    expect(of(other())).toEqual(['the invoice was marked as paid with 30.00 EUR, and 29.90 EUR was taken']);
    expect(of(other({ amount: 1010n }))).toEqual([]);
    expect(of(other({ amount: 500n }), other({ id: 'pmt_3', amount: 510n }))).toEqual([]);
    expect(of(other({ mark: 'parked', amount: 1010n }))).toEqual(forty);
    expect(of({ ...other(), amount: null })).toEqual(forty);
  });

  it('took what Stripe says that it did, where it says so', () => {
    expect(beyond(lane(paid(4000n), outOfBand), 4000n, outOfBand, 2990n)).toEqual([]);
    expect(beyond(lane(paid(2990n), outOfBand), 0n, outOfBand, 4000n)).toEqual(forty);
  });

  it('is asked about only of a payment whose sum is known, and that was not attached', () => {
    const s = lane(paid(4000n), outOfBand);
    expect(beyond(s, null, { ...outOfBand, markMode: 'payment_record' })).toEqual([]);
    expect(beyond(s, null, { ...outOfBand, amount: null })).toEqual([]);
    expect(beyond({ ...s, invoice: null }, null)).toEqual([]);
  });
});

describe('what came of a choice about a rest', () => {
  /** Two marked payments of an open invoice of which 5.00 are due; the item of the first was settled so. */
  function chosen(resolution: Resolution, of: { readonly mark?: PaymentRow['mark'] } = {}): LaneState {
    const p = payment({ mark: 'confirmed', ...of });
    const s = withInvoice(lane({ amountPaid: 2490n, amountRemaining: 500n }, p, other()), { readAt: ctx().now });
    const asked = tellRest(s, p, ctx());
    expect(summaries(asked)).toEqual(['the payment is attached, and the invoice is still open with 5.00 EUR due']);
    return closeReviews(asked, ctx(), () => true, { by: 'ada', resolution, note: null });
  }
  const settled = (s: LaneState): LaneState => settleRest(s, ctx(), () => undefined);
  const told = (s: LaneState): (string | null)[] => open(settled(s)).map((r) => r.subject);
  const refunded = (s: LaneState, of: PaymentRow, status: RefundStatus): LaneState =>
    putRefund(s, { ...newRefund(ctx(), of, 500n, null, 'api'), status });

  it('is told again of that payment alone once somebody looked again', () => {
    expect(told(chosen('retry'))).toEqual(['pmt_1']);
    expect(told(chosen('dismiss'))).toEqual([]);
    expect(told(chosen('retry', { mark: 'waiting' }))).toEqual([]);
    expect(told(withInvoice(chosen('retry'), { readAt: null }))).toEqual([]);
    expect(told({ ...chosen('retry'), invoice: null })).toEqual([]);
  });

  it('is told again once the refund that was chosen failed, and not for that of another payment', () => {
    const s = chosen('refund');
    const [first, second] = [payment(), other()];
    expect(told(s)).toEqual([]);
    expect(told(refunded(s, first, 'failed'))).toEqual(['pmt_1']);
    expect(told(refunded(s, first, 'pending'))).toEqual([]);
    expect(told(refunded(s, second, 'failed'))).toEqual([]);
    expect(told(refunded(refunded(s, first, 'failed'), second, 'succeeded'))).toEqual(['pmt_1']);
    expect(told(refunded(chosen('dismiss'), first, 'failed'))).toEqual([]);
  });

  it('goes by the last item about a sum of that payment, and by no other item', () => {
    const item = { kind: 'amount_mismatch', fact: FACTS.amount_mismatch } as const;
    const later = openReview(chosen('retry'), ctx(), { ...item, subject: 'pmt_2', paymentRowId: 'pmt_2' });
    const others = openReview(later, ctx(), {
      ...aKind('double_payment'),
      subject: 'pmt_1',
      paymentRowId: 'pmt_1',
    });
    const dismissed = closeReviews(others, ctx(), () => true, { by: 'ada', resolution: 'dismiss', note: null });
    expect(told(dismissed)).toEqual(['pmt_1']);
  });

  it('says once more how much Stripe took for paid, and of nothing else on a paid invoice', () => {
    const s = withInvoice(lane(paid(4000n), outOfBand, other({ mark: 'parked' })), { readAt: ctx().now });
    const asked = tellBeyond(s, outOfBand, null, undefined, ctx());
    const retried = { by: 'ada', resolution: 'retry', note: null } as const;
    const again = open(settled(closeReviews(asked, ctx(), () => true, retried)));
    expect(withWords(again)).toMatchObject([
      {
        subject: 'pmt_1',
        paymentRowId: 'pmt_1',
        summary: wordsOf(open(asked)[0]).summary,
        proposal: wordsOf(open(asked)[0]).proposal,
      },
    ]);
    const rest = closeReviews(
      tellRest(lane({ amountRemaining: 500n }, outOfBand), outOfBand, ctx()),
      ctx(),
      () => true,
      retried,
    );
    expect(told(withInvoice(rest, { platformStatus: 'paid', readAt: ctx().now }))).toEqual([]);
  });
});

// More taken for an invoice than was due: told once per amount, given back as far as it was not yet, and never told twice.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { newPayment } from '../../src/engine/payment.js';
import { emptyLane, putPayment, putRefund } from '../../src/engine/change.js';
import { takeRead } from '../../src/engine/facts.js';
import { type LaneState, type PaymentRow, type RefundRow, type ReviewRow } from '../../src/domain/model.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { isSurplus } from '../../src/domain/surplus.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { settleSurplus, surplusToRefund } from '../../src/payments/rules/surplus.js';
import { aCtx, facts, NOW, open } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const ctx = aCtx();

const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx, {
    id: 'pmt_1',
    ...{ invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
    ...{ succeededAt: NOW, mark: 'confirmed', markMode: 'payment_record', ...over },
  });

/** Of 5.00, and not counted yet. */
const refund = (over: Partial<RefundRow>): RefundRow => ({
  ...newRefund(ctx, payment(), 500n, null, 'api'),
  ...over,
});

/** A paid invoice of 24.90, and what was taken for it. */
function invoice(over: Partial<InvoiceFacts>, ...payments: PaymentRow[]): LaneState {
  const paid = { status: 'paid', amountDue: 2490n, amountPaid: 2490n, amountRemaining: 0n, total: 2490n } as const;
  return payments.reduce(putPayment, takeRead(emptyLane('in_1'), ctx, facts({ ...paid, ...over })));
}

const told = (s: LaneState): string[] => open(s).map((r) => wordsOf(r).summary);
const item = (s: LaneState): ReviewRow => open(s)[0] ?? never();

describe('a surplus', () => {
  it('that Stripe put on the customer’s balance is told with who paid what, and how to give it back', () => {
    const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
    expect(told(s)).toEqual([
      'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
    ]);
    expect(item(s)).toMatchObject({ kind: 'amount_mismatch', paymentRowId: 'pmt_1' });
    expect(wordsOf(item(s)).proposal).toContain("Refund 5.00 EUR and deduct it from the customer's balance");
    expect([isSurplus(s, item(s)), surplusToRefund(s, item(s))]).toEqual([true, 500n]);
  });

  it('out of band is what was taken beyond what Stripe shows as paid: Stripe itself tells of none', () => {
    const s = settleSurplus(invoice({}, payment({ markMode: 'out_of_band' })), ctx);
    expect(told(s)).toEqual([
      'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
    ]);
    expect(wordsOf(item(s)).proposal).toContain('Refund 5.00 EUR, or apply this and credit the customer');
  });

  it.each([
    ['the exact amount', invoice({ amountPaid: 2990n }, payment({ markMode: 'out_of_band' }))],
    ['less than what is shown as paid', invoice({ amountPaid: 3990n }, payment({ markMode: 'out_of_band' }))],
    ['a payment record, of which Stripe counts the surplus itself', invoice({}, payment())],
    ['an invoice that is not paid', invoice({ status: 'open' }, payment({ markMode: 'out_of_band' }))],
    ['an event shape that counts nothing as paid', invoice({ amountPaid: 0n }, payment({ markMode: 'out_of_band' }))],
    ['a payment that is not on the invoice', invoice({}, payment({ markMode: 'out_of_band', mark: 'parked' }))],
    ['a payment of an unknown amount', invoice({}, payment({ markMode: 'out_of_band', amount: null }))],
    ['a lane of which no invoice is known', putPayment(emptyLane('in_1'), payment({ markMode: 'out_of_band' }))],
  ])('is none: %s', (_, s) => {
    expect(settleSurplus(s, ctx)).toBe(s);
  });

  it('of two payments names both, the earlier first, and belongs to the later', () => {
    const early = payment({
      id: 'pmt_2',
      paymentId: 'pay_2',
      amount: 500n,
      succeededAt: new Date(NOW.getTime() - 1000),
    });
    const s = settleSurplus(invoice({ amountOverpaid: 1000n }, payment(), early), ctx);
    expect(told(s)[0]).toContain('5.00 EUR (payment pay_2) and 29.90 EUR (payment pay_1) was taken');
    expect(item(s).paymentRowId).toBe('pmt_1');
    const atOnce = settleSurplus(invoice({ amountOverpaid: 1000n }, { ...early, succeededAt: NOW }, payment()), ctx);
    expect(told(atOnce)[0]).toContain('29.90 EUR (payment pay_1) and 5.00 EUR (payment pay_2) was taken');
  });

  it('that nobody here took is told as well: somebody attached a payment by hand', () => {
    const s = settleSurplus(invoice({ amountOverpaid: 700n }), ctx);
    expect(told(s)).toEqual(['the invoice is overpaid by 7.00 EUR: the MoR took nothing for it, 24.90 EUR was due']);
    expect(item(s).paymentRowId).toBeNull();
  });

  it('opens one item, however often it is reported; another amount closes that item and opens a new one', () => {
    const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
    expect(settleSurplus(s, ctx)).toBe(s);
    const more = takeRead(s, ctx, facts({ status: 'paid', amountDue: 2490n, amountPaid: 2490n, amountOverpaid: 700n }));
    const again = settleSurplus(more, ctx);
    expect(again.reviews.map((r) => [r.status, r.resolution])).toEqual([
      ['resolved', 'cleared'],
      ['open', null],
    ]);
    expect(told(again)[0]).toContain('overpaid by 7.00 EUR');
    const gone = settleSurplus(takeRead(again, ctx, facts({ status: 'paid', amountOverpaid: 0n })), ctx);
    expect(told(gone)).toEqual([]);
  });

  it.each(['apply', 'dismiss'] as const)('that a person has decided (%s) is not told again', (resolution) => {
    const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
    const decided: LaneState = { ...s, reviews: s.reviews.map((r) => ({ ...r, status: 'resolved', resolution })) };
    expect(settleSurplus(decided, ctx)).toBe(decided);
  });

  it.each(['requested', 'unknown', 'pending', 'succeeded'] as const)(
    'whose refund is %s is not told again, and its item closes: nobody is to give it back twice',
    (status) => {
      const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
      const onItsWay = putRefund(s, refund({ status }));
      expect(surplusToRefund(onItsWay, item(s))).toBe(0n);
      expect(told(settleSurplus(onItsWay, ctx))).toEqual([]);
      const other = putRefund(s, refund({ status, paymentRowId: 'pmt_9' }));
      expect(told(settleSurplus(other, ctx))).toHaveLength(1);
    },
  );

  it.each(['failed', 'joined'] as const)(
    'whose refund, which a person chose, has %s is told to a person again',
    (status) => {
      const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
      const chosen = s.reviews.map((r) => ({ ...r, status: 'resolved', resolution: 'refund' }) as const);
      const again = settleSurplus(putRefund({ ...s, reviews: chosen }, refund({ status })), ctx);
      expect(told(again)).toEqual(told(s));
      expect(surplusToRefund(again, item(again))).toBe(500n);
    },
  );

  it('of which a part was given back proposes the rest alone, and all of it given back closes the item', () => {
    const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
    const part = putPayment(s, payment({ amountRefunded: 200n }));
    expect(surplusToRefund(part, item(part))).toBe(300n);
    const all = putPayment(s, payment({ amountRefunded: 500n }));
    expect(surplusToRefund(all, item(all))).toBe(0n);
    expect(told(settleSurplus(all, ctx))).toEqual([]);
  });

  it.each(['attaching', 'paying'] as const)('waits for a payment whose mark is %s, and then names it', (mark) => {
    const s = invoice({ amountOverpaid: 500n }, payment({ mark }));
    expect(settleSurplus(s, ctx)).toBe(s);
    const done = settleSurplus(putPayment(s, payment()), ctx);
    expect(told(done)).toEqual([
      'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
    ]);
    expect(item(done).paymentRowId).toBe('pmt_1');
  });

  it('that a person let through with its payment is not asked about', () => {
    const s = invoice({ amountOverpaid: 500n }, payment({ waived: ['amount_mismatch', 'surplus'] }));
    expect(settleSurplus(s, ctx)).toBe(s);
  });

  it('is no other item of the invoice: what those give back is not the surplus', () => {
    const s = settleSurplus(invoice({ amountOverpaid: 500n }, payment()), ctx);
    const other = { ...item(s), subject: 'pmt_1' };
    expect([isSurplus(s, other), surplusToRefund(s, other)]).toEqual([false, null]);
    expect(isSurplus(s, { ...item(s), kind: 'double_payment' })).toBe(false);
  });
});

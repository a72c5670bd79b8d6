// Money beyond the amount due, after the mark.
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { newPayment } from '../../../../../src/core/books/rules/payment-rows.js';
import { declareSurplus, surplusToRefund } from '../../../../../src/core/payments/rules/surplus.js';
import { aCtx, facts, NOW, open, openFacts } from '../../../../support/builders/channel-lane.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';
import { decide, recordRead } from '../../../../support/rigs/decide.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { isSurplus } from '../../../../../src/shared/domain/surplus.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { newRefund } from '../../../../../src/core/refunds/rules/refund.js';

describe('a surplus', () => {
  const ctx = aCtx();

  const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
    newPayment(ctx, {
      id: 'pmt_1',
      ...{ invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
      ...{ succeededAt: NOW, mark: 'confirmed', markMode: 'payment_record', ...over },
    });

  /** Of 5.00, and not counted yet. */
  const refund = (over: Partial<RefundRow>): RefundRow => ({
    ...newRefund(ctx, payment(), { amount: 500n, reason: null, origin: 'api' }),
    ...over,
  });

  /** A paid invoice of 24.90, and what was taken for it. */
  function invoice(over: Partial<InvoiceFacts>, ...payments: PaymentRow[]): LaneState {
    const paid = { status: 'paid', amountDue: 2490n, amountPaid: 2490n, amountRemaining: 0n, total: 2490n } as const;
    return payments.reduce(putPayment, recordRead(emptyLane('in_1'), ctx, facts({ ...paid, ...over })));
  }

  const settled = (state: LaneState): LaneState => decide(state, ctx, declareSurplus);
  const item = (state: LaneState): ReviewRow => open(state)[0] ?? never();

  it('a surplus on the customer’s balance opens a review item with each payment and the refund to make', () => {
    const s = settled(invoice({ amountOverpaid: 500n }, payment()));
    expect(item(s)).toMatchObject({ kind: 'amount_mismatch', paymentRowId: 'pmt_1' });
    expect(item(s)?.fact).toMatchObject({
      code: 'overpaid',
      over: eur(500n),
      due: eur(2490n),
      by: [{ payment: 'pay_1', amount: eur(2990n) }],
      left: eur(500n),
      credited: true,
    });
    expect([isSurplus(item(s)), surplusToRefund(s, item(s))]).toEqual([true, 500n]);
  });

  it('after an out-of-band mark, the surplus is the payment’s amount less the amount paid on Stripe', () => {
    const s = settled(invoice({}, payment({ markMode: 'out_of_band' })));
    expect(item(s)?.fact).toMatchObject({
      code: 'overpaid',
      over: eur(500n),
      due: eur(2490n),
      by: [{ payment: 'pay_1', amount: eur(2990n) }],
      left: eur(500n),
      credited: false,
    });
  });

  it.each([
    [
      'a payment of exactly the amount paid on Stripe',
      invoice({ amountPaid: 2990n }, payment({ markMode: 'out_of_band' })),
    ],
    ['a payment below the amount paid on Stripe', invoice({ amountPaid: 3990n }, payment({ markMode: 'out_of_band' }))],
    ['a payment record without a surplus on Stripe', invoice({}, payment())],
    ['an invoice that is not paid', invoice({ status: 'open' }, payment({ markMode: 'out_of_band' }))],
    ['an invoice event with a paid amount of zero', invoice({ amountPaid: 0n }, payment({ markMode: 'out_of_band' }))],
    ['a payment that is not on the invoice', invoice({}, payment({ markMode: 'out_of_band', mark: 'parked' }))],
    ['a payment of an unknown amount', invoice({}, payment({ markMode: 'out_of_band', amount: null }))],
    ['a lane without an invoice', putPayment(emptyLane('in_1'), payment({ markMode: 'out_of_band' }))],
  ])('Crossbill reports no surplus for %s', (_, s) => {
    expect(settled(s)).toBe(s);
  });

  it('the review item about the surplus of two payments names both payments, and belongs to the later payment', () => {
    const early = payment({
      id: 'pmt_2',
      paymentId: 'pay_2',
      amount: 500n,
      succeededAt: new Date(NOW.getTime() - 1000),
    });
    const s = settled(invoice({ amountOverpaid: 1000n }, payment(), early));
    const [five, most] = [{ payment: 'pay_2' }, { payment: 'pay_1' }];
    expect(openFacts(s)).toMatchObject([{ by: [five, most] }]);
    expect(item(s).paymentRowId).toBe('pmt_1');
    const atOnce = settled(invoice({ amountOverpaid: 1000n }, { ...early, succeededAt: NOW }, payment()));
    expect(openFacts(atOnce)).toMatchObject([{ by: [most, five] }]);
  });

  it('a surplus on an invoice without payments from the MoR opens a review item without a payment', () => {
    const s = settled(invoice({ amountOverpaid: 700n }));
    expect(openFacts(s)).toMatchObject([{ code: 'overpaid', over: eur(700n), by: [] }]);
    expect(item(s).paymentRowId).toBeNull();
  });

  it('a changed surplus updates its one review item, and a vanished surplus closes the item', () => {
    const s = settled(invoice({ amountOverpaid: 500n }, payment()));
    expect(settled(s)).toBe(s);
    const more = recordRead(
      s,
      ctx,
      facts({ status: 'paid', amountDue: 2490n, amountPaid: 2490n, amountOverpaid: 700n }),
    );
    const again = settled(more);
    expect(again.reviews.map((r) => [r.status, r.resolution])).toEqual([['open', null]]);
    expect(openFacts(again)).toMatchObject([{ over: eur(700n) }]);
    const gone = settled(recordRead(again, ctx, facts({ status: 'paid', amountOverpaid: 0n })));
    expect(openFacts(gone)).toEqual([]);
  });

  it.each(['apply', 'dismiss'] as const)(
    'a surplus opens no second review item after the operator’s choice %s',
    (resolution) => {
      const s = settled(invoice({ amountOverpaid: 500n }, payment()));
      const decided: LaneState = { ...s, reviews: s.reviews.map((r) => ({ ...r, status: 'resolved', resolution })) };
      expect(settled(decided)).toBe(decided);
    },
  );

  it.each(['requested', 'unknown', 'pending', 'succeeded'] as const)(
    'a surplus with a refund in the status %s closes its review item, so nobody refunds the surplus twice',
    (status) => {
      const s = settled(invoice({ amountOverpaid: 500n }, payment()));
      const onItsWay = putRefund(s, refund({ status }));
      expect(surplusToRefund(onItsWay, item(s))).toBe(0n);
      expect(openFacts(settled(onItsWay))).toEqual([]);
      const other = putRefund(s, refund({ status, paymentRowId: 'pmt_9' }));
      expect(openFacts(settled(other))).toHaveLength(1);
    },
  );

  it.each(['failed', 'joined'] as const)(
    'a surplus opens its review item again after the chosen refund ends with the status %s',
    (status) => {
      const s = settled(invoice({ amountOverpaid: 500n }, payment()));
      const chosen = s.reviews.map((r) => ({ ...r, status: 'resolved', resolution: 'refund' }) as const);
      const again = settled(putRefund({ ...s, reviews: chosen }, refund({ status })));
      expect(openFacts(again)).toEqual(openFacts(s));
      expect(surplusToRefund(again, item(again))).toBe(500n);
    },
  );

  it('after a part refund, the item about a surplus proposes a refund of the rest; a full refund of the surplus closes the item', () => {
    const s = settled(invoice({ amountOverpaid: 500n }, payment()));
    const part = putPayment(s, payment({ amountRefunded: 200n }));
    expect(surplusToRefund(part, item(part))).toBe(300n);
    const all = putPayment(s, payment({ amountRefunded: 500n }));
    expect(surplusToRefund(all, item(all))).toBe(0n);
    expect(openFacts(settled(all))).toEqual([]);
  });

  it.each(['attaching', 'paying'] as const)(
    'Crossbill opens no review item about a surplus while its payment has the mark status %s',
    (mark) => {
      const s = invoice({ amountOverpaid: 500n }, payment({ mark }));
      expect(settled(s)).toBe(s);
      const done = settled(putPayment(s, payment()));
      expect(openFacts(done)).toMatchObject([{ code: 'overpaid', over: eur(500n) }]);
      expect(item(done).paymentRowId).toBe('pmt_1');
    },
  );

  it('if the operator accepted a surplus together with its payment, no review item opens', () => {
    const s = invoice({ amountOverpaid: 500n }, payment({ waived: ['amount_mismatch', 'surplus'] }));
    expect(settled(s)).toBe(s);
  });

  it('on an invoice with a surplus, the review item about the amount still due offers no refund of the surplus', () => {
    const s = settled(invoice({ amountOverpaid: 500n }, payment()));
    const other = { ...item(s), topic: 'rest-due' } as const;
    expect([isSurplus(other), surplusToRefund(s, other)]).toEqual([false, null]);
  });
});

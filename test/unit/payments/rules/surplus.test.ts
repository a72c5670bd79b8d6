// Money on an invoice that does not match its mark: a rest that is still due, or more than was due.
import { expect, it } from '@jest/globals';
import {
  type InvoiceRow,
  type LaneState,
  type PaymentRow,
  type RefundRow,
  type RefundStatus,
  type Resolution,
  type ReviewRow,
} from '../../../../src/domain/model.js';
import { type InvoiceFacts } from '../../../../src/domain/ports/billing-platform.js';
import { isSurplus } from '../../../../src/domain/surplus.js';
import { emptyLane } from '../../../../src/engine/context.js';
import { putPayment, putRefund } from '../../../support/put-rows.js';
import { declares } from '../../../../src/engine/items.js';
import { newPayment } from '../../../../src/engine/payment.js';
import { askIfBeyond } from '../../../../src/payments/rules/mark-calls.js';
import { declareSurplus, restItems, surplusToRefund } from '../../../../src/payments/rules/payment.js';
import { newRefund } from '../../../../src/refunds/rules/refund.js';
import { aCtx, facts, NOW, open } from '../../../support/channel-lane.js';
import { closeReviews, decide, takeRead } from '../../../support/decide.js';
import { wordsOf } from '../../../support/item-words.js';
import { never } from '../../../support/never.js';
import { invoice as anInvoice, lane, payment as aPayment, withInvoice } from '../../../support/waiting-payment.js';

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

const settled = (s: LaneState): LaneState => decide(s, ctx, declareSurplus);
const told = (s: LaneState): string[] => open(s).map((r) => wordsOf(r).summary);
const item = (s: LaneState): ReviewRow => open(s)[0] ?? never();

it('a surplus on the customer’s balance opens an item with each payment and the way to refund it', () => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  expect(told(s)).toEqual([
    'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
  ]);
  expect(item(s)).toMatchObject({ kind: 'amount_mismatch', paymentRowId: 'pmt_1' });
  expect(wordsOf(item(s)).proposal).toContain("Refund 5.00 EUR and deduct it from the customer's balance");
  expect([isSurplus(item(s)), surplusToRefund(s, item(s))]).toEqual([true, 500n]);
});

it("after a mark out of band, the surplus is the money above Stripe's paid amount", () => {
  const s = settled(invoice({}, payment({ markMode: 'out_of_band' })));
  expect(told(s)).toEqual([
    'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
  ]);
  expect(wordsOf(item(s)).proposal).toContain('Refund 5.00 EUR, or apply this and credit the customer');
});

it.each([
  ['the exact amount', invoice({ amountPaid: 2990n }, payment({ markMode: 'out_of_band' }))],
  ['less than what is shown as paid', invoice({ amountPaid: 3990n }, payment({ markMode: 'out_of_band' }))],
  ['a payment record: Stripe counts its surplus', invoice({}, payment())],
  ['an invoice that is not paid', invoice({ status: 'open' }, payment({ markMode: 'out_of_band' }))],
  ['an event shape that counts nothing as paid', invoice({ amountPaid: 0n }, payment({ markMode: 'out_of_band' }))],
  ['a payment that is not on the invoice', invoice({}, payment({ markMode: 'out_of_band', mark: 'parked' }))],
  ['a payment of an unknown amount', invoice({}, payment({ markMode: 'out_of_band', amount: null }))],
  ['a lane without an invoice', putPayment(emptyLane('in_1'), payment({ markMode: 'out_of_band' }))],
])('there is no surplus: %s', (_, s) => {
  expect(settled(s)).toBe(s);
});

it('a surplus of two payments names both, the earlier first, and belongs to the later', () => {
  const early = payment({
    id: 'pmt_2',
    paymentId: 'pay_2',
    amount: 500n,
    succeededAt: new Date(NOW.getTime() - 1000),
  });
  const s = settled(invoice({ amountOverpaid: 1000n }, payment(), early));
  expect(told(s)[0]).toContain('5.00 EUR (payment pay_2) and 29.90 EUR (payment pay_1) was taken');
  expect(item(s).paymentRowId).toBe('pmt_1');
  const atOnce = settled(invoice({ amountOverpaid: 1000n }, { ...early, succeededAt: NOW }, payment()));
  expect(told(atOnce)[0]).toContain('29.90 EUR (payment pay_1) and 5.00 EUR (payment pay_2) was taken');
});

it('a surplus without a payment here opens an item: somebody attached a payment by hand', () => {
  const s = settled(invoice({ amountOverpaid: 700n }));
  expect(told(s)).toEqual(['the invoice is overpaid by 7.00 EUR: the MoR took nothing for it, 24.90 EUR was due']);
  expect(item(s).paymentRowId).toBeNull();
});

it('a surplus of another amount changes its one item, on every report', () => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  expect(settled(s)).toBe(s);
  const more = takeRead(s, ctx, facts({ status: 'paid', amountDue: 2490n, amountPaid: 2490n, amountOverpaid: 700n }));
  const again = settled(more);
  expect(again.reviews.map((r) => [r.status, r.resolution])).toEqual([['open', null]]);
  expect(told(again)[0]).toContain('overpaid by 7.00 EUR');
  const gone = settled(takeRead(again, ctx, facts({ status: 'paid', amountOverpaid: 0n })));
  expect(told(gone)).toEqual([]);
});

it.each(['apply', 'dismiss'] as const)("a surplus with a person's choice (%s) opens no second item", (resolution) => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  const decided: LaneState = { ...s, reviews: s.reviews.map((r) => ({ ...r, status: 'resolved', resolution })) };
  expect(settled(decided)).toBe(decided);
});

it.each(['requested', 'unknown', 'pending', 'succeeded'] as const)(
  'a surplus with a %s refund closes its item: nobody refunds it twice',
  (status) => {
    const s = settled(invoice({ amountOverpaid: 500n }, payment()));
    const onItsWay = putRefund(s, refund({ status }));
    expect(surplusToRefund(onItsWay, item(s))).toBe(0n);
    expect(told(settled(onItsWay))).toEqual([]);
    const other = putRefund(s, refund({ status, paymentRowId: 'pmt_9' }));
    expect(told(settled(other))).toHaveLength(1);
  },
);

it.each(['failed', 'joined'] as const)('a surplus opens an item again after its chosen refund has %s', (status) => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  const chosen = s.reviews.map((r) => ({ ...r, status: 'resolved', resolution: 'refund' }) as const);
  const again = settled(putRefund({ ...s, reviews: chosen }, refund({ status })));
  expect(told(again)).toEqual(told(s));
  expect(surplusToRefund(again, item(again))).toBe(500n);
});

it('after a part refund the item proposes the rest, and a full refund closes it', () => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  const part = putPayment(s, payment({ amountRefunded: 200n }));
  expect(surplusToRefund(part, item(part))).toBe(300n);
  const all = putPayment(s, payment({ amountRefunded: 500n }));
  expect(surplusToRefund(all, item(all))).toBe(0n);
  expect(told(settled(all))).toEqual([]);
});

it.each(['attaching', 'paying'] as const)(
  'a surplus waits for a payment with the mark %s, and then names it',
  (mark) => {
    const s = invoice({ amountOverpaid: 500n }, payment({ mark }));
    expect(settled(s)).toBe(s);
    const done = settled(putPayment(s, payment()));
    expect(told(done)).toEqual([
      'the invoice is overpaid by 5.00 EUR: 29.90 EUR (payment pay_1) was taken, 24.90 EUR was due',
    ]);
    expect(item(done).paymentRowId).toBe('pmt_1');
  },
);

it('a surplus accepted with its payment asks nobody', () => {
  const s = invoice({ amountOverpaid: 500n }, payment({ waived: ['amount_mismatch', 'surplus'] }));
  expect(settled(s)).toBe(s);
});

it('other items of the invoice are no surplus', () => {
  const s = settled(invoice({ amountOverpaid: 500n }, payment()));
  const other = { ...item(s), topic: 'rest-due' } as const;
  expect([isSurplus(other), surplusToRefund(s, other)]).toEqual([false, null]);
});

const paid = (amountPaid: bigint): Partial<InvoiceFacts> => ({ status: 'paid', amountPaid, amountRemaining: 0n });
const outOfBand = aPayment({ mark: 'confirmed', markMode: 'out_of_band' });
const other = (over: Partial<PaymentRow> = {}): PaymentRow =>
  aPayment({ id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2', mark: 'confirmed', amount: 1000n, ...over });

const beyond = (s: LaneState, before: bigint | null, of: PaymentRow = outOfBand, took?: bigint): readonly string[] =>
  told(
    decide(s, ctx, (l) => {
      const p = Object.assign(l.findPayment('pmt_1') ?? never(), of);
      askIfBeyond(l, p, before === null ? null : anInvoice(paid(before)), took);
    }),
  );
const forty = ['the invoice was marked as paid with 40.00 EUR, and 29.90 EUR was taken'];

it('a mark out of band took the newly paid amount', () => {
  const s = lane(paid(4000n), outOfBand);
  expect(beyond(s, null)).toEqual(forty);
  expect(beyond(s, 0n)).toEqual(forty);
  expect(beyond(s, 1009n)).toEqual(['the invoice was marked as paid with 29.91 EUR, and 29.90 EUR was taken']);
  expect(beyond(s, 1010n)).toEqual([]);
  expect(beyond(lane(paid(2990n), outOfBand), 0n)).toEqual([]);
});

it('a mark out of band, already visible, took the amount of no other payment', () => {
  const of = (...others: PaymentRow[]): readonly string[] => beyond(lane(paid(4000n), outOfBand, ...others), 4000n);
  expect(of()).toEqual(forty);
  expect(of(other())).toEqual(['the invoice was marked as paid with 30.00 EUR, and 29.90 EUR was taken']);
  expect(of(other({ amount: 1010n }))).toEqual([]);
  expect(of(other({ amount: 500n }), other({ id: 'pmt_3', amount: 510n }))).toEqual([]);
  expect(of(other({ mark: 'parked', amount: 1010n }))).toEqual(forty);
  expect(of({ ...other(), amount: null })).toEqual(forty);
});

it('a mark out of band took Stripe’s own amount, if Stripe names it', () => {
  expect(beyond(lane(paid(4000n), outOfBand), 4000n, outOfBand, 2990n)).toEqual([]);
  expect(beyond(lane(paid(2990n), outOfBand), 0n, outOfBand, 4000n)).toEqual(forty);
});

it('only a payment with a known sum and no attach is in question', () => {
  const s = lane(paid(4000n), outOfBand);
  expect(beyond(s, null, { ...outOfBand, markMode: 'payment_record' })).toEqual([]);
  expect(beyond(s, null, { ...outOfBand, amount: null })).toEqual([]);
  expect(beyond({ ...s, invoice: null }, null)).toEqual([]);
});

/** Two marked payments of an open invoice of which 5.00 are due. */
const rest = (over: Partial<PaymentRow> = {}, row: Partial<InvoiceRow> = {}): LaneState => {
  const s = lane({ amountPaid: 2490n, amountRemaining: 500n }, aPayment({ mark: 'confirmed', ...over }));
  return withInvoice(s, { readAt: ctx.now, ...row });
};
const declared = (s: LaneState): LaneState => decide(s, ctx, declares(restItems));
const ended = (s: LaneState, resolution: Resolution): LaneState =>
  closeReviews(declared(s), ctx, () => true, { by: 'ada', resolution, note: null });
const topics = (s: LaneState): string[] => open(declared(s)).map((r) => r.topic);
const refunded = (s: LaneState, status: RefundStatus, of: PaymentRow = aPayment()): LaneState =>
  putRefund(s, { ...newRefund(ctx, of, 500n, null, 'api'), status });

it('a rest after the mark asks a person while the invoice is payable', () => {
  expect(told(declared(rest()))).toEqual(['the payment is attached, and the invoice is still open with 5.00 EUR due']);
  expect(topics(rest({}, { platformStatus: 'uncollectible' }))).toEqual(['rest-due']);
  const paidSince = withInvoice(declared(rest()), { platformStatus: 'paid' });
  expect(declared(paidSince).reviews).toMatchObject([{ status: 'resolved' }]);
});

it.each<readonly [string, LaneState]>([
  ['a person let a part through', rest({ waived: ['amount_mismatch'] })],
  ['the payment is not marked', rest({ mark: 'waiting' })],
  ['nothing is due', rest({}, { amountRemaining: 0n })],
  ['the invoice is void', rest({}, { platformStatus: 'void' })],
  ['the payment goes back', refunded(rest(), 'pending')],
  ['a person dismissed it', ended(rest(), 'dismiss')],
  ['a person asked for a look', withInvoice(ended(rest(), 'retry'), { readAt: null })],
  ['nothing is known of the invoice', { ...rest(), invoice: null }],
])('a rest after the mark is no question if %s', (_, s) => {
  expect(topics(s)).toEqual([]);
});

it.each<readonly [string, LaneState]>([
  ['a person looked again', ended(rest(), 'retry')],
  ['the chosen refund failed', refunded(ended(rest(), 'refund'), 'failed')],
  ['another payment goes back', refunded(rest(), 'pending', other())],
  ['more was applied than was due', rest({ waived: ['amount_mismatch', 'surplus'] })],
  ['a read of the invoice is under way', withInvoice(declared(rest()), { readAt: null })],
])('a rest after the mark is still a question if %s', (_, s) => {
  expect(topics(s)).toEqual(['rest-due']);
});

// The public status of an invoice, and the rest of a payment after refunds and disputes.
import { expect, it } from '@jest/globals';
import { type InvoiceRow, type LaneState, type MarkStage, type PaymentRow } from '../../../src/domain/model.js';
import { lostOf, newMorObject } from '../../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../../src/domain/ports/billing-platform.js';
import { isOutside, isOver, isPayable, paymentStatus, publicStatus, refundable } from '../../../src/domain/status.js';
import { emptyLane } from '../../../src/engine/context.js';
import { newPayment } from '../../../src/engine/payment.js';
import { newRefund } from '../../../src/refunds/rules/refund.js';
import { aCtx, facts, NOW } from '../../support/channel-lane.js';
import { takeRead } from '../../support/decide.js';
import { never } from '../../support/never.js';
import { putPayment } from '../../support/put-rows.js';

const lane = emptyLane('in_1');
const STATUSES = ['draft', 'open', 'uncollectible', 'void', 'paid', 'deleted'] as const;
const of = (s: LaneState): InvoiceRow => s.invoice ?? never();
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    succeededAt: NOW,
    ...over,
  });

const open = takeRead(lane, aCtx(), facts());
const withMarks = (s: LaneState, ...marks: MarkStage[]): LaneState =>
  marks.reduce((state, mark, n) => putPayment(state, payment({ id: `p${n}`, mark })), s);
const read = (over: Partial<InvoiceFacts>): LaneState => takeRead(lane, aCtx(), facts(over));

it.each([
  ['no payment has been reported', open, 'expected'],
  ['the MoR refused it', withMarks(open, 'none'), 'open'],
  ['its payment was left aside', withMarks(open, 'closed'), 'open'],
  ['money waits for the draft', withMarks(open, 'held'), 'held'],
  ['money waits for a person', withMarks(open, 'parked', 'waiting'), 'review'],
  ['a payment is on its way to it', withMarks(open, 'waiting'), 'marking'],
  ['a draft is made final', withMarks(open, 'finalizing'), 'marking'],
  ['it is being reported', withMarks(open, 'reporting'), 'marking'],
  ['the reference is being set', withMarks(open, 'referencing'), 'marking'],
  ['a charge is being proven', withMarks(open, 'proving'), 'marking'],
  ['it is marked', withMarks(open, 'confirmed'), 'paid'],
  ['it is marked, and a second payment waits for a person', withMarks(open, 'confirmed', 'parked'), 'paid'],
  ['Stripe shows it paid', read({ status: 'paid' }), 'paid'],
  ['Stripe shows it paid before the mark is through', withMarks(read({ status: 'paid' }), 'attaching'), 'marking'],
  ['Stripe shows it paid before it is paid out of band', withMarks(read({ status: 'paid' }), 'paying'), 'marking'],
  ['it is void', read({ status: 'void' }), 'void'],
  ['it was deleted', read({ status: 'deleted' }), 'void'],
  ['it is void and money waits', withMarks(read({ status: 'void' }), 'parked'), 'review'],
  ['it is uncollectible', read({ status: 'uncollectible' }), 'expected'],
  ['it is a signup’s', read({ billingReason: 'subscription_create' }), 'ignored'],
  ['nothing is due', read({ amountDue: 0n }), 'ignored'],
  ['it is a signup’s and was refused', withMarks(read({ billingReason: 'subscription_create' }), 'none'), 'open'],
])('the public status of an invoice is right if %s', (_, s, status) => {
  expect(publicStatus(s)).toBe(status);
});

it('an invoice with an unsettled bank debit stays open: Crossbill marks nothing yet', () => {
  expect(publicStatus(putPayment(open, payment({ mark: 'proving', pendingSince: NOW })))).toBe('open');
});

it('an invoice is open after an accepted part, and in review while the next part waits', () => {
  const part = putPayment(open, payment({ id: 'a', mark: 'confirmed', waived: ['amount_mismatch'] }));
  expect(publicStatus(part)).toBe('open');
  expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'parked' })))).toBe('review');
  expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'confirmed' })))).toBe('paid');
  const rest = (over: Partial<InvoiceRow>): string => publicStatus({ ...part, invoice: { ...of(part), ...over } });
  expect(rest({ platformStatus: 'uncollectible' })).toBe('open');
  expect(rest({ platformStatus: 'paid' })).toBe('paid');
  expect(rest({ amountRemaining: 0n })).toBe('paid');
  expect(rest({ amountRemaining: null })).toBe('paid');
});

it('Crossbill ignores the invoice of a customer outside, until money or an object of the MoR arrives', () => {
  const outside: LaneState = { ...open, invoice: { ...of(open), enrolled: false } };
  const object = newMorObject(NOW, { id: 'o', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
  expect([isOutside(outside), publicStatus(outside)]).toEqual([true, 'ignored']);
  expect(isOutside({ ...outside, objects: [object] })).toBe(false);
  expect(isOutside(putPayment(outside, payment()))).toBe(false);
  expect(isOutside({ invoice: { enrolled: false }, payments: [] })).toBe(true);
  expect([isOutside(open), isOutside(lane)]).toEqual([false, false]);
});

it('a paid, void or deleted invoice is over; an uncollectible one is still payable', () => {
  expect([...STATUSES, 'unknown' as const].filter(isOver)).toEqual(['void', 'paid', 'deleted']);
});

it('Stripe takes a payment only for an open or uncollectible invoice', () => {
  const payable = STATUSES.filter((status) => isPayable(takeRead(lane, aCtx(), facts({ status })).invoice));
  expect(payable).toEqual(['open', 'uncollectible']);
  expect(isPayable(lane.invoice)).toBe(false);
});

const p = payment({ amount: 1000n });
const r = (amount: bigint, over = {}) => ({ ...newRefund(aCtx(), p, amount, null, 'api'), ...over });

it('the refundable amount leaves out refunds, open requests and lost disputes', () => {
  expect(refundable(p, [], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n), r(200n, { status: 'succeeded' })], 0n)).toBe(500n);
  expect(refundable(p, [r(300n, { status: 'failed' })], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n, { paymentRowId: 'another' })], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n)], 400n)).toBe(300n);
  expect(refundable(p, [r(600n)], 400n)).toBe(0n);
  expect(refundable(p, [r(900n)], 400n)).toBe(0n);
});

it('a higher running total of the MoR lowers the refundable amount', () => {
  expect(refundable({ ...p, refundedTotal: 700n }, [r(300n)], 0n)).toBe(300n);
  expect(refundable({ ...p, refundedTotal: 200n }, [r(300n)], 0n)).toBe(700n);
});

it('a failed payment, or one without an amount, has nothing to refund', () => {
  expect(refundable({ ...p, succeededAt: null }, [], 0n)).toBe(0n);
  expect(refundable({ ...p, amount: null }, [], 0n)).toBe(0n);
});

it('a payment is refunded, partially refunded, or as before', () => {
  expect([0n, 1n, 999n, 1000n, 1001n].map((n) => paymentStatus(p, n))).toEqual([
    ...['succeeded', 'partially_refunded', 'partially_refunded', 'refunded', 'refunded'],
  ]);
  expect(paymentStatus({ ...p, amount: null }, 1n)).toBe('partially_refunded');
  expect(paymentStatus({ ...p, succeededAt: null, status: 'failed' }, 0n)).toBe('failed');
});

it('each lost and counted dispute of the payment lowers it, and no other object does', () => {
  const dispute = (id: string, over = {}) => ({
    ...newMorObject(NOW, { id, kind: 'dispute', invoiceId: 'in_1', status: 'lost' }),
    detail: { loss: { of: p.id, minor: '250', entries: 1, movedAt: '2026-11-20T12:00:00Z' } },
    ...over,
  });
  expect(lostOf(p.id, [dispute('a'), dispute('b'), dispute('c', { detail: {} })])).toBe(500n);
  expect(lostOf(p.id, [dispute('a', { kind: 'debit_return' })])).toBe(0n);
  expect(lostOf('another', [dispute('a')])).toBe(0n);
});

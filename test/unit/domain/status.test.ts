// The public status of an invoice, and the rest of a payment after refunds and disputes.
import { describe, expect, it } from '@jest/globals';
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

describe('the status of an invoice towards the outside', () => {
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
  ])('when %s', (_, s, status) => {
    expect(publicStatus(s)).toBe(status);
  });

  it('is open while a charge is known and not settled: a debit on its way is not being marked', () => {
    expect(publicStatus(putPayment(open, payment({ mark: 'proving', pendingSince: NOW })))).toBe('open');
  });

  it('is open while a part that a person let through leaves a rest, and review while the next part waits', () => {
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

  it('is ignored for a customer who is not enrolled, until money or an object of the MoR makes it ours', () => {
    const outside: LaneState = { ...open, invoice: { ...of(open), enrolled: false } };
    const object = newMorObject(NOW, { id: 'o', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
    expect([isOutside(outside), publicStatus(outside)]).toEqual([true, 'ignored']);
    expect(isOutside({ ...outside, objects: [object] })).toBe(false);
    expect(isOutside(putPayment(outside, payment()))).toBe(false);
    expect(isOutside({ invoice: { enrolled: false }, payments: [] })).toBe(true);
    expect([isOutside(open), isOutside(lane)]).toEqual([false, false]);
  });

  it('is over when it is paid, void or deleted; an uncollectible one may still be paid', () => {
    expect([...STATUSES, 'unknown' as const].filter(isOver)).toEqual(['void', 'paid', 'deleted']);
  });

  it('says whether Stripe takes a payment: only an open or uncollectible invoice', () => {
    const payable = STATUSES.filter((status) => isPayable(takeRead(lane, aCtx(), facts({ status })).invoice));
    expect(payable).toEqual(['open', 'uncollectible']);
    expect(isPayable(lane.invoice)).toBe(false);
  });
});

describe('what of a payment can be given back', () => {
  const p = payment({ amount: 1000n });
  const r = (amount: bigint, over = {}) => ({ ...newRefund(aCtx(), p, amount, null, 'api'), ...over });

  it('is what is neither given back, nor promised, nor taken by a bank', () => {
    expect(refundable(p, [], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n), r(200n, { status: 'succeeded' })], 0n)).toBe(500n);
    expect(refundable(p, [r(300n, { status: 'failed' })], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n, { paymentRowId: 'another' })], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n)], 400n)).toBe(300n);
    expect(refundable(p, [r(600n)], 400n)).toBe(0n);
    expect(refundable(p, [r(900n)], 400n)).toBe(0n);
  });

  it('counts the MoR’s running total where it is more than the refunds that are known', () => {
    expect(refundable({ ...p, refundedTotal: 700n }, [r(300n)], 0n)).toBe(300n);
    expect(refundable({ ...p, refundedTotal: 200n }, [r(300n)], 0n)).toBe(700n);
  });

  it('is nothing of a payment that did not succeed or whose amount is not known', () => {
    expect(refundable({ ...p, succeededAt: null }, [], 0n)).toBe(0n);
    expect(refundable({ ...p, amount: null }, [], 0n)).toBe(0n);
  });

  it('and its status: refunded, in part, or as it was', () => {
    expect([0n, 1n, 999n, 1000n, 1001n].map((n) => paymentStatus(p, n))).toEqual([
      ...['succeeded', 'partially_refunded', 'partially_refunded', 'refunded', 'refunded'],
    ]);
    expect(paymentStatus({ ...p, amount: null }, 1n)).toBe('partially_refunded');
    expect(paymentStatus({ ...p, succeededAt: null, status: 'failed' }, 0n)).toBe('failed');
  });

  it('is less by every dispute that is lost and booked on it, and by no other', () => {
    const dispute = (id: string, over = {}) => ({
      ...newMorObject(NOW, { id, kind: 'dispute', invoiceId: 'in_1', status: 'lost' }),
      detail: { loss: { of: p.id, minor: '250', entries: 1 } },
      ...over,
    });
    expect(lostOf(p.id, [dispute('a'), dispute('b'), dispute('c', { detail: {} })])).toBe(500n);
    expect(lostOf(p.id, [dispute('a', { kind: 'debit_return' })])).toBe(0n);
    expect(lostOf('another', [dispute('a')])).toBe(0n);
  });
});

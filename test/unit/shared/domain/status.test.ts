// The public status of an invoice, and the rest of a payment after refunds and disputes.
import { expect, it } from '@jest/globals';
import { type InvoiceRow, INVOICE } from '../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type MarkStage, type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import { newReview } from '../../../../src/shared/domain/item.js';
import { newRow } from '../../../../src/shared/domain/row.js';
import { lostOf, newMorObject } from '../../../../src/shared/domain/mor-object.js';
import { type InvoiceFacts } from '../../../../src/shared/domain/ports/billing-platform.js';
import {
  isOutside,
  isOver,
  isPayable,
  paymentStatus,
  publicStatus,
  refundable,
} from '../../../../src/shared/domain/status.js';
import { emptyLane } from '../../../../src/engine/context.js';
import { newPayment } from '../../../../src/core/books/rules/payment-rows.js';
import { newRefund } from '../../../../src/core/refunds/rules/refund.js';
import { aCtx, facts, NOW } from '../../../support/builders/channel-lane.js';
import { recordRead } from '../../../support/rigs/decide.js';
import { never } from '../../../support/never.js';
import { putPayment } from '../../../support/builders/put-rows.js';

const lane = emptyLane('in_1');
const STATUSES = ['draft', 'open', 'uncollectible', 'void', 'paid', 'deleted'] as const;
const of = (state: LaneState): InvoiceRow => state.invoice ?? never();
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    succeededAt: NOW,
    ...over,
  });

const open = recordRead(lane, aCtx(), facts());
/** An invoice without an event, a read or a payment: only the item about a second body names it. */
const named = (status: 'open' | 'resolved'): LaneState => ({
  ...lane,
  invoice: newRow(INVOICE, { invoiceId: 'in_1', firstSeenAt: NOW }),
  reviews: [
    {
      ...newReview(
        {
          kind: 'conflicting_event',
          subject: 'stripe:evt_1',
          fact: { code: 'second-body', event: 'evt_1', type: 'invoice.paid' },
        },
        'rev_1',
        NOW,
      ),
      status,
    },
  ],
});
const withMarks = (state: LaneState, ...marks: MarkStage[]): LaneState =>
  marks.reduce((state, mark, n) => putPayment(state, payment({ id: `p${n}`, mark })), state);
const read = (over: Partial<InvoiceFacts>): LaneState => recordRead(lane, aCtx(), facts(over));

it.each([
  ['expected if nothing is reported yet', open, 'expected'],
  ['open if the MoR refused its payment', withMarks(open, 'none'), 'open'],
  ['open if the operator closed its payment', withMarks(open, 'closed'), 'open'],
  ['held if a payment waits for the draft’s finalization', withMarks(open, 'held'), 'held'],
  ['review if a payment is in review', withMarks(open, 'parked', 'waiting'), 'review'],
  ['marking if a payment waits for its mark', withMarks(open, 'waiting'), 'marking'],
  ['marking if Crossbill finalizes its draft', withMarks(open, 'finalizing'), 'marking'],
  ['marking if Crossbill reports its payment', withMarks(open, 'reporting'), 'marking'],
  ['marking if Crossbill stores the payment’s reference', withMarks(open, 'referencing'), 'marking'],
  ['marking if Crossbill asks the MoR about its charge', withMarks(open, 'proving'), 'marking'],
  ['paid if Crossbill marked it', withMarks(open, 'confirmed'), 'paid'],
  ['paid if Crossbill marked it and a second payment is in review', withMarks(open, 'confirmed', 'parked'), 'paid'],
  ['paid if Stripe shows it paid', read({ status: 'paid' }), 'paid'],
  ['marking if Stripe shows it paid during the attach', withMarks(read({ status: 'paid' }), 'attaching'), 'marking'],
  ['marking if Stripe shows it paid before the mark ends', withMarks(read({ status: 'paid' }), 'paying'), 'marking'],
  ['void if it is void', read({ status: 'void' }), 'void'],
  ['void if it is deleted', read({ status: 'deleted' }), 'void'],
  ['review if it is void and a payment is in review', withMarks(read({ status: 'void' }), 'parked'), 'review'],
  ['expected if it is uncollectible', read({ status: 'uncollectible' }), 'expected'],
  ['ignored if it is a signup’s', read({ billingReason: 'subscription_create' }), 'ignored'],
  ['ignored if nothing is due', read({ amountDue: 0n }), 'ignored'],
  ['review if only an open item names it', named('open'), 'review'],
  ['ignored if only a resolved item names it', named('resolved'), 'ignored'],
  ['expected if Stripe shows it open next to an item', { ...open, reviews: named('open').reviews }, 'expected'],
  [
    'open if it belongs to a signup with a refused payment',
    withMarks(read({ billingReason: 'subscription_create' }), 'none'),
    'open',
  ],
])('the public status of an invoice is %s', (_, s, status) => {
  expect(publicStatus(s)).toBe(status);
});

it('an invoice with a pending bank debit has the public status `open`', () => {
  expect(publicStatus(putPayment(open, payment({ mark: 'proving', pendingSince: NOW })))).toBe('open');
});

it('an invoice is `open` after an accepted part payment, and in `review` while the next payment is in review', () => {
  const part = putPayment(open, payment({ id: 'a', mark: 'confirmed', waived: ['amount_mismatch'] }));
  expect(publicStatus(part)).toBe('open');
  expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'parked' })))).toBe('review');
  expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'confirmed' })))).toBe('paid');
  const isIdle = (over: Partial<InvoiceRow>): string => publicStatus({ ...part, invoice: { ...of(part), ...over } });
  expect(isIdle({ platformStatus: 'uncollectible' })).toBe('open');
  expect(isIdle({ platformStatus: 'paid' })).toBe('paid');
  expect(isIdle({ amountRemaining: 0n })).toBe('paid');
  expect(isIdle({ amountRemaining: null })).toBe('paid');
});

it('Crossbill ignores an invoice of a customer outside the enrolment until a payment or payment link arrives', () => {
  const outside: LaneState = { ...open, invoice: { ...of(open), enrolled: false } };
  const object = newMorObject(NOW, { id: 'o', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
  expect([isOutside(outside), publicStatus(outside)]).toEqual([true, 'ignored']);
  expect(isOutside({ ...outside, objects: [object] })).toBe(false);
  expect(isOutside(putPayment(outside, payment()))).toBe(false);
  expect(isOutside({ invoice: { enrolled: false }, payments: [] })).toBe(true);
  expect([isOutside(open), isOutside(lane)]).toEqual([false, false]);
});

it('Crossbill treats a paid, void or deleted invoice as finished, and an uncollectible invoice as payable', () => {
  expect([...STATUSES, 'unknown' as const].filter(isOver)).toEqual(['void', 'paid', 'deleted']);
});

it('Crossbill treats only an open or uncollectible invoice as payable on Stripe', () => {
  const payable = STATUSES.filter((status) => isPayable(recordRead(lane, aCtx(), facts({ status })).invoice));
  expect(payable).toEqual(['open', 'uncollectible']);
  expect(isPayable(lane.invoice)).toBe(false);
});

const p = payment({ amount: 1000n });
const r = (amount: bigint, over = {}) => ({
  ...newRefund(aCtx(), p, { amount, reason: null, origin: 'api' }),
  ...over,
});

it('the refundable amount of a payment excludes refunds, open refund requests and lost disputes', () => {
  expect(refundable(p, [], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n), r(200n, { status: 'succeeded' })], 0n)).toBe(500n);
  expect(refundable(p, [r(300n, { status: 'failed' })], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n, { paymentRowId: 'another' })], 0n)).toBe(1000n);
  expect(refundable(p, [r(300n)], 400n)).toBe(300n);
  expect(refundable(p, [r(600n)], 400n)).toBe(0n);
  expect(refundable(p, [r(900n)], 400n)).toBe(0n);
});

it('a higher running total from the MoR lowers the refundable amount of a payment', () => {
  expect(refundable({ ...p, refundedTotal: 700n }, [r(300n)], 0n)).toBe(300n);
  expect(refundable({ ...p, refundedTotal: 200n }, [r(300n)], 0n)).toBe(700n);
});

it('a failed payment or a payment of unknown amount has no refundable amount', () => {
  expect(refundable({ ...p, succeededAt: null }, [], 0n)).toBe(0n);
  expect(refundable({ ...p, amount: null }, [], 0n)).toBe(0n);
});

it('a payment counts as partially refunded while some of its amount is left, and afterwards as refunded', () => {
  expect([0n, 1n, 999n, 1000n, 1001n].map((n) => paymentStatus(p, n))).toEqual([
    ...['succeeded', 'partially_refunded', 'partially_refunded', 'refunded', 'refunded'],
  ]);
  expect(paymentStatus({ ...p, amount: null }, 1n)).toBe('partially_refunded');
  expect(paymentStatus({ ...p, succeededAt: null, status: 'failed' }, 0n)).toBe('failed');
});

it('only the lost disputes of a payment lower its refundable amount', () => {
  const dispute = (id: string, over = {}) => ({
    ...newMorObject(NOW, { id, kind: 'dispute', invoiceId: 'in_1', status: 'lost' }),
    detail: { loss: { of: p.id, minor: '250', entries: 1, movedAt: '2026-11-20T12:00:00Z' } },
    ...over,
  });
  expect(lostOf(p.id, [dispute('a'), dispute('b'), dispute('c', { detail: {} })])).toBe(500n);
  expect(lostOf(p.id, [dispute('a', { kind: 'debit_return' })])).toBe(0n);
  expect(lostOf('another', [dispute('a')])).toBe(0n);
});

// What `payment.captured` proves of a signup's charge that is in the books already.
import { aKind } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { emptyLane, openReview, putPayment } from '../../src/engine/change.js';
import { newPayment } from '../../src/engine/payment.js';
import { type LaneState, type PaymentRow, type Resolution } from '../../src/domain/model.js';
import { learnFromCapture } from '../../src/payments/rules/learn-from-capture.js';
import { aCtx, NOW } from '../support/channel-lane.js';
import { channelEvent } from '../support/channel-object.js';

const later = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);
const payment = (over: Partial<PaymentRow>): PaymentRow =>
  newPayment(aCtx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: null },
    ...over,
  });

describe('a signup’s charge', () => {
  /** A charge of 29.90 EUR of which the MoR says that it was captured; `over`: how the books have it, `data`: what the capture says besides. */
  function heard(over: Partial<PaymentRow>, data: object = {}, reviews: LaneState['reviews'] = []): string {
    const p = payment({ origin: 'signup', processorChargeId: 'ch_1', status: 'processing', mark: 'proving', ...over });
    const amount = { amount: '29.90', currency: 'EUR' };
    const e = channelEvent('payment.captured', { pspReference: 'ch_1', amount, ...data });
    const s = putPayment({ ...emptyLane('in_1'), reviews }, p);
    const row = learnFromCapture(s, e, null, aCtx()).payments[0];
    return `${row?.mark ?? ''}, ${row?.succeededAt === null ? 'not taken' : 'taken'}`;
  }
  const items = (kind: 'signup_unproven' | 'signup_overdue', subject: string, resolution: Resolution | null) =>
    openReview(emptyLane('in_1'), aCtx(), { ...aKind(kind), subject }).reviews.map((r) =>
      resolution === null ? r : { ...r, status: 'resolved' as const, resolution },
    );
  const givenUp = { mark: 'closed', status: 'processing' } as const;

  it.each<[string, Partial<PaymentRow>, object, LaneState['reviews'], string]>([
    ['is proven by its amount', {}, {}, [], 'waiting, taken'],
    ['is not proven by another amount', {}, { amount: { amount: '29.91', currency: 'EUR' } }, [], 'proving, not taken'],
    [
      'is not proven by another currency',
      {},
      { amount: { amount: '29.90', currency: 'USD' } },
      [],
      'proving, not taken',
    ],
    ['is not proven without an amount', {}, { amount: null }, [], 'proving, not taken'],
    ['of an amount that is not known is not proven', { amount: null }, {}, [], 'proving, not taken'],
    ['of another name is not proven', { processorChargeId: 'ch_2' }, {}, [], 'proving, not taken'],
    ['that was given up is proven', givenUp, {}, items('signup_unproven', 'pmt_1', 'dismiss'), 'waiting, taken'],
    [
      'that a person vouched for and closed is not',
      givenUp,
      {},
      items('signup_unproven', 'pmt_1', 'apply'),
      'closed, not taken',
    ],
    ['whose item is open is not', givenUp, {}, items('signup_unproven', 'pmt_1', null), 'closed, not taken'],
    [
      'that was closed for another reason is not',
      givenUp,
      {},
      items('signup_overdue', 'pmt_1', 'dismiss'),
      'closed, not taken',
    ],
    [
      'of which another’s item was dismissed is not',
      givenUp,
      {},
      items('signup_unproven', 'pmt_2', 'dismiss'),
      'closed, not taken',
    ],
    ['that was closed without an item is not', givenUp, {}, [], 'closed, not taken'],
    [
      'that was given up among other items is proven',
      givenUp,
      {},
      [...items('signup_overdue', 'sgn_1', 'dismiss'), ...items('signup_unproven', 'pmt_1', 'dismiss')],
      'waiting, taken',
    ],
    [
      'that was taken and given up stays closed',
      { mark: 'closed', status: 'succeeded', succeededAt: NOW },
      {},
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'closed, taken',
    ],
    [
      'that waits for a person is not moved by a dismissed item',
      { mark: 'parked' },
      {},
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'parked, not taken',
    ],
    [
      'that was given up and refused since is not proven by a capture of before that',
      { ...givenUp, verdictAt: later(1) },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'closed, not taken',
    ],
    [
      'that was given up and refused is proven by a capture since then',
      { ...givenUp, verdictAt: later(-1) },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'waiting, taken',
    ],
    [
      'that was given up and refused is proven by a capture of that moment',
      { ...givenUp, verdictAt: NOW },
      { capturedAt: NOW.toISOString() },
      items('signup_unproven', 'pmt_1', 'dismiss'),
      'waiting, taken',
    ],
  ])('%s', (_, over, data, reviews, expected) => {
    expect(heard(over, data, reviews)).toBe(expected);
  });
});

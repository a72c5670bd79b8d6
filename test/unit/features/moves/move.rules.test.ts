// Which subscriptions move, which are left and why; and the requests of each way.
import { expect, it } from '@jest/globals';
import { type MovableSubscription } from '../../../../src/shared/domain/ports/billing-moves.js';
import {
  backCall,
  decideBack,
  decideMove,
  firstCall,
  type Ground,
  mayCharge,
  nextCall,
  type Remembered,
  renderMoveFact,
} from '../../../../src/features/moves/move.rules.js';

const NOW = new Date('2026-11-26T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const GROUND: Ground = { now: NOW, hasMethod: true, isEnrolled: true };
const later = (ms: number): Date => new Date(NOW.getTime() + ms);

function subscription(over: Partial<MovableSubscription> = {}): MovableSubscription {
  return {
    subscriptionId: 'sub_1',
    customerId: 'cus_1',
    createdAt: NOW,
    collectionMethod: 'charge_automatically',
    metadata: {},
    customerMetadata: {},
    charged: { from: 'subscription', id: 'pm_card', type: 'card' },
    usageBased: false,
    status: 'active',
    ownMethodId: 'pm_card',
    renewsAt: later(10 * DAY_MS),
    scheduleId: null,
    unpaid: null,
    ...over,
  };
}

const BEFORE = { methodId: 'pm_card', collectionMethod: 'charge_automatically' };
const MOVED: Remembered = { status: 'moved', way: 'custom_method', before: BEFORE, methodId: 'pm_custom' };
const MAILED: Remembered = { status: 'moved', way: 'send_invoice', before: BEFORE, methodId: null };
const AT_CUSTOM = subscription({
  ownMethodId: 'pm_custom',
  charged: { from: 'subscription', id: 'pm_custom', type: 'custom' },
});

it.each([
  ['with a card of its own', {}],
  ["with the customer's card", { ownMethodId: null, charged: { from: 'customer', id: 'pm_card', type: 'card' } }],
  ['without a payment method', { ownMethodId: null, charged: null }],
  ['in its trial', { status: 'trialing' }],
  ['with a renewal in exactly 24 hours', { renewsAt: later(DAY_MS) }],
] as const)('the command `crossbill move` moves a subscription %s', (_, over) => {
  expect(decideMove(subscription(over), null, GROUND)).toEqual({ do: 'go' });
});

it('the command `crossbill move` moves a subscription again after somebody removed its custom payment method', () => {
  expect(decideMove(subscription(), MOVED, GROUND)).toEqual({ do: 'go' });
});

it.each([
  ['is incomplete', { status: 'incomplete' }, {}, 'not_running'],
  ['is paused', { status: 'paused' }, {}, 'not_running'],
  ['mails its invoices', { collectionMethod: 'send_invoice' }, {}, 'not_charged'],
  ['has a custom method', { charged: { from: 'customer', id: 'pm_x', type: 'custom' } }, {}, 'not_charged'],
  ['has no method at the MoR', {}, { hasMethod: false }, 'method_missing'],
  ['is outside ENROLMENT', {}, { isEnrolled: false }, 'not_enrolled'],
  ['belongs to a schedule', { scheduleId: 'sub_sched_1' }, {}, 'scheduled'],
  ['renews in less than 24 hours', { renewsAt: later(DAY_MS - 1_000) }, {}, 'renews_soon'],
  ['has no known renewal date', { renewsAt: null }, {}, 'renews_soon'],
  ['has an open invoice', { unpaid: { invoiceId: 'in_1', status: 'open' } }, {}, 'invoice_open'],
] as const)('the command `crossbill move` does not move a subscription that %s', (_, over, ground, code) => {
  const decided = decideMove(subscription(over), null, { ...GROUND, ...ground });
  expect(decided).toMatchObject({ do: 'leave', fact: { code } });
  if (decided.do === 'leave') expect(renderMoveFact(decided.fact)).not.toBe('');
});

it('a subscription whose move was interrupted after the change at Stripe counts as moved', () => {
  const row: Remembered = { ...MOVED, status: 'moving' };
  expect(decideMove({ ...AT_CUSTOM, renewsAt: later(1_000) }, row, GROUND)).toEqual({ do: 'done' });
  const mailed = subscription({ collectionMethod: 'send_invoice' });
  expect(decideMove(mailed, { ...MAILED, status: 'moving' }, GROUND)).toEqual({ do: 'done' });
});

it("the command `crossbill move` does not move a subscription with somebody else's custom payment method", () => {
  const other = subscription({ charged: { from: 'subscription', id: 'pm_z', type: 'custom' }, ownMethodId: 'pm_z' });
  expect(decideMove(other, MOVED, GROUND)).toMatchObject({ do: 'leave', fact: { code: 'not_charged' } });
});

const back = { ...GROUND, isEnrolled: false };

it('Crossbill moves a subscription back only if Stripe still shows the payment method that the move had set', () => {
  expect(decideBack(AT_CUSTOM, MOVED, back)).toEqual({ do: 'go' });
  expect(decideBack(subscription({ collectionMethod: 'send_invoice' }), MAILED, back)).toEqual({ do: 'go' });
});

it('a moved subscription moves back without a call if Stripe already shows the old payment method', () => {
  expect(decideBack(subscription(), MOVED, back)).toEqual({ do: 'done' });
  expect(decideBack(subscription(), MAILED, back)).toEqual({ do: 'done' });
});

it.each([
  ['is gone', null, back, 'not_running'],
  ['has a method that somebody chose later', subscription({ ownMethodId: 'pm_new' }), back, 'changed'],
  ['is still enrolled by its metadata', AT_CUSTOM, GROUND, 'still_enrolled'],
  ['renews within a day', { ...AT_CUSTOM, renewsAt: later(1_000) }, back, 'renews_soon'],
  [
    'has an invoice that the MoR may be charging',
    { ...AT_CUSTOM, unpaid: { invoiceId: 'in_1', status: 'draft' } },
    back,
    'invoice_open',
  ],
] as const)('the command `crossbill move` never moves back a subscription that %s', (_, s, ground, code) => {
  expect(decideBack(s, MOVED, ground)).toMatchObject({ do: 'leave', fact: { code } });
});

const row = { subscriptionId: 'sub_1', customerId: 'cus_1' };

it("a move to a custom payment method creates the method, attaches it, and makes it the subscription's default", () => {
  const first = firstCall(row, 'custom_method');
  const second = nextCall(first, 'pm_9', row);
  expect([first, second]).toEqual([
    { kind: 'make_method' },
    { kind: 'attach_method', methodId: 'pm_9', customerId: 'cus_1' },
  ]);
  const third = second === null ? null : nextCall(second, 'pm_9', row);
  expect(third).toEqual({ kind: 'set_method', subscriptionId: 'sub_1', methodId: 'pm_9' });
  expect(third === null ? null : nextCall(third, 'sub_1', row)).toBeNull();
});

it('a move to mailed invoices takes one call to Stripe', () => {
  const only = firstCall(row, 'send_invoice');
  expect(only).toEqual({ kind: 'set_collection', subscriptionId: 'sub_1', collectionMethod: 'send_invoice' });
  expect(nextCall(only, 'sub_1', row)).toBeNull();
});

it('a move back sets the old payment method, or removes the method if the subscription had none before', () => {
  const none: Remembered = { ...MOVED, before: { ...BEFORE, methodId: null } };
  expect(backCall('sub_1', MOVED)).toEqual({ kind: 'set_method', subscriptionId: 'sub_1', methodId: 'pm_card' });
  expect(backCall('sub_1', none)).toEqual({ kind: 'set_method', subscriptionId: 'sub_1', methodId: null });
  expect(backCall('sub_1', MAILED)).toMatchObject({ collectionMethod: 'charge_automatically' });
});

it.each([
  [true, 'a card', {}],
  [true, 'an older source', { charged: { from: 'customer', id: 'card_1', type: 'source' } }],
  [false, 'a custom method', { charged: { from: 'customer', id: 'pm_1', type: 'custom' } }],
  [false, 'no method', { charged: null }],
  [false, 'mailed invoices', { collectionMethod: 'send_invoice' }],
  [false, 'an incomplete signup', { status: 'incomplete' }],
] as const)('it is %s that Stripe itself can charge a subscription with %s', (may, _, over) => {
  expect(mayCharge(subscription(over))).toBe(may);
});

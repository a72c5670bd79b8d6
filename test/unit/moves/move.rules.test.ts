// Which subscriptions move, which are left and why; and the requests of each way.
import { expect, it } from '@jest/globals';
import { type MovableSubscription } from '../../../src/domain/ports/billing-moves.js';
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
} from '../../../src/moves/move.rules.js';

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
  ['by a card of its own', {}],
  ["by a card of the customer's", { ownMethodId: null, charged: { from: 'customer', id: 'pm_card', type: 'card' } }],
  ['by nothing at all: Stripe would fail to charge it', { ownMethodId: null, charged: null }],
  ['in its trial', { status: 'trialing' }],
  ['in exactly 24 hours', { renewsAt: later(DAY_MS) }],
] as const)('Crossbill moves a subscription with a charge %s', (_, over) => {
  expect(decideMove(subscription(over), null, GROUND)).toEqual({ do: 'go' });
});

it('Crossbill moves a subscription again after somebody removes the custom method', () => {
  expect(decideMove(subscription(), MOVED, GROUND)).toEqual({ do: 'go' });
});

it.each([
  ['incomplete', { status: 'incomplete' }, {}, 'not_running'],
  ['paused', { status: 'paused' }, {}, 'not_running'],
  ['mailed', { collectionMethod: 'send_invoice' }, {}, 'not_charged'],
  ['of a custom method', { charged: { from: 'customer', id: 'pm_x', type: 'custom' } }, {}, 'not_charged'],
  ['without a method at the MoR', {}, { hasMethod: false }, 'method_missing'],
  ['outside of ENROLMENT', {}, { isEnrolled: false }, 'not_enrolled'],
  ['of a schedule', { scheduleId: 'sub_sched_1' }, {}, 'scheduled'],
  ['a second under 24 hours before its renewal', { renewsAt: later(DAY_MS - 1_000) }, {}, 'renews_soon'],
  ['whose renewal nobody knows', { renewsAt: null }, {}, 'renews_soon'],
  ['with an open invoice', { unpaid: { invoiceId: 'in_1', status: 'open' } }, {}, 'invoice_open'],
] as const)('Crossbill leaves a subscription %s', (_, over, ground, code) => {
  const decided = decideMove(subscription(over), null, { ...GROUND, ...ground });
  expect(decided).toMatchObject({ do: 'leave', fact: { code } });
  if (decided.do === 'leave') expect(renderMoveFact(decided.fact)).not.toBe('');
});

it('a method set by a killed run counts as moved, however soon the renewal', () => {
  const row: Remembered = { ...MOVED, status: 'moving' };
  expect(decideMove({ ...AT_CUSTOM, renewsAt: later(1_000) }, row, GROUND)).toEqual({ do: 'done' });
  const mailed = subscription({ collectionMethod: 'send_invoice' });
  expect(decideMove(mailed, { ...MAILED, status: 'moving' }, GROUND)).toEqual({ do: 'done' });
});

it('somebody else’s custom method is no move of ours', () => {
  const other = subscription({ charged: { from: 'subscription', id: 'pm_z', type: 'custom' }, ownMethodId: 'pm_z' });
  expect(decideMove(other, MOVED, GROUND)).toMatchObject({ do: 'leave', fact: { code: 'not_charged' } });
});

const back = { ...GROUND, isEnrolled: false };

it('a moved subscription comes back while Stripe shows the move’s method', () => {
  expect(decideBack(AT_CUSTOM, MOVED, back)).toEqual({ do: 'go' });
  expect(decideBack(subscription({ collectionMethod: 'send_invoice' }), MAILED, back)).toEqual({ do: 'go' });
});

it('a moved subscription comes back without a request if Stripe shows the old method', () => {
  expect(decideBack(subscription(), MOVED, back)).toEqual({ do: 'done' });
  expect(decideBack(subscription(), MAILED, back)).toEqual({ do: 'done' });
});

it.each([
  ['gone', null, back, 'not_running'],
  ['with a method that somebody chose since', subscription({ ownMethodId: 'pm_new' }), back, 'changed'],
  ['that its metadata still enrols', AT_CUSTOM, GROUND, 'still_enrolled'],
  ['that renews within a day', { ...AT_CUSTOM, renewsAt: later(1_000) }, back, 'renews_soon'],
  [
    'with an invoice that the MoR may be charging',
    { ...AT_CUSTOM, unpaid: { invoiceId: 'in_1', status: 'draft' } },
    back,
    'invoice_open',
  ],
] as const)('Crossbill never brings back a subscription %s', (_, s, ground, code) => {
  expect(decideBack(s, MOVED, ground)).toMatchObject({ do: 'leave', fact: { code } });
});

const row = { subscriptionId: 'sub_1', customerId: 'cus_1' };

it('a move makes a custom method, attaches it, and makes it the default', () => {
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

it('a move to mailed invoices takes one request', () => {
  const only = firstCall(row, 'send_invoice');
  expect(only).toEqual({ kind: 'set_collection', subscriptionId: 'sub_1', collectionMethod: 'send_invoice' });
  expect(nextCall(only, 'sub_1', row)).toBeNull();
});

it('a move back sets the old method, or no method if there was none', () => {
  const none: Remembered = { ...MOVED, before: { ...BEFORE, methodId: null } };
  expect(backCall('sub_1', MOVED)).toEqual({ kind: 'set_method', subscriptionId: 'sub_1', methodId: 'pm_card' });
  expect(backCall('sub_1', none)).toEqual({ kind: 'set_method', subscriptionId: 'sub_1', methodId: null });
  expect(backCall('sub_1', MAILED)).toMatchObject({ collectionMethod: 'charge_automatically' });
});

it.each([
  ['a card', {}, true],
  ['an older source', { charged: { from: 'customer', id: 'card_1', type: 'source' } }, true],
  ['a custom method', { charged: { from: 'customer', id: 'pm_1', type: 'custom' } }, false],
  ['no method', { charged: null }, false],
  ['a card behind mailed invoices', { collectionMethod: 'send_invoice' }, false],
  ['a card of an incomplete signup', { status: 'incomplete' }, false],
] as const)('Stripe may charge the next invoice or not: %s', (_, over, may) => {
  expect(mayCharge(subscription(over))).toBe(may);
});

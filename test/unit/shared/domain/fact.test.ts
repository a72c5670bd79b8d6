// Small facts that everything rests on: keys, kept times, what a difference asks for, and which moves a tax record makes.
import { expect, it } from '@jest/globals';
import { type Difference, isRepairable, isUnnotified } from '../../../../src/shared/domain/difference.js';
import { repliesOf } from '../../../../src/shared/domain/endpoint-replies.js';
import { canBeKept } from '@crossbill/mor/kept-time.js';
import { morKey } from '../../../../src/shared/domain/mor-key.js';
import { showTime } from '../../../../src/shared/domain/show-time.js';
import { NOW } from '../../../support/builders/channel-lane.js';

it('a repeated refund request has the same idempotency key at the MoR, and each different request has its own key', () => {
  const key = morKey('refund', ['ops', 'pay_1', 'key-7']);
  expect(key).toBe('crossbill:refund:sha256-0fe7570c823c5036ef2fedc1c66300e5c19c2863454bdc76e1ace20f007a5f2e');
  const others = [morKey('signup', ['ops', 'pay_1', 'key-7']), morKey('refund', ['ops', 'pay_1', 'key', '-7'])];
  expect(new Set([key, ...others]).size).toBe(3);
});

it('Crossbill stores times from the year 1 to the year 9999', () => {
  const kept = (text: string, ms = 0) => canBeKept(new Date(Date.parse(text) + ms));
  expect([kept('0001-01-01T00:00:00Z'), kept('0001-01-01T00:00:00Z', -1)]).toEqual([true, false]);
  expect([kept('9999-12-31T23:59:59.999Z'), kept('9999-12-31T23:59:59.999Z', 1)]).toEqual([true, false]);
  expect(kept('soon')).toBe(false);
});

it('Crossbill shows a time to the minute in UTC', () => {
  expect(showTime(new Date('2026-11-20T20:37:59+01:00'))).toBe('2026-11-20 19:37 UTC');
});

it('Crossbill counts the replies of one webhook endpoint by HTTP status', () => {
  const replies = [
    { endpoint: 'stripe', hour: NOW, status: 200, n: 3 },
    { endpoint: 'stripe', hour: NOW, status: 401, n: 1 },
    { endpoint: 'mor_events', hour: NOW, status: 200, n: 9 },
    { endpoint: 'stripe', hour: NOW, status: 200, n: 4 },
  ] as const;
  expect([...repliesOf(replies, 'stripe')]).toEqual([
    [200, 7],
    [401, 1],
  ]);
});

const difference = (over: Partial<Difference>): Difference => ({
  ...{
    id: 'dif_1',
    kind: 'marked_not_charged',
    invoiceId: 'in_1',
    paymentId: null,
    refundId: null,
    eventId: null,
    objectId: null,
  },
  ...{ detail: 'd', repair: 'look-again', reviewId: null, ...over },
});
const acknowledged = { by: 'ada', at: NOW, note: 'known' };

it('the command `crossbill verify` counts a difference as known if the difference has an open review item or an acknowledgement', () => {
  expect(isUnnotified(difference({}))).toBe(true);
  expect(isUnnotified(difference({ acknowledged: null }))).toBe(true);
  expect(isUnnotified(difference({ reviewId: 'rev_1' }))).toBe(false);
  expect(isUnnotified(difference({ acknowledged }))).toBe(false);
});

it('the command `crossbill verify` repairs a difference, unless the difference is known or needs a person', () => {
  expect(isRepairable(difference({}))).toBe(true);
  for (const over of [{ repair: 'person' }, { reviewId: 'rev_1' }, { acknowledged }] as const)
    expect(isRepairable(difference(over))).toBe(false);
});

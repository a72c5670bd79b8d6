// Two deliveries under one event id: the same event again, or a conflict that a person must see.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isSameStripeEvent, sameEvent } from '../../../../../src/shared/domain/events/same-event.js';
import { reported } from '../../../../support/builders/reported.js';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function turnedRound(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turnedRound);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([k, v]) => [k, turnedRound(v)]),
  );
}

it('Crossbill recognises a repeated event in any key order and with any whitespace', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(sameEvent(bytes(value), Buffer.from(JSON.stringify(turnedRound(value), null, 2)))).toBe(true);
    }),
  );
});

it('Crossbill recognises a repeated Stripe event if only its pending_webhooks field at the top level differs', () => {
  expect(sameEvent(bytes({ id: 'evt_1', pending_webhooks: 2 }), bytes({ id: 'evt_1', pending_webhooks: 0 }))).toBe(
    true,
  );
  const inside = (count: number): Buffer => bytes({ id: 'evt_1', data: { pending_webhooks: count } });
  expect(sameEvent(inside(2), inside(0))).toBe(false);
});

it.each([
  [{ amount: 2990 }, { amount: 2991 }],
  [{ amount: 2990 }, { amount: '2990' }],
  [{ lines: [1, 2] }, { lines: [2, 1] }],
  [{ data: { a: 1 } }, { data: [['a', 1]] }],
  [{ data: null }, {}],
  [{ a: 1 }, { a: 1, b: null }],
])('Crossbill sees a conflict if one event id has the contents %j and %j', (one, other) => {
  expect(sameEvent(bytes(one), bytes(other))).toBe(false);
});

it('Crossbill sees a conflict under one event id if a body is unreadable', () => {
  expect(sameEvent(Buffer.from('{"id":"evt_1"'), Buffer.from('{"id":"evt_1"'))).toBe(false);
});

it.each([
  ['lists', (levels: number) => '['.repeat(levels) + ']'.repeat(levels)],
  ['objects', (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`],
])('Crossbill treats two equal bodies of nested %s as the same event only up to 200 levels', (_, text) => {
  const isOneEvent = (levels: number) => sameEvent(Buffer.from(text(levels)), Buffer.from(text(levels)));
  expect([isOneEvent(200), isOneEvent(202)]).toEqual([true, false]);
});

const old = JSON.parse(reported('01-rendering-old')) as Record<string, unknown>;
const newer = Buffer.from(reported('01-rendering-new'));

it('Crossbill recognises the same Stripe event in two API versions', () => {
  expect(isSameStripeEvent(newer, bytes(old))).toBe(true);
  expect(sameEvent(newer, bytes(old))).toBe(false);
});

it.each([
  ['another object', { data: { object: { id: 'in_other', object: 'invoice' } } }],
  ['an object without an id', { data: { object: { object: 'invoice' } } }],
  ['another type', { type: 'invoice.updated' }],
  ['another time', { created: 1 }],
  ['no time', { created: null }],
  ['another account', { account: 'acct_other' }],
  ['another id', { id: 'evt_other' }],
  ['no data', { data: null }],
])('Crossbill sees a conflict if the second body of a Stripe event has %s', (_, other) => {
  expect(isSameStripeEvent(newer, bytes({ ...old, ...other }))).toBe(false);
});

it('Crossbill recognises a repeated Stripe event with the account as an id or as an object', () => {
  const of = (account: unknown): Buffer => bytes({ ...old, account });
  expect(isSameStripeEvent(of('acct_1'), of({ id: 'acct_1', object: 'account' }))).toBe(true);
  expect(isSameStripeEvent(of(null), bytes(old))).toBe(true);
});

it('for Crossbill, two Stripe events without data.object are the same event only if all their fields are equal', () => {
  expect(isSameStripeEvent(bytes({ id: 'evt_1', n: 1 }), bytes({ n: 1, id: 'evt_1' }))).toBe(true);
  expect(isSameStripeEvent(bytes({ id: 'evt_1', n: 1 }), bytes({ id: 'evt_1', n: 2 }))).toBe(false);
});

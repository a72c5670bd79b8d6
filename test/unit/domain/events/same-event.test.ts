// Two deliveries under one event id: the same event again, or a conflict that a person must see.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aboutSecondBody, isSameStripeEvent, sameEvent } from '../../../../src/domain/events/same-event.js';
import { reported } from '../../../support/reported.js';

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

describe('two deliveries under one event id', () => {
  it('are the same event whatever the order of their members and the white space', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(sameEvent(bytes(value), Buffer.from(JSON.stringify(turnedRound(value), null, 2)))).toBe(true);
      }),
    );
  });

  it('are the same event when only the number of endpoints that still wait differs, which Stripe counts on the outside', () => {
    expect(sameEvent(bytes({ id: 'evt_1', pending_webhooks: 2 }), bytes({ id: 'evt_1', pending_webhooks: 0 }))).toBe(
      true,
    );
    const inside = (n: number): Buffer => bytes({ id: 'evt_1', data: { pending_webhooks: n } });
    expect(sameEvent(inside(2), inside(0))).toBe(false);
  });

  it.each([
    [{ amount: 2990 }, { amount: 2991 }],
    [{ amount: 2990 }, { amount: '2990' }],
    [{ lines: [1, 2] }, { lines: [2, 1] }],
    [{ data: { a: 1 } }, { data: [['a', 1]] }],
    [{ data: null }, {}],
  ])('are a conflict when they say %j and %j', (one, other) => {
    expect(sameEvent(bytes(one), bytes(other))).toBe(false);
  });

  it('are a conflict when one of them cannot be read', () => {
    expect(sameEvent(Buffer.from('{"id":"evt_1"'), Buffer.from('{"id":"evt_1"'))).toBe(false);
    const deep = Buffer.from('['.repeat(300) + ']'.repeat(300));
    expect(sameEvent(deep, deep)).toBe(false);
  });
});

describe('two bodies of Stripe under one event id', () => {
  const old = JSON.parse(reported('01-rendering-old')) as Record<string, unknown>;
  const newer = Buffer.from(reported('01-rendering-new'));

  it('are one event when Stripe renders it in two API versions', () => {
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
  ])('are a conflict when one names %s', (_, other) => {
    expect(isSameStripeEvent(newer, bytes({ ...old, ...other }))).toBe(false);
  });

  it('are one event when both name the same account, as its id or as the object', () => {
    const of = (account: unknown): Buffer => bytes({ ...old, account });
    expect(isSameStripeEvent(of('acct_1'), of({ id: 'acct_1', object: 'account' }))).toBe(true);
    expect(isSameStripeEvent(of(null), bytes(old))).toBe(true);
  });

  it('are one event when the same bytes name no object at all', () => {
    expect(isSameStripeEvent(bytes({ id: 'evt_1', n: 1 }), bytes({ n: 1, id: 'evt_1' }))).toBe(true);
    expect(isSameStripeEvent(bytes({ id: 'evt_1', n: 1 }), bytes({ id: 'evt_1', n: 2 }))).toBe(false);
  });
});

describe('a second body under one event id', () => {
  it.each([
    ['dispute.action_needed', 'evidence is wanted once more'],
    ['dispute.revision_requested', 'evidence that was sent back once more'],
    ['dispute.outcome', 'if that was a loss and the dispute is won now, take the loss back beside it'],
    ['pre_chargeback_alert.received', 'another alert'],
    ['proforma_invoice.settled', 'a further transfer, whose money is not booked here'],
  ])('of %s may be news, since its id is made of the entity and the topic: a person hears which', (type, says) => {
    expect(aboutSecondBody(type)).toContain(says);
  });

  it('of another type is compared, and nothing else is said of it', () => {
    for (const type of ['invoice.paid', 'payment.succeeded', 'constructor'])
      expect(aboutSecondBody(type)).toMatch(/The second one is kept and never applied\.$/);
  });
});

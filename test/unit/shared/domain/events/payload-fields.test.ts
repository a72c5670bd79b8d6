// Finding deadlines, links, outcomes and amounts in payloads that Document 2 does not show.
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { parseBody } from '../../../../../src/shared/domain/events/json-body.js';
import {
  amountIn,
  sumIn,
  dashboardIn,
  deadlineIn,
  idNamed,
  textNamed,
  timeNamed,
} from '../../../../../src/shared/domain/events/payload-fields.js';

const JULY = new Date('2027-07-01T00:00:00Z');

it.each([
  [{ deadline: '2027-07-01T00:00:00Z' }],
  [{ evidenceDueBy: 1_814_400_000 }],
  [{ evidence_due_by: '1814400000' }],
  [{ dispute: { evidence: { dueBy: '2027-07-01T02:00:00+02:00' } } }],
  [{ due_by: 1_814_400_000_000 }],
  [{ respondBy: '2027-07-01' }],
  [{ list: [{ Deadline: '2027-07-01T00:00:00.000Z' }] }],
])('Crossbill finds the deadline of a dispute in %j', (data) => {
  expect(deadlineIn(data)).toEqual(JULY);
});

it('Crossbill finds no deadline in unreadable or unrelated fields', () => {
  expect(deadlineIn({ createdAt: '2027-07-01T00:00:00Z', deadline: 'soon', dueBy: null })).toBeNull();
});

it('if a dispute has an expiry field before its deadline field, Crossbill takes the deadline field', () => {
  expect(deadlineIn({ expiresAt: '2030-01-01T00:00:00Z', deadline: '2027-07-01T00:00:00Z' })).toEqual(JULY);
});

it('Crossbill finds the dashboard link of a dispute under its usual names', () => {
  const data = { file: 'https://files.example/a', links: { dashboardUrl: 'https://dash.example/d/1' } };
  expect(dashboardIn(data)).toBe('https://dash.example/d/1');
  expect(dashboardIn({ link: 'https://dash.example/d/2' })).toBe('https://dash.example/d/2');
});

it.each([
  'http://dash.example',
  'javascript:alert(1)',
  'https://user:pw@dash.example',
  'https://user@dash.example',
  'https://:pw@dash.example',
  'https://',
  'data:text/html,x',
])('Crossbill never shows %s as a dashboard link', (dashboardUrl) => {
  expect(dashboardIn({ dashboardUrl })).toBeNull();
});

it('Crossbill reads an amount with a currency exactly, and refuses an amount with too many decimals', () => {
  expect(amountIn({ payment: { amount: { amount: '10.50', currency: 'eur' } } })).toEqual({
    minor: 1050n,
    currency: 'EUR',
  });
  expect(amountIn({ amount: { amount: '10.505', currency: 'EUR' } })).toBeNull();
  expect(amountIn({ amount: 1050 })).toBeNull();
});

it('Crossbill reads only positive decimal text with a currency as an amount, and takes a disputed amount before other amounts', () => {
  const of = (amount: unknown, currency: unknown = 'EUR') => amountIn({ amount: { amount, currency } });
  expect([of('0.01'), of('0.00'), of('-1.00'), of(10.5), of(null), of('1.00', null), of('1.00', 'E')]).toEqual([
    ...[{ minor: 1n, currency: 'EUR' }, null, null, null, null, null, null],
  ]);
  const disputed = { amount: '10.00', currency: 'EUR' };
  expect(amountIn({ amount: { amount: '29.90', currency: 'EUR' }, disputed_amount: disputed })?.minor).toBe(1000n);
  expect(
    amountIn({ amount: null, payment: { amount: { amount: '0.001', currency: 'EUR' }, x: { amount: disputed } } }),
  ).toEqual({ minor: 1000n, currency: 'EUR' });
});

it('Crossbill reads a decimal with a currency as an amount, and keeps a bare whole number as text', () => {
  const of = (amount: unknown, currency: unknown = 'EUR') => sumIn({ amount, currency });
  expect([of('3.00'), of('300', 'JPY')]).toEqual([
    { minor: 300n, currency: 'EUR' },
    { minor: 300n, currency: 'JPY' },
  ]);
  expect([of('300'), of(300, 'eur'), of(3.5), of('-3.00'), of('3.00', null), of(['x'])]).toEqual([
    ...['300 EUR', '300 eur', '3.5 EUR', '-3.00 EUR', '3.00', '["x"] EUR'],
  ]);
  expect(sumIn({ amount: { amount: 300, currency: 'EUR' } })).toBe('300 EUR');
  expect(sumIn({ amount: { value: 300 } })).toBe('{"value":300}');
  expect([of(null), of(''), sumIn({ currency: 'EUR' })]).toEqual([null, null, null]);
  expect(amountIn({ amount: 300, currency: 'EUR' })).toBeNull();
});

it('Crossbill takes the outermost amount of a dispute event, even if unreadable, and a disputed amount before other amounts', () => {
  const whole = { amount: '29.90', currency: 'EUR' };
  expect(sumIn({ disputedAmount: 300, currency: 'EUR', amount: whole })).toBe('300 EUR');
  expect(sumIn({ amount: 300, currency: 'EUR', payment: { amount: whole } })).toBe('300 EUR');
  const inside = {
    payment: { amount: 2990, currency: 'eur' },
    dispute: { amount: { amount: '3.00', currency: 'EUR' } },
  };
  expect(sumIn(inside)).toBe('2990 eur or 3.00 EUR');
});

it('Crossbill finds a text or a time by field name at any depth of an event, and refuses a malformed time', () => {
  const data = { about: { Reason: 'no', settled_at: '2027-07-01', seen: 'x2027-07-01', late: '20270701000000' } };
  expect([textNamed(data, 'code', 'reason'), textNamed(data, 'code')]).toEqual(['no', null]);
  expect([timeNamed(data, 'settledAt'), timeNamed(data, 'seen'), timeNamed(data, 'late')]).toEqual([JULY, null, null]);
});

it('Crossbill searches the first thousand members of a payload, and accepts links of at most 2,048 characters', () => {
  const after = (count: number) =>
    deadlineIn({
      ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, null])),
      deadline: '2027-07-01',
    });
  expect([after(999), after(1_000)]).toEqual([JULY, null]);
  const long = (length: number) => dashboardIn({ link: 'https://dash.example/'.padEnd(length, 'x') })?.length ?? null;
  expect([long(2_048), long(2_049)]).toEqual([2_048, null]);
});

it('Crossbill finds an id at any depth of a payload, and ignores an id with a space', () => {
  expect(idNamed({ a: [{ dispute_id: 'dp_1' }] }, 'disputeId')).toBe('dp_1');
  expect(idNamed({ disputeId: 'two words' }, 'disputeId')).toBeNull();
});

it('the search for fields in a payload never throws', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const parsed = parseBody(Buffer.from(text));
      if (!parsed.ok) return;
      const data = parsed.value;
      deadlineIn(data);
      dashboardIn(data);
      amountIn(data);
      sumIn(data);
    }),
  );
});

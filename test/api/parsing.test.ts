// The pure parts of the API: reading bodies, masking personal data, finding a header's key.
import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeyRing } from '../../src/frames/api/access/key-ring.js';
import { masked } from '../../src/shared/masks/event-body.js';
import { canonicalJson, parseJsonBody } from '../../src/frames/api/http/json-body.js';
import { Secret } from '../../src/shared/config/index.js';

const read = (text: string): unknown => {
  const parsed = parseJsonBody(Buffer.from(text));
  return parsed.ok ? parsed.value : parsed.reason;
};

it("the API's parser reads an empty body as an object without fields", () => {
  expect(read('')).toEqual({});
});

it("the API's parser keeps a top-level number with an exponent or a point, such as 1e3 or 10.0, as text", () => {
  expect(read('{"amount":1e3,"a":{"amount":1e3},"b":[1.0],"c":12,"d":-7,"e":"1e3"}')).toEqual({
    amount: '1e3',
    a: { amount: 1000 },
    b: [1],
    c: 12,
    d: -7,
    e: '1e3',
  });
  expect(read('{"\\u0061mount":10.0,"x":"\\"amount\\":1e3"}')).toEqual({ amount: '10.0', x: '"amount":1e3' });
  const named = read('{"__proto__":{"isAdmin":true},"amount":1e3}'); // and refused by its name later on
  expect(named).toHaveProperty('amount', '1e3');
  expect(JSON.stringify(named)).toContain('__proto__');
  expect(named).not.toHaveProperty('isAdmin');
});

it("the API's parser agrees with JSON.parse on every body without numbers such as 1e3 or 10.0", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.maxSafeInteger(), fc.object())), (body) => {
      const text = JSON.stringify(body);
      expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('the API treats two bodies as equal if only the order of their fields differs', () => {
  expect(canonicalJson({ b: 1, a: { d: [1, 2], c: null } })).toBe(canonicalJson({ a: { c: null, d: [1, 2] }, b: 1 }));
  expect(canonicalJson({ a: [1, 2] })).not.toBe(canonicalJson({ a: [2, 1] }));
  expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: '1' }));
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it("Crossbill masks names, addresses and secrets in an event, and keeps the event's ids and amounts", () => {
  const shown = masked({
    id: 'evt_1',
    data: {
      object: {
        id: 'in_1',
        customer: 'cus_1',
        customer_email: 'ada@example.com',
        customer_name: 'Ada',
        customer_phone: null,
        customer_address: { line1: 'Weg 1', city: 'Ulm' },
        hosted_invoice_url: 'https://pay.example/x',
        client_secret: 'pi_1_secret_2',
        description: 'for ada@example.com, with thanks',
        number: '4111-2026-0001-1118',
        failure_message: 'card 4242 4242 4242 4242 declined',
        amount_due: 2990,
        lines: [{ billing_details: { name: 'Ada' }, amount: 2990 }],
      },
    },
  });
  expect(shown).toEqual({
    id: 'evt_1',
    data: {
      object: {
        id: 'in_1',
        customer: 'cus_1',
        customer_email: '[masked]',
        customer_name: '[masked]',
        customer_phone: null,
        customer_address: '[masked]',
        hosted_invoice_url: '[masked]',
        client_secret: '[masked]',
        description: 'for [masked], with thanks',
        number: '4111-2026-0001-1118',
        failure_message: 'card [masked] declined',
        amount_due: 2990,
        lines: [{ billing_details: '[masked]', amount: 2990 }],
      },
    },
  });
});

const key = 'k'.repeat(32);
const ring = new KeyRing({
  apiKeys: [{ name: 'shop', role: 'signup', digest: new Secret(createHash('sha256').update(key).digest('hex')) }],
});

it('the API identifies a caller only by a complete API key in a Bearer header', () => {
  expect(ring.fromHeader(`Bearer ${key}`)).toEqual({ name: 'shop', role: 'signup' });
  expect(ring.fromHeader(`bearer  ${key}`)).toEqual({ name: 'shop', role: 'signup' });
  for (const header of [
    undefined,
    '',
    'Bearer',
    key,
    `Bearer ${key} `,
    `Bearer ${key}k`,
    `Bearer ${key.slice(1)}`,
    `Bearer ${key},${key}`,
  ]) {
    expect(ring.fromHeader(header)).toBeNull();
  }
});

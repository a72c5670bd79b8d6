// The client parses every answer of the three documents before it believes it: extra fields pass, wrong kinds do not.
import {
  parseApplication,
  parseEInvoice,
  parseInitiated,
  parseMerchantDetail,
  parsePaymentLink,
  parseProformaInvoice,
  parseRefund,
  parseTaxCalculation,
  parseWebhookEndpointCreated,
  parseWebhookEndpointList,
  statusFromRaw,
} from '@crossbill/mor';
import { parseDecimal, parseTime, Unreadable } from '@crossbill/mor/read.js';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { MOR_PARSERS } from '@crossbill/mor/parsers.js';

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

// Handed on as they came, or not read at all.
const UNREAD = /(^|\.)(customer|evidence|onboardingUrl|xmlUrl|source)(\.|$)/;

function wire(name: string): Json {
  return JSON.parse(readFileSync(new URL(`../../../test/wire/mor/${name}.json`, import.meta.url), 'utf8')) as Json;
}

/** The paths of all leaves. */
function leaves(value: Json, path = ''): string[] {
  if (value === null || typeof value !== 'object') return [path];
  const parts: [string, Json][] = Array.isArray(value)
    ? value.map((one, n) => [String(n), one])
    : Object.entries(value);
  return parts.flatMap(([name, one]) => leaves(one, path === '' ? name : `${path}.${name}`));
}

function replaced(value: Json, path: string[], by: Json): Json {
  const [first, ...rest] = path;
  if (first === undefined) return by;
  if (Array.isArray(value)) return value.map((one, n) => (String(n) === first ? replaced(one, rest, by) : one));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === first ? replaced(one, rest, by) : one]),
  );
}

function withStrangers(value: Json): Json {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).map(([name, one]): [string, Json] => [name, withStrangers(one)]);
  return Object.fromEntries([...kept, ['aFieldOfTomorrow', { deep: [1, null] }]]);
}

const PARSERS = Object.entries(MOR_PARSERS);

it.each(PARSERS)('the MoR client reads a body of kind %s, even with unknown fields', (name, parse) => {
  const body = wire(name);
  const { customer: _c, evidence: _e, ...plain } = parse(body) as Record<string, unknown>;
  const { customer: _c2, evidence: _e2, ...more } = parse(withStrangers(body)) as Record<string, unknown>;
  const shown = (value: unknown): string =>
    inspect(value, { depth: 20 }).replace(/(customer|evidence): \{[^}]*\}/g, '$1');
  if (name !== 'tax-transactions') expect(shown(more)).toBe(shown(plain));
});

it.each(PARSERS)('the MoR client refuses a body of kind %s with a known field of another type', (name, parse) => {
  const body = wire(name);
  for (const path of leaves(body).filter((one) => !UNREAD.test(one))) {
    const wrong = replaced(body, path.split('.'), { not: 'this' });
    expect([path, outcomeOf(() => parse(wrong))]).toEqual([path, 'unreadable']);
  }
});

it.each(PARSERS)(
  'given any JSON as a %s, the MoR client returns a value or throws the error `Unreadable`, and no other error',
  (name, parse) => {
    const body = wire(name);
    fc.assert(
      fc.property(fc.constantFrom(...leaves(body)), fc.jsonValue(), (path, value) => {
        outcomeOf(() => parse(replaced(body, path.split('.'), value as Json)));
      }),
      { numRuns: 200 },
    );
    fc.assert(fc.property(fc.jsonValue(), (value) => void outcomeOf(() => parse(value))));
  },
);

function outcomeOf(run: () => unknown): 'read' | 'unreadable' {
  try {
    run();
    return 'read';
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return 'unreadable';
  }
}

it('the MoR client reads a decimal as its exact text, and refuses floats, exponents and spaces', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.stringMatching(/^\d{1,12}$/), (whole, fraction) => {
      expect(parseDecimal(`${whole}.${fraction}`, 'x')).toBe(`${whole}.${fraction}`);
    }),
  );
  for (const odd of [10.1, '1e3', ' 1', '1,0', '', '.5', '5.', '+1', 'NaN', '１０'])
    expect(() => parseDecimal(odd, 'x')).toThrow(Unreadable);
});

it('the MoR client reads a time without a zone as UTC, and a number as Unix seconds', () => {
  expect(parseTime('2026-03-01T12:00:00', 'x').toISOString()).toBe('2026-03-01T12:00:00.000Z');
  expect(parseTime('2026-03-01T12:00:00+02:00', 'x').toISOString()).toBe('2026-03-01T10:00:00.000Z');
  expect(parseTime('2026-03-01', 'x').toISOString()).toBe('2026-03-01T00:00:00.000Z');
  expect(parseTime(1_772_366_400, 'x').toISOString()).toBe('2026-03-01T12:00:00.000Z');
  for (const odd of ['yesterday', '2026-13-01T00:00:00Z', -1, 1.5, '1772366400']) {
    expect(() => parseTime(odd, 'x')).toThrow(Unreadable);
  }
});

it('the MoR client refuses a refund with an amount other than an exact integer', () => {
  for (const amount of [2 ** 53, 1.5, -1, '5', null]) {
    expect(outcomeOf(() => parseRefund({ ...(wire('refund') as object), amount }))).toBe('unreadable');
  }
});

it('the MoR client accepts a refund without reason, references and time', () => {
  const { id, payment_id, amount, currency, status } = wire('refund') as Record<string, unknown>;
  expect(parseRefund({ id, payment_id, amount, currency, status })).toMatchObject({
    reason: null,
    processorRefundId: null,
    createdAt: null,
  });
});

it('the MoR client passes on undocumented tax types and jurisdiction levels of the MoR', () => {
  let body = wire('tax-calculation');
  const tax = ['lineItems', '0', 'tax'];
  const put = (value: Json, ...path: string[]): void => {
    body = replaced(body, [...tax, ...path], value);
  };
  put('ESTIMATED', 'dutyBasis');
  put('LEVY', 'charges', '0', 'kind');
  put('PROVINCE', 'charges', '0', 'jurisdictionLevel');
  put('QST', 'charges', '0', 'taxType');
  const charge = { kind: 'LEVY', jurisdictionLevel: 'PROVINCE', taxType: 'QST' };
  const line = { tax: { dutyBasis: 'ESTIMATED', charges: [charge, { kind: 'IMPORT_DUTY' }] } };
  expect(parseTaxCalculation(body)).toMatchObject({ totalAmount: '30.00', lineItems: [line] });
});

it.each([
  ['refund', parseRefund],
  ['payment-link', parsePaymentLink],
  ['e-invoice', parseEInvoice],
  ['proforma-invoice', parseProformaInvoice],
  ['application', parseApplication],
] as const)('the MoR client keeps an unknown status in a %s body, and refuses a body without status', (name, parse) => {
  const body = wire(name) as object;
  expect(parse({ ...body, status: 'under_review' })).toMatchObject({ status: 'under_review' });
  for (const status of [undefined, '', 7, 'x'.repeat(256)])
    expect(outcomeOf(() => parse({ ...body, status }))).toBe('unreadable');
});

it('the MoR client fills in a default for each optional field missing in an onboarding answer', () => {
  expect(parseInitiated({ applicationId: 'a', status: 'DRAFT' }).isExistingApplication).toBe(false);
  expect(parseApplication({ merchantId: 'm', status: 'created', requirements: {} })).toMatchObject({
    product: null,
    currentlyDue: [],
    comments: [],
  });
  expect(parseMerchantDetail({ id: 'm', reference: 'r' })).toMatchObject({ company: null, storeUrls: [] });
});

it('the MoR client translates each internal status of an onboarding application into a documented status', () => {
  expect(
    ['DRAFT', 'IN_REVIEW', 'CHANGES_REQUESTED', 'APPROVED', 'REJECTED', 'SIGNED_BY_MERCHANT'].map(statusFromRaw),
  ).toEqual(['created', 'submitted', 'changes_requested', 'approved', 'rejected', 'approved']);
  expect(statusFromRaw('SIGNED_BY_THE_SERVICE')).toBe('approved');
  expect(statusFromRaw('created')).toBeNull();
});

it('the MoR client reads webhook endpoints from an array or from the field webhooks, and prints no secret', () => {
  const { secret: _secret, ...endpoint } = wire('webhook-endpoint') as Record<string, Json>;
  expect(parseWebhookEndpointList([endpoint])).toEqual(parseWebhookEndpointList({ webhooks: [endpoint] }));
  const created = parseWebhookEndpointCreated(wire('webhook-endpoint'));
  expect(created.secret?.reveal()).toBe('whsec_example');
  expect(inspect(created) + JSON.stringify(created)).not.toContain('whsec_example');
});

it('the MoR client finds the object behind an e-invoice, such as a payment, in any field with a type and an id', () => {
  expect(parseEInvoice(wire('e-invoice')).madeFor).toMatchObject({ type: 'payment' });
  expect(parseEInvoice({ id: 'e', status: 'PENDING' }).madeFor).toBeNull();
});

it("the MoR client also reads a proforma invoice's id from the MoR's older field proformaInvoiceId", () => {
  expect(parseProformaInvoice({ proformaInvoiceId: 'p', status: 'ISSUED' })).toMatchObject({
    id: 'p',
    status: 'ISSUED',
  });
});

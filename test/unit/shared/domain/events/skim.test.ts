// The endpoint's quick look at a Stripe event says what a whole parse says: of any bytes, however they are bent.
import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type JsonObject } from '@crossbill/mor/read.js';
import { parseBody } from '../../../../../src/shared/domain/events/json-body.js';
import { skimmer } from '../../../../../src/shared/domain/events/skim.js';
import { parseStripeEvent, placeStripeEvent } from '../../../../../src/shared/domain/events/stripe-event.js';
import { same } from '../../../../support/same.js';

const folder = new URL('../../../../wire/stripe/', import.meta.url);
const wires = readdirSync(folder).map((name) => readFileSync(new URL(name, folder)));
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const place = ({ verdict, eventId, type, lane, ...rest }: ReturnType<typeof placeStripeEvent>) => ({
  verdict,
  eventId,
  type,
  lane,
  reason: 'reason' in rest ? rest.reason : null,
});
const expectTheSame = (body: Buffer): void => same(place(placeStripeEvent(body)), place(parseStripeEvent(body)));

const skim = skimmer({ id: 'value', n: 'value', data: { object: { id: 'value' } } });
const skimmed = (text: string): JsonObject | null => skim(Buffer.from(text));

it('the fast reader of Stripe events finds the wanted fields and skips all others', () => {
  expect(
    skimmed(
      ' {"x":[{"id":"no","deep":[[],{}, "\\u00e9\\n", -0.5e+3]}],"n":-1.5e2,\r\n"data":{"id":"no","object":{"é":null,"id":"in_1"}},"id":"evt"}\t',
    ),
  ).toEqual({ id: 'evt', n: -150, data: { object: { id: 'in_1' } } });
  expect(skimmed('{"id":null,"n":true,"data":{}}')).toEqual({ id: null, n: true, data: {} });
  expect(skimmed('{"n":false}')).toEqual({ n: false });
  expect(skimmed('{}')).toEqual({});
});

it.each([
  ['an array', '[]'],
  ['a byte order mark', '\ufeff{}'],
  ['a key twice', '{"a":1,"b":2,"a":3}'],
  ['a key twice in an inner object', '{"data":{"a":{"k":1,"k":1}}}'],
  ['a key twice in an array', '{"a":[{"k":1,"k":1}]}'],
  ['a key with an escape', '{"\\u0069d":"evt"}'],
  ['a wanted text with an escape', '{"id":"\\u0041"}'],
  ['a wanted text beyond ASCII', '{"id":"é"}'],
  ['an object for a plain value', '{"id":{}}'],
  ['a plain value for an object', '{"data":"x"}'],
  ['a body with too many levels', `{"a":${'['.repeat(100)}${']'.repeat(100)}}`],
])('the fast reader of Stripe events leaves %s to the full parser', (_what, text) => expect(skimmed(text)).toBeNull());

it.each(
  '{|{"|{"a|{"a"|{"a":|{"a":1|{"a":1,|{"a":1,}|{,}|{a:1}|{"a" 1}|{"a":1}}|{"a":1} x|{"a":[1,]}|{"a":[,1]}|{"a":[1 2]}|{"a":[1}|{"a":tru}|{"a":nul}|{"a":truex}|{"a":+1}|{"a":01}|{"a":1.}|{"a":.5}|{"a":-}|{"a":1e}|{"a":1e+}|{"a":0x1}|{"a":NaN}|{"a":"\\x"}|{"a":"\\u12G4"}|{"a":"\\u12"}|{"a":"\\"}|{"a":"\t"}|{"a":"\n"}|{"a":\'x\'}|{"a":1}//|{"a":\u00a01}|{"a":undefined}'
    .split('|')
    .map((text) => [text]),
)('the fast reader of Stripe events rejects the invalid JSON %j', (text) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(skimmed(text)).toBeNull();
});

it('the fast reader of Stripe events reads every number, text and literal of JSON', () => {
  for (const text of ['0', '-0', '10', '-1.25', '1e5', '1E-5', '0.0e+0', '""', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\uAbCd"']) {
    expect(skimmed(`{"other":${text}}`)).toEqual({});
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) =>
      expect(skimmed(`{"n":${String(n)}}`)).toEqual({ n: JSON.parse(String(n)) as unknown }),
    ),
  );
});

it("the fast reader of Stripe events gets the full parser's result, or leaves the body to the full parser", () => {
  const text = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.jsonValue().map((value) => JSON.stringify({ id: 'evt', n: 1, data: { object: value }, other: value }, null, 1)),
  );
  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom('', '"', '\\', '{', '}', ',', ':', ' ', '0', '\0'), (json, at, put) => {
      // As it is, and with one character replaced: mostly no JSON any more.
      const place = at % (json.length + 1);
      for (const variant of [json, json.slice(0, place) + put + json.slice(place + 1)]) {
        const body = Buffer.from(variant);
        const found = skim(body);
        if (found === null) continue;
        const whole = parseBody(body);
        if (!whole.ok) throw new Error(`taken: ${variant}`);
        same(found['id'], whole.value['id']);
        same(found['n'], whole.value['n']);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('the fast reader gets the same result as the full parser for each example event of Stripe', () => {
  expect(wires.length).toBeGreaterThan(10);
  for (const body of wires) {
    expectTheSame(body);
    expectTheSame(bytes(JSON.parse(body.toString()))); // without its line ends
  }
});

it('the fast reader reads all example events of Stripe without the full parser', () => {
  for (const body of wires) expect(skim(body)).not.toBeNull();
});

const members = ['object', 'id', 'customer', 'created', 'status', 'currency', 'amount_due', 'amount_paid'].concat(
  ['amount_remaining', 'total', 'livemode', 'parent', 'subscription', 'billing_reason', 'last_finalization_error'],
  ['collection_method', 'automatically_finalizes_at', '__proto__', 'constructor', 'deleted'],
);
const roots = ['id', 'type', 'created', 'createdAt', 'livemode', 'account', 'api_version', 'data', 'object'];
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    '',
    '\0',
    'é',
    '日本',
    '\ud800',
    'x'.repeat(256),
    'in_1',
    0,
    -1,
    1.5,
    2 ** 53,
    null,
    {},
    [],
    '"',
  ),
  fc.record({ id: fc.constantFrom<unknown>('cus_1', '', 7, 'é') }),
  fc.constant(undefined),
);

it('the fast reader gets the same result as the full parser for an event with any changed field', () => {
  fc.assert(
    fc.property(
      fc.nat(wires.length - 1),
      fc.array(fc.tuple(fc.constantFrom(...members), odd), { maxLength: 2 }),
      fc.array(fc.tuple(fc.constantFrom(...roots), odd), { maxLength: 1 }),
      (which, inObject, inRoot) => {
        const event = JSON.parse((wires[which] ?? Buffer.alloc(0)).toString()) as { data: { object: object } };
        for (const [name, value] of inObject) {
          Object.defineProperty(event.data.object, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        }
        for (const [name, value] of inRoot) {
          Object.defineProperty(event, name, { value, enumerable: true, configurable: true, writable: true });
        }
        expectTheSame(bytes(event));
      },
    ),
    { numRuns: 1_000 },
  );
});

it('the fast reader gets the same result as the full parser for an event with any changed bytes', () => {
  const token = fc.constantFrom(
    '"',
    '\\',
    '\\u0069',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '1',
    'null',
    '"id":"evt_2",',
    '\t',
    '\0',
    '\xff',
    '',
  );
  fc.assert(
    fc.property(fc.nat(wires.length - 1), fc.nat(), fc.nat(3), token, (which, at, cut, put) => {
      const body = wires[which] ?? Buffer.alloc(0);
      const place = at % (body.length + 1);
      expectTheSame(Buffer.concat([body.subarray(0, place), Buffer.from(put, 'latin1'), body.subarray(place + cut)]));
    }),
    { numRuns: 1_000 },
  );
});

it('the fast reader agrees with the full parser on 10,000 nested levels and on two keys with the same hash', () => {
  expectTheSame(Buffer.from(`{"id":"e","type":"t","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`));
  expectTheSame(Buffer.from('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)));
  // "Aa" and "BB" have one hash: in doubt, and usable all the same.
  const [body] = wires;
  const text = (body ?? Buffer.alloc(0)).toString();
  for (const keys of ['"Aa":1,"BB":2,', '"Aa":1,"Aa":2,', '"ie":1,', '"jF":1,']) {
    expectTheSame(Buffer.from(text.replace('{', `{${keys}`)));
  }
});

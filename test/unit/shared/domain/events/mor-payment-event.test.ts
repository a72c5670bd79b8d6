// Events: what becomes typed facts, what is ignored, and what a person must look at.
import { expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { bodyId } from '../../../../../src/shared/domain/events/envelope.js';
import { timeOf } from '@crossbill/mor/read.js';
import { parseMorPaymentEvent } from '../../../../../src/shared/domain/events/mor-payment-event.js';
import { SERVICE_READERS } from '../../../../../src/core/mor-objects/event-rows.js';
import { idsIn, parseMorServiceEvent } from '../../../../../src/shared/domain/events/mor-service-event.js';
import { parseStripeEvent } from '../../../../../src/shared/domain/events/stripe-event.js';
import { same } from '../../../../support/same.js';

type Json = { [key: string]: Json } & object;
const wire = (path: string): Buffer => readFileSync(new URL(`../../../../wire/${path}`, import.meta.url));
const json = (path: string): Json => JSON.parse(wire(path).toString()) as Json;
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const parsers = [parseStripeEvent, parseMorPaymentEvent, (body: Buffer) => parseMorServiceEvent(body, SERVICE_READERS)];

/** The event with one member of its object replaced; undefined removes it. */
function changed(path: string, member: string, value: unknown, at: 'root' | 'object' | 'data' = 'object'): Buffer {
  const event = json(path);
  const holder = at === 'root' ? event : at === 'data' ? event['data'] : event['data']?.['object'];
  Object.assign(holder ?? {}, { [member]: value });
  return bytes(event);
}

const at = (name: string): string => `mor-events/payment.${name}.json`;

it('Crossbill reads the amounts, ids and decline code of each type of payment event', () => {
  expect(parseMorPaymentEvent(wire(at('succeeded')))).toMatchObject({
    usability: 'usable',
    lane: 'in_1Fern0003',
    event: { kind: 'payment.succeeded', amount: { minor: 4999n, currency: 'GBP' }, processorChargeId: 'ch_fern3' },
  });
  expect(parseMorPaymentEvent(wire(at('failed')))).toMatchObject({
    event: { processorChargeId: null, declineCode: 'insufficient_funds', failureMessage: 'The card was declined.' },
  });
  expect(parseMorPaymentEvent(wire(at('requires_action')))).toMatchObject({ event: { declineCode: null } });
  expect(parseMorPaymentEvent(wire(at('refunded')))).toMatchObject({
    event: {
      amount: { minor: 1000n },
      morRefundId: 'rfnd_fern1',
      processorRefundId: 're_fern1',
      refundedTotal: 1500n,
    },
  });
});

it.each([
  'payment_id',
  'merchant_invoice_id',
  'merchant_customer_id',
  'processor_charge_id',
  'processor_payment_intent_id',
])('Crossbill cannot use a payment event without a valid %s', (member) => {
  for (const name of ['succeeded', 'failed', 'requires_action', 'refunded']) {
    for (const value of [undefined, null, '', 7, 'x'.repeat(256), 'a\0b', '\ud800']) {
      if ((value ?? '') === '' && member === 'processor_charge_id') continue; // see below
      const mayLack = name === 'refunded' && ['merchant_invoice_id', 'merchant_customer_id'].includes(member);
      if ((value ?? '') === '' && mayLack) continue; // see below
      expect(parseMorPaymentEvent(changed(at(name), member, value)).usability).toBe('unusable');
    }
  }
});

it.each(['mor:pay_fern3', 'event:stripe:evt_1'])(
  'Crossbill cannot use a payment event if its invoice id looks like the id of a lane without an invoice: %s',
  (name) => {
    for (const type of ['succeeded', 'failed', 'requires_action', 'refunded']) {
      expect(parseMorPaymentEvent(changed(at(type), 'merchant_invoice_id', name))).toMatchObject({
        usability: 'unusable',
        lane: expect.stringMatching(/^event:mor_payments:/),
        reason: 'merchant_invoice_id is missing or not an invoice id',
      });
    }
  },
);

it.each([undefined, null, ''])(
  'Crossbill puts a refund event without an invoice id (%j) into the lane of its payment',
  (value) => {
    const paymentId = 'pay_fern3';
    expect(parseMorPaymentEvent(changed(at('refunded'), 'merchant_invoice_id', value))).toMatchObject({
      usability: 'usable',
      lane: `mor:${paymentId}`,
      event: { invoiceId: null, paymentId },
    });
  },
);

it.each([undefined, null, ''])('Crossbill accepts a refund event without a customer id (%j)', (value) => {
  expect(parseMorPaymentEvent(changed(at('refunded'), 'merchant_customer_id', value))).toMatchObject({
    usability: 'usable',
    event: { customerId: '' },
  });
});

it.each(['', null, undefined])(
  'Crossbill accepts a payment event without a charge id (%j) only if nothing was charged',
  (value) => {
    const outcome = (name: string) => parseMorPaymentEvent(changed(at(name), 'processor_charge_id', value)).usability;
    expect(['succeeded', 'failed', 'requires_action', 'refunded'].map(outcome)).toEqual([
      'unusable',
      'usable',
      'usable',
      'unusable',
    ]);
  },
);

it.each([0, -1, 1.5, '100', '1e3', 2 ** 53, null, undefined, true, [5], NaN])(
  'Crossbill cannot use a payment event with the amount %j',
  (amount) => {
    expect(parseMorPaymentEvent(changed(at('succeeded'), 'amount', amount)).usability).toBe('unusable');
  },
);

it('Crossbill reads the currency of a payment event in upper or lower case', () => {
  expect(parseMorPaymentEvent(changed(at('succeeded'), 'currency', 'GbP'))).toMatchObject({
    event: { amount: { currency: 'GBP' } },
  });
  expect(parseMorPaymentEvent(changed(at('succeeded'), 'currency', 'pound')).usability).toBe('unusable');
});

it('Crossbill accepts a payment event only with a status that fits the event type', () => {
  const fitting: Record<string, readonly string[]> = {
    succeeded: ['succeeded'],
    failed: ['failed'],
    requires_action: ['requires_action'],
    refunded: ['partially_refunded', 'refunded'],
  };
  const all = ['succeeded', 'failed', 'requires_action', 'partially_refunded', 'refunded', 'processing', '', null];
  for (const [name, own] of Object.entries(fitting)) {
    const taken = all.filter(
      (status) => parseMorPaymentEvent(changed(at(name), 'status', status)).usability === 'usable',
    );
    expect(taken).toEqual(own);
  }
});

it('Crossbill needs a refund id or a running total in a refund event', () => {
  const without = (...members: string[]) => {
    const event = json(at('refunded'));
    for (const member of members) delete event['data']?.['object']?.[member];
    return parseMorPaymentEvent(bytes(event)).usability;
  };
  expect(without('refund_id')).toBe('usable');
  expect(without('processor_refund_id')).toBe('usable');
  expect(without('refund_id', 'processor_refund_id')).toBe('usable');
  expect(without('refund_id', 'processor_refund_id', 'amount_refunded_total')).toBe('unusable');
  expect(without('amount_refunded_total', 'reason')).toBe('usable');
  expect(parseMorPaymentEvent(changed(at('refunded'), 'amount_refunded_total', '1500')).usability).toBe('unusable');
  expect(parseMorPaymentEvent(changed(at('refunded'), 'processor_refund_id', 5)).usability).toBe('unusable');
});

/** The event's time, or the verdict on an event without a usable time. */
function dated(times: object): Date | string | null {
  const { created: _created, ...rest } = json(at('succeeded')) as unknown as Record<string, unknown>;
  const parsed = parseMorPaymentEvent(bytes({ ...rest, ...times }));
  return parsed.usability === 'usable' ? parsed.event.createdAt : parsed.usability;
}

it('Crossbill reads the time of a payment event as Unix seconds or as ISO text', () => {
  const second = new Date('2026-11-07T00:00:30Z');
  expect(dated({ created: 1794009630 })).toEqual(second);
  expect(dated({ created: '2026-11-07T00:00:30Z' })).toEqual(second);
  expect(dated({ createdAt: '2026-11-07T01:00:30.000+01:00' })).toEqual(second);
  expect(dated({})).toBeNull(); // the delivery's own time stands in for it
  expect([dated({ created: 1.5 }), dated({ created: 'now' }), dated({ created: 1e15 })]).toEqual(
    Array(3).fill('unusable'),
  );
});

it.each(['0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '1970-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
  'Crossbill refuses the event time %s: Stripe takes none before 1970, and the database none after 9999',
  (text) => {
    expect(timeOf(text)).toBeNull();
    expect([dated({ created: text }), dated({ created: -1 })]).toEqual(['unusable', 'unusable']);
    expect(timeOf('1970-01-01T00:00:00Z')?.toISOString()).toBe('1970-01-01T00:00:00.000Z');
    expect(timeOf('9999-12-31T23:59:59Z')?.toISOString()).toBe('9999-12-31T23:59:59.000Z');
  },
);

it('Crossbill ignores a payment event of an unused type', () => {
  for (const type of ['payment.settled', 'report.available', 'payment.captured', 'payment.disputed', '__proto__']) {
    expect(parseMorPaymentEvent(bytes({ id: 'e', type })).usability).toBe('ignored');
  }
});

it('Crossbill masks card numbers in the failure message of a payment event', () => {
  const body = changed(at('failed'), 'failure_message', 'card 4242 4242 4242 4242 declined, ticket 1234567890123\0');
  expect(parseMorPaymentEvent(body)).toMatchObject({
    event: { failureMessage: 'card [masked] declined, ticket 1234567890123\uFFFD' },
  });
});

const proforma = '6d7c2a54-0f3e-4b1c-9a7e-2f5b1c0d9e11';

it.each(
  readdirSync(new URL('../../../../wire/mor-events', import.meta.url)).filter((name) => !/payment\.[fsr]/.test(name)),
)('Crossbill reads the MoR’s example event %s', (name) => {
  expect(parseMorServiceEvent(wire(`mor-events/${name}`), SERVICE_READERS)).toMatchObject({
    usability: 'usable',
    type: name.slice(0, -5),
  });
});

it('Crossbill puts all events about one proforma invoice into one lane, each with its own event id', () => {
  const parsed = ['issued', 'issuance_failed', 'settled'].map((name) =>
    parseMorServiceEvent(wire(`mor-events/proforma_invoice.${name}.json`), SERVICE_READERS),
  );
  expect(new Set(parsed.map((one) => one.lane))).toEqual(new Set([`mor:${proforma}`]));
  expect(new Set(parsed.map((one) => one.eventId)).size).toBe(3);
});

const settled = 'mor-events/proforma_invoice.settled.json';
it('Crossbill reads the exact amounts of a settled proforma invoice', () => {
  expect(parseMorServiceEvent(wire(settled), SERVICE_READERS)).toMatchObject({
    event: {
      total: { minor: 119050n, currency: 'EUR' },
      amountReceived: { minor: 119050n, currency: 'EUR' },
      settledAt: new Date('2026-11-07T00:00:00Z'),
      recipientName: 'Moss & Partner KG',
    },
  });
});

it.each(['1190.505', '1e3', '-1', '0', '', ' 1', '1,000.00', 1190.5, null])(
  'Crossbill cannot use a settled proforma invoice with the amount %j',
  (amount) => {
    const body = changed(settled, 'amountReceived', { amount, currency: 'EUR' }, 'data');
    expect(parseMorServiceEvent(body, SERVICE_READERS).usability).toBe('unusable');
  },
);

it('Crossbill cannot use a settled proforma invoice without a valid id, status or time', () => {
  for (const [member, value] of [
    ['proformaInvoiceId', undefined],
    ['status', 'PAID'],
    ['settledAt', 'soon'],
  ] as const) {
    expect(parseMorServiceEvent(changed(settled, member, value, 'data'), SERVICE_READERS).usability).toBe('unusable');
  }
});

it('Crossbill finds every id in the data of an event from the MoR, at any depth', () => {
  const parsed = parseMorServiceEvent(wire('mor-events/payment.captured.json'), SERVICE_READERS);
  if (parsed.usability !== 'usable') throw new Error(parsed.reason);
  expect(idsIn(parsed.event.data)).toEqual(
    expect.arrayContaining(['pay_fern9', 'ch_fern9', parsed.event.paymentLinkId]),
  );
});

it('Crossbill ignores unknown event types, and types documented but never sent by the MoR', () => {
  for (const type of ['payment.settled', 'report.available', 'dispute.closed', 'toString']) {
    expect(parseMorServiceEvent(bytes({ id: 'e', type, data: {} }), SERVICE_READERS).usability).toBe('ignored');
  }
});

const good = wire('mor-events/payment.succeeded.json');
const text = good.toString();
it.each<[string, Buffer]>([
  ['of no bytes', Buffer.alloc(0)],
  ['cut off in the middle', good.subarray(0, 100)],
  ['of a top-level array', Buffer.from('[]')],
  ['of null', Buffer.from('null')],
  ['of a number', Buffer.from('7')],
  ['with a byte order mark', Buffer.from(`\uFEFF${text}`)],
  ['in UTF-16', Buffer.from(text, 'utf16le')],
  ['compressed by gzip', gzipSync(good)],
  ['with a byte that is not UTF-8', Buffer.concat([good.subarray(0, 12), Buffer.from([0xff]), good.subarray(12)])],
  [
    'of 10,000 levels of arrays',
    Buffer.from(`{"id":"e","type":"t","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
  ],
  ['of 10,000 levels of objects', Buffer.from('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000))],
  ['with two ids', Buffer.from(text.replace('{', '{"id":"evt_other",'))],
  ['with two ids, one spelled with an escape', Buffer.from(text.replace('{', '{"\\u0069d" : "evt_other",'))],
  ['with two types', Buffer.from(text.replace('{', '{"type":"payment.failed",'))],
  ['with two data', Buffer.from(text.replace('{', '{"data":{},'))],
  ['with two amounts', Buffer.from(text.replace('"amount"', '"amount": 1, "amount"'))],
  ['without an id', bytes({ type: 'payment.succeeded' })],
  ['with an empty id', bytes({ id: '', type: 'payment.succeeded' })],
  ['with a number as id', bytes({ id: 5, type: 'payment.succeeded' })],
  ['with an id of 256 characters', bytes({ id: 'x'.repeat(256), type: 'payment.succeeded' })],
  ['with NUL in its id', bytes({ id: 'a\0', type: 'payment.succeeded' })],
])('Crossbill cannot use a webhook body %s, and derives the event id from the bytes of the body', (_name, body) => {
  for (const parse of parsers) {
    expect(parse(body)).toMatchObject({ usability: 'unusable', eventId: bodyId(body) });
  }
});

it('Crossbill keeps the event id of a webhook body without a valid type', () => {
  for (const type of [undefined, null, '', 5, 'x'.repeat(256)]) {
    expect(parseStripeEvent(bytes({ id: 'evt_1', type }))).toMatchObject({
      usability: 'unusable',
      eventId: 'evt_1',
      type: '',
    });
  }
});

it('Crossbill accepts an event id with quotes or line ends, and of up to 255 characters', () => {
  for (const id of ['x'.repeat(255), `"';--\r\n\u001b[31m `, '日本', ' EVT ']) {
    expect(parseStripeEvent(bytes({ id, type: 'x.y' })).eventId).toBe(id);
  }
});

it('Crossbill reads a body with a key repeated in two objects, odd whitespace and huge unused numbers', () => {
  const body = Buffer.from(
    text.replace('"data": {', '\r\n\t"other": {"id": 1152921504606846976, "type": "\\"id\\":"}, "data": {'),
  );
  expect(parseMorPaymentEvent(body).usability).toBe('usable');
});

it('Crossbill reads a body with __proto__ and constructor without any change to other objects', () => {
  const body = Buffer.from(
    text.replace('"object": {', '"object": {"__proto__": {"amount": 1}, "constructor": {"prototype": {"x": 1}},'),
  );
  expect(parseMorPaymentEvent(body)).toMatchObject({ usability: 'usable', event: { amount: { minor: 4999n } } });
  const inherited = Buffer.from('{"__proto__": {"id": "evt_1", "type": "payment.succeeded"}}');
  expect(parseMorPaymentEvent(inherited).usability).toBe('unusable');
  expect(({} as Record<string, unknown>)['x']).toBeUndefined();
});

it('Crossbill reads a body with 100,000 keys', () => {
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]));
  expect(parseStripeEvent(bytes({ id: 'evt_1', type: 'x.y', ...many })).usability).toBe('ignored');
});

it('Crossbill judges every webhook body as usable, unusable or ignored, and never throws', () => {
  const event = fc.record(
    {
      id: fc.oneof(fc.string(), fc.jsonValue()),
      type: fc.constantFrom(
        'payment.succeeded',
        'payment.refunded',
        'invoice.created',
        'proforma_invoice.settled',
        'x',
      ),
      created: fc.jsonValue(),
      data: fc.oneof(fc.jsonValue(), fc.record({ object: fc.jsonValue() })),
    },
    { requiredKeys: [] },
  );
  const anyBody = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
    fc.string().map((raw) => Buffer.from(raw)),
    fc.jsonValue().map(bytes),
    event.map(bytes),
  );
  fc.assert(
    fc.property(anyBody, (body) => {
      for (const parse of parsers) same(['usable', 'ignored', 'unusable'].includes(parse(body).usability), true);
    }),
    { numRuns: 2_000 },
  );
});

it('the order of the keys in an event does not change how Crossbill reads the event', () => {
  const shuffled = (value: unknown, order: (keys: string[]) => string[]): unknown =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(
          order(Object.keys(value)).map((k) => [k, shuffled((value as Record<string, unknown>)[k], order)]),
        );
  for (const [path, parse] of [
    ['stripe/invoice.created.2026-10-28.endive.json', parseStripeEvent],
    ['mor-events/payment.refunded.json', parseMorPaymentEvent],
  ] as const) {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat()), (stream) => {
        const rank = new Map<string, number>();
        const order = (keys: string[]) => {
          for (const key of keys) if (!rank.has(key)) rank.set(key, stream.next().value as number);
          return keys.sort((a, b) => (rank.get(a) ?? 0) - (rank.get(b) ?? 0));
        };
        expect(parse(bytes(shuffled(json(path), order)))).toEqual(parse(wire(path)));
      }),
      { numRuns: 50 },
    );
  }
});

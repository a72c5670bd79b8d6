// What an event or an invoice of Stripe says besides its amounts.
import { expect, it } from '@jest/globals';
import { amountIn } from '../../../../../src/shared/domain/events/payload-fields.js';
import { textOf, timeOf } from '@crossbill/mor/read.js';
import { freeText } from '../../../../../src/shared/masks/card-numbers.js';
import { parseBody } from '../../../../../src/shared/domain/events/json-body.js';
import { parseInvoice, parseStripeEvent } from '../../../../../src/shared/domain/events/stripe-event.js';
import { reported } from '../../../../support/builders/reported.js';
import { SERVICE_READERS } from '../../../../../src/core/mor-objects/event-rows.js';
import { parseMorServiceEvent } from '../../../../../src/shared/domain/events/mor-service-event.js';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const base = { id: 'in_1', object: 'invoice', customer: 'cus_1', status: 'open', currency: 'eur', amount_due: 2990 };
const read = (over: object) => {
  const parsed = parseInvoice({ ...base, ...over });
  return parsed.ok ? parsed.invoice : parsed.problem;
};

it('Crossbill reads a customer’s country only as two capital letters', () => {
  const country = (text: unknown) => read({ customer_address: { country: text } });
  expect(country('AT')).toMatchObject({ customerCountry: 'AT' });
  for (const text of ['Austria', 'at', 'AUT', 'xAT', null, 7])
    expect(country(text)).toMatchObject({ customerCountry: null });
});

it('Crossbill reads auto_advance and the invoice’s own payment method, if Stripe sends them', () => {
  expect(read({ auto_advance: false, default_payment_method: 'pm_1', default_source: 'src_1' })).toMatchObject({
    ...{ autoAdvance: false, ownMethodId: 'pm_1' },
  });
  expect(read({ auto_advance: 'no', default_source: 'src_1' })).toMatchObject({ ownMethodId: 'src_1' });
  const plain = read({ auto_advance: 'no' });
  expect([Object.keys(plain).includes('autoAdvance'), Object.keys(plain).includes('ownMethodId')]).toEqual([
    false,
    false,
  ]);
});

it('Crossbill reads only text values of the subscription’s metadata', () => {
  const metadata = { mor: 'yes', n: 7 };
  expect(read({ parent: { subscription_details: { metadata } } })).toMatchObject({ metadata: { mor: 'yes' } });
  expect(read({ subscription_details: { metadata } })).toMatchObject({ metadata: { mor: 'yes' } });
  for (const over of [{}, { subscription_details: { metadata: {} } }, { subscription_details: { metadata: 'x' } }])
    expect(Object.keys(read(over))).not.toContain('metadata');
});

it('Crossbill reads a deleted invoice without a status, and leaves amount_overpaid unknown if Stripe does not send it', () => {
  const { status, ...gone } = base;
  expect(parseInvoice({ ...gone, deleted: true })).toMatchObject({ ok: true, invoice: { status: 'deleted' } });
  expect(parseInvoice(gone)).toMatchObject({ ok: false, problem: 'status is missing or not a known one' });
  expect(parseInvoice({ ...base, deleted: false })).toMatchObject({ ok: true, invoice: { status } });
  expect(read({ amount_overpaid: 100 })).toMatchObject({ amountOverpaid: 100n });
  expect(read({})).toMatchObject({ amountOverpaid: null, amountRemaining: 2990n });
  expect(read({ amount_paid: 990 })).toMatchObject({ amountPaid: 990n, amountRemaining: 2000n });
});

it('Crossbill dates a Stripe event without a time by the creation time of its invoice', () => {
  const event = (over: object, type = 'invoice.created') =>
    parseStripeEvent(
      bytes({ id: 'evt_1', object: 'event', type, data: { object: { ...base, created: 1_000 } }, ...over }),
    );
  expect(event({ created: 2_000, livemode: true })).toMatchObject({
    event: { createdAt: new Date(2_000_000), livemode: true, invoice: { finalizationError: null } },
  });
  expect(event({ livemode: 'x' })).toMatchObject({ event: { createdAt: new Date(1_000_000), livemode: null } });
  expect(event({}, 'invoice.finalization_failed')).toMatchObject({
    event: { invoice: { finalizationError: 'no reason given' } },
  });
});

it.each(['2026-1125-00007', 'INV-20261125-00007', '4111-2026-0001-1118', '4242 4242 4242 4242'])(
  'Crossbill keeps the invoice number %s, although it looks like a card number',
  (number) => {
    expect(textOf(number)).toBe(number);
    expect([textOf(''), textOf(7), textOf('a\0')]).toEqual([null, null, 'a\uFFFD']);
  },
);

it('Crossbill finds the successor of a voided invoice in latest_revision (files 13-* of test/wire/reported)', () => {
  const facts = { invoice: { latestRevision: 'in_revnew1', status: 'void' } };
  expect(parseStripeEvent(Buffer.from(reported('13-2-voided')))).toMatchObject({ event: facts });
  expect(parseInvoice(JSON.parse(reported('13-invoice-at-stripe')))).toMatchObject(facts);
});

it.each([1, 2, 3])(
  'Crossbill reads the invoice number of the reported event 03-number-%i, although it looks like a card number',
  (n) => {
    const text = reported(`03-number-${n}`);
    const { data } = JSON.parse(text) as { data: { object: { number: string } } };
    expect(parseStripeEvent(Buffer.from(text))).toMatchObject({ event: { invoice: { number: data.object.number } } });
  },
);

it('Crossbill cuts free text to 5,000 characters and masks card numbers, but no other numbers', () => {
  expect(freeText('x'.repeat(5_001))).toHaveLength(5_000);
  expect([freeText(''), freeText(7)]).toEqual([null, null]);
  expect(freeText('card 4242 4242 4242 4242, ref 4242424242424241')).toBe('card [masked], ref 4242424242424241');
  expect([freeText('5555555555554444'), freeText('378282246310005')]).toEqual(['[masked]', '[masked]']);
});

it('Crossbill reads only whole Unix seconds from 0 as a time, and refuses fractions, negative numbers and lists', () => {
  expect([timeOf(0), timeOf(-1), timeOf(1.5), timeOf(['2027-07-01T00:00:00Z'])]).toEqual([
    new Date(0),
    null,
    null,
    null,
  ]);
});

it('Crossbill cannot use an event with an amount of zero or a fraction of the smallest currency unit', () => {
  expect(amountIn({ amount: { amount: '0.01', currency: 'EUR' } })?.minor).toBe(1n);
  const settled = (amount: string) => {
    const money = { amount, currency: 'EUR' };
    const data = { proformaInvoiceId: 'pf_1', status: 'SETTLED', settledAt: '2027-07-01T00:00:00Z' };
    const event = {
      id: 'evt_1',
      type: 'proforma_invoice.settled',
      data: { ...data, total: money, amountReceived: money },
    };
    return parseMorServiceEvent(bytes(event), SERVICE_READERS).usability;
  };
  expect([settled('0.01'), settled('0.00'), settled('0.001')]).toEqual(['usable', 'unusable', 'unusable']);
});

it('Crossbill names the reason for an unreadable webhook body', () => {
  const why = (text: string) => {
    const parsed = parseBody(Buffer.from(text));
    return parsed.ok ? 'read' : parsed.reason;
  };
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  expect([why(''), why('{'), why('7'), why('{"a":1,"a" \t\r\n:2}'), why(nested(100)), why(nested(101))]).toEqual([
    ...['the body is empty', 'the body is not JSON', 'the body is not a JSON object', 'a key appears twice', 'read'],
    'the body nests deeper than 100 levels',
  ]);
  expect([why('{"a":{"b":{"c":{"d":1,"d":2}}}}'), why('{"a":{"b":{"c":1,"c":2}}}')]).toEqual([
    'read',
    'a key appears twice',
  ]);
  expect([why('{"a\\"":1,"a":2}'), why('{"\\u0061":1,"a":2}')]).toEqual(['read', 'a key appears twice']);
});

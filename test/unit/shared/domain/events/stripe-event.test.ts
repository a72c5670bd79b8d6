// Stripe events and invoices of four API generations: what becomes typed facts and what cannot be used.
import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { parseInvoice, parseStripeEvent } from '../../../../../src/shared/domain/events/stripe-event.js';
import { reported } from '../../../../support/builders/reported.js';

type Json = { [key: string]: Json } & object;
const wire = (path: string): Buffer => readFileSync(new URL(`../../../../wire/${path}`, import.meta.url));
const json = (path: string): Json => JSON.parse(wire(path).toString()) as Json;
const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** The event with one member of its object replaced; undefined removes it. */
function changed(path: string, member: string, value: unknown, at: 'root' | 'object' | 'data' = 'object'): Buffer {
  const event = json(path);
  const holder = at === 'root' ? event : at === 'data' ? event['data'] : event['data']?.['object'];
  Object.assign(holder ?? {}, { [member]: value });
  return bytes(event);
}

it.each([
  ['invoice.created.2020-03-02', 'draft', 1200n, 'USD', 'sub_Fern1'],
  ['invoice.paid.2020-03-02', 'paid', 1200n, 'USD', 'sub_Fern1'],
  ['invoice.created.2025-02-24.acacia', 'draft', 2350n, 'EUR', 'sub_Fern2'],
  ['invoice.voided.2025-02-24.acacia', 'void', 2350n, 'EUR', 'sub_Fern2'],
  ['invoice.created.2025-08-27.basil', 'draft', 4999n, 'GBP', 'sub_Fern3'],
  ['invoice.created.2026-10-28.endive', 'draft', 1800n, 'JPY', 'sub_Fern6'],
  ['invoice.finalized.2026-10-28.endive', 'open', 1800n, 'JPY', 'sub_Fern6'],
  ['invoice.payment_attempt_required.2026-10-28.endive', 'open', 1800n, 'JPY', 'sub_Fern6'],
  ['invoice.marked_uncollectible.2026-10-28.endive', 'uncollectible', 12500n, 'KWD', 'sub_Fern7'],
])(
  "Crossbill reads the status, amount, currency and subscription of Stripe's example event %s",
  (file, status, amountDue, currency, subscriptionId) => {
    const parsed = parseStripeEvent(wire(`stripe/${file}.json`));
    if (parsed.usability !== 'usable') throw new Error(parsed.reason);
    const { invoice } = parsed.event;
    expect(invoice).toMatchObject({ status, amountDue, currency, subscriptionId, billingReason: 'subscription_cycle' });
    expect(parsed.lane).toBe(invoice.invoiceId);
    expect(parsed.event).toMatchObject({ kind: parsed.type, eventId: parsed.eventId, livemode: false, accounts: [] });
  },
);

it.each(['mor:pay_1', 'event:stripe:evt_1'])(
  'Crossbill cannot use a Stripe event if its invoice id looks like the id of a lane without an invoice: %s',
  (name) => {
    const parsed = parseStripeEvent(changed('stripe/invoice.created.2026-10-28.endive.json', 'id', name));
    expect(parsed).toMatchObject({ usability: 'unusable', reason: 'id is missing or not an invoice id' });
  },
);

it('Crossbill reads the planned finalization time of a draft, and the reason of a failed finalization', () => {
  const created = parseStripeEvent(wire('stripe/invoice.created.2025-08-27.basil.json'));
  const failed = parseStripeEvent(wire('stripe/invoice.finalization_failed.2025-08-27.basil.json'));
  if (created.usability !== 'usable' || failed.usability !== 'usable') throw new Error('not read');
  expect(created.event.invoice.finalizesAt).toEqual(new Date((1794009600 + 3600) * 1_000));
  expect(created.event.invoice.finalizationError).toBeNull();
  expect(failed.event.invoice.finalizationError).toBe('The customer has no usable location.');
});

it('Crossbill ignores a Stripe event of an unused type with any content', () => {
  expect(parseStripeEvent(wire('stripe/customer.updated.2026-10-28.endive.json')).usability).toBe('ignored');
  for (const type of ['invoice.upcoming', 'invoice.sent', 'invoice.payment_succeeded', 'invoice', 'constructor']) {
    expect(parseStripeEvent(bytes({ id: 'evt_1', type }))).toMatchObject({
      usability: 'ignored',
      eventId: 'evt_1',
      type,
    });
  }
});

it('Crossbill cannot use a thin Stripe event of an invoice, and ignores other thin events', () => {
  const thin = (type: string): Buffer =>
    bytes({ id: 'evt_1', object: 'v2.core.event', type, related_object: { id: 'in_1', type: 'invoice' } });
  for (const type of ['v1.invoice.created', 'v1.invoice.finalized', 'v1.invoice.deleted']) {
    const parsed = parseStripeEvent(thin(type));
    expect(parsed).toMatchObject({
      usability: 'unusable',
      reason: expect.stringContaining('payload style to snapshot'),
    });
  }
  expect(parseStripeEvent(thin('v1.customer.created')).usability).toBe('ignored');
  expect(parseStripeEvent(thin('v2.core.event_destination.ping')).usability).toBe('ignored');
});

const basil = 'stripe/invoice.created.2025-08-27.basil.json';
it.each([
  ['customer', null],
  ['customer', ''],
  ['customer', { object: 'customer' }],
  ['status', 7],
  ['status', 'frozen'],
  ['amount_due', undefined],
  ['amount_due', '4999'],
  ['amount_due', 49.99],
  ['amount_due', 2 ** 53],
  ['amount_due', -1],
  ['total', '4999'],
  ['currency', 'euro'],
  ['created', 'yesterday'],
  ['object', 'charge'],
  ['id', 'x'.repeat(256)],
])('Crossbill cannot use a Stripe event with %s as %j, and keeps its event id', (member, value) => {
  expect(parseStripeEvent(changed(basil, member, value))).toMatchObject({
    usability: 'unusable',
    eventId: 'evt_1FernBasA',
  });
});

it('Crossbill reads a Stripe event with the customer and subscription as objects, and with unknown fields', () => {
  const event = json(basil);
  Object.assign(event['data']?.['object'] ?? {}, {
    customer: { id: 'cus_X', deleted: true },
    brand_new: [1, { a: null }],
  });
  Object.assign(event['data']?.['object']?.['parent']?.['subscription_details'] ?? {}, {
    subscription: { id: 'sub_X' },
  });
  expect(parseStripeEvent(bytes(event))).toMatchObject({
    usability: 'usable',
    event: { invoice: { customerId: 'cus_X', subscriptionId: 'sub_X' } },
  });
});

it('Crossbill reads an invoice.deleted event as deleted under any invoice status', () => {
  const body = Buffer.from(wire(basil).toString().replace('"invoice.created"', '"invoice.deleted"'));
  expect(parseStripeEvent(body)).toMatchObject({ usability: 'usable', event: { invoice: { status: 'deleted' } } });
});

it.each([
  ['no word about credit notes', {}, { olderDebt: 0n }],
  ['credit notes before and after the payment', credits(500, 300), { amountCredited: 800n, olderDebt: 500n }],
  [
    'credit notes that lowered the amount due',
    { amount_due: 1500, ...credits(500) },
    { amountCredited: 500n, olderDebt: 0n },
  ],
  ['an older debt', { amount_due: 2500 }, { olderDebt: 500n }],
  ['an older debt and credit notes', { amount_due: 2200, ...credits(300) }, { amountCredited: 300n, olderDebt: 500n }],
  [
    'a part paid by the customer’s balance',
    { amount_due: 1500, ...credits(0, 0) },
    { amountCredited: 0n, olderDebt: 0n },
  ],
  ['a total below zero', { amount_due: 0, total: -700 }, { olderDebt: 0n }],
  ['no total', { total: undefined, ...credits(500) }, { olderDebt: 0n }],
])('of an invoice with %s, Crossbill reads the credit notes and the older debt', (_, over, read) => {
  const least = { id: 'in_1', customer: 'cus_1', currency: 'eur', status: 'paid', amount_due: 2000, total: 2000 };
  expect(parseInvoice({ ...least, ...over })).toMatchObject({ ok: true, invoice: read });
  const { invoice } = parseInvoice({ ...least, ...over }) as { invoice: object };
  expect('amountCredited' in invoice).toBe('amountCredited' in read || 'pre_payment_credit_notes_amount' in over);
});

function credits(pre: number, post?: number): object {
  const before = { pre_payment_credit_notes_amount: pre };
  return post === undefined ? before : { ...before, post_payment_credit_notes_amount: post };
}

it('Crossbill needs only the id, customer, amount due and currency of an invoice in a Stripe event', () => {
  const object = { id: 'in_1', customer: 'cus_1', amount_due: 2990, currency: 'EUR' };
  const least = { id: 'evt_1', type: 'invoice.created', data: { object } };
  expect(parseStripeEvent(bytes(least))).toMatchObject({
    usability: 'usable',
    event: { createdAt: null, invoice: { status: 'draft', amountRemaining: 2990n, amountPaid: 0n, total: 2990n } },
  });
  expect(parseStripeEvent(bytes({ ...least, type: 'invoice.paid' }))).toMatchObject({
    event: { invoice: { status: 'paid', amountRemaining: 0n, amountPaid: 2990n } },
  });
  // `updated` does not say what the invoice is now, and an answer of the API has to.
  expect(parseStripeEvent(bytes({ ...least, type: 'invoice.updated' })).usability).toBe('unusable');
  expect(parseInvoice(object).ok).toBe(false);
});

it('Crossbill reads test or live mode and the accounts of a Stripe event', () => {
  const event = { ...json(basil), livemode: true, account: 'acct_other' };
  expect(parseStripeEvent(bytes(event))).toMatchObject({ event: { livemode: true, accounts: ['acct_other'] } });
  const named = (over: object): unknown => parseStripeEvent(bytes({ ...json(basil), ...over }));
  for (const [over, accounts] of [
    [{ account: 'acct_1', context: 'acct_1' }, ['acct_1']],
    [{ context: 'org_1/acct_2' }, ['acct_2']],
    [{ account: 'acct_1', context: 'acct_2' }, ['acct_1', 'acct_2']],
    [{ account: null, context: 'org_1' }, []],
  ] as const)
    expect(named(over)).toMatchObject({ event: { accounts } });
});

it('Crossbill computes a missing paid or remaining amount of an invoice, and never throws', () => {
  const invoice = json('stripe/invoice.paid.2020-03-02.json')['data']?.['object'];
  expect(parseInvoice({ ...invoice, amount_remaining: undefined })).toMatchObject({
    ok: true,
    invoice: { amountRemaining: 0n },
  });
  expect(parseInvoice({ ...invoice, amount_paid: undefined })).toMatchObject({
    ok: true,
    invoice: { amountPaid: 1200n },
  });
  expect(parseInvoice({ ...invoice, amount_paid: undefined, amount_remaining: undefined })).toMatchObject({
    invoice: { status: 'paid', amountPaid: 1200n, amountRemaining: 0n },
  });
  fc.assert(fc.property(fc.anything(), (value) => expect(parseInvoice(value).ok).toBe(false)));
});

it.each(['14-1-updated', '14-2-closed', '14-3-paid'])(
  'Crossbill cannot use an event of a Stripe API version before 2018-11-08 (file %s of test/wire/reported)',
  (name) => {
    const body = Buffer.from(reported(name));
    expect(parseStripeEvent(body)).toMatchObject({ usability: 'unusable' });
  },
);

it('Crossbill cannot use an event of a Stripe API version before 2018-11-08, even if the event is readable', () => {
  const at = (api_version: string) =>
    parseStripeEvent(bytes({ ...json('stripe/invoice.created.2025-08-27.basil.json'), api_version })).usability;
  expect([at('2018-09-24'), at('2018-11-08'), at('2026-10-28.endive')]).toEqual(['unusable', 'usable', 'usable']);
});

it('Crossbill ignores an unused event type of a Stripe API version before 2018-11-08', () => {
  const event = {
    ...json('stripe/invoice.created.2025-08-27.basil.json'),
    api_version: '2017-06-05',
    type: 'customer.updated',
  };
  expect(parseStripeEvent(bytes(event)).usability).toBe('ignored');
});

// Where an event goes that names no invoice of Stripe: to the invoice of one of its ids, or to a person.
import { expect, it } from '@jest/globals';
import { isChannelLane } from '../../../../../src/shared/domain/events/channel-lane.js';
import { eventParser } from '../../../../../src/core/events/event-parser.js';
import { type HomelessEvent } from '../../../../../src/core/mor-objects/homeless-events.repository.js';
import {
  type Home,
  homelessIn,
  pollAgainInMs,
  routeEvent,
  type Routing,
} from '../../../../../src/core/mor-objects/rules/route-event.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const OLD = 6_000;

function anEvent(type: string, data: object, waitedMs = OLD, eventId = `evt_${type}`): HomelessEvent {
  const body = Buffer.from(JSON.stringify({ id: eventId, type, created: NOW.toISOString(), data }));
  const stored = { id: 1n, source: 'mor_events', eventId, type, lane: 'mor:x', body, receivedAt: NOW } as const;
  const event = eventParser.delivered('mor_events', body);
  return { ...stored, event, attempts: 0, reviewId: null, waitedMs };
}

const route = (event: HomelessEvent, known: readonly Home[] = []): Routing =>
  routeEvent(event, homelessIn(event.event), known);

it('if an event has no invoice id, Crossbill finds its invoice by any other id in the event, at any depth', () => {
  const home: Home = { id: 'link_1', what: 'object', invoiceId: 'in_1' };
  expect(route(anEvent('payment.captured', { a: { b: [{ c: 'link_1' }] } }), [home])).toEqual({ moveTo: 'in_1' });
});

it("Crossbill moves an event without an invoice id to the invoice of its known dispute, not to an invoice named in the event's note", () => {
  const known: Home[] = [
    { id: 'in_2', what: 'invoice', invoiceId: 'in_2' },
    { id: 'dp_1', what: 'object', invoiceId: 'in_1' },
  ];
  expect(route(anEvent('dispute.outcome', { note: 'in_2', disputeId: 'dp_1' }), known)).toEqual({ moveTo: 'in_1' });
});

it('Crossbill moves a proforma event without an invoice id to the invoice named in its event id', () => {
  const id = 'b4b0a3a8-90a2-4f6c-8f5e-2f5a1f7b6c11';
  const event = anEvent('proforma_invoice.issued', {}, OLD, `evt_issued_${id}`);
  expect(route(event, [{ id, what: 'object', invoiceId: 'in_1' }])).toEqual({ moveTo: 'in_1' });
});

it("an event with unknown ids waits six seconds, since the reply to Crossbill's own call may bring the id", () => {
  expect(route(anEvent('payment.captured', { link: 'link_1' }, 1_000))).toEqual({ waitMs: 1_000 });
});

it.each([
  ['payment.captured', { link: 'link_1' }, 'conflicting_event'],
  ['e_invoice.issued', { eInvoiceId: 'e1' }, 'conflicting_event'],
  ['dispute.action_needed', { deadline: '2026-12-01T00:00:00Z' }, 'dispute'],
  ['pre_chargeback_alert.received', {}, 'dispute'],
])(
  'the event %s with unknown ids opens a review item, and Crossbill looks again later for the event’s invoice',
  (type, data, kind) => {
    expect(route(anEvent(type, data))).toMatchObject({ status: 'done', item: { kind }, pollsAgain: true });
  },
);

it.each(['proforma_invoice.issued', 'proforma_invoice.issuance_failed'])(
  'Crossbill ignores the event %s about a proforma invoice that Crossbill did not request',
  (type) => {
    const routing = route(anEvent(type, { proformaInvoiceId: 'p1' }));
    expect(routing).toMatchObject({ status: 'done', item: null, pollsAgain: false });
  },
);

it("the capture of a signup opens no review item, since the signup's completion brings the payment", () => {
  const signup: Home = { id: 'calc_1', what: 'signup', invoiceId: null };
  const routing = route(anEvent('payment.captured', { taxCalculationId: 'calc_1' }), [signup]);
  expect(routing).toMatchObject({ status: 'done', item: null, pollsAgain: false });
});

it('Crossbill moves an event with an open review item as soon as its invoice is known, and opens no second item', () => {
  const event = { ...anEvent('payment.captured', { pspReference: 'ch_1' }), reviewId: 'rev_7' };
  expect(route(event, [{ id: 'ch_1', what: 'payment', invoiceId: 'in_1' }])).toEqual({ moveTo: 'in_1' });
  expect(route(event)).toMatchObject({ status: 'done', item: null, pollsAgain: true });
});

it('Crossbill parks an event that is not valid JSON', () => {
  const body = Buffer.from('no JSON');
  const event = { ...anEvent('payment.captured', {}), body, event: eventParser.delivered('mor_events', body) };
  expect(route(event)).toMatchObject({ status: 'parked', item: null, pollsAgain: false });
});

it('only a lane with an id mor:… collects events of the MoR without an invoice id', () => {
  const lanes = ['mor:evt_1', 'in_1', 'event:mor_events:evt_1'];
  expect(lanes.map(isChannelLane)).toEqual([true, false, false]);
});

it('Crossbill looks for the invoice of an unknown event ever more rarely, and stops after a week', () => {
  expect(pollAgainInMs([OLD])).toBe(60_000);
  expect(pollAgainInMs([3_600_000, 86_400_000])).toBe(1_800_000);
  expect(pollAgainInMs([6 * 86_400_000])).toBe(6 * 3_600_000);
  expect(pollAgainInMs([8 * 86_400_000])).toBeNull();
  expect(pollAgainInMs([])).toBeNull();
});

// A second body under the id of a known event, as an event of our own on the invoice's lane or on a lane of the item.
import { expect, it } from '@jest/globals';
import { aboutSecondBody } from '../../../../../src/core/events/rules/second-body.js';
import { itemLane } from '../../../../../src/shared/domain/events/channel-lane.js';
import { laneOfItem, parseOwnEvent } from '../../../../../src/shared/domain/events/own-event.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { type OwnLaneEvent } from '../../../../../src/engine/event.js';
import { aCtx, NOW, open } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { applyEvent, resolveReview } from '../../../../support/rigs/decide.js';

const later = (ms: number): Date => new Date(NOW.getTime() + ms);
const second = (ms = 0): OwnLaneEvent => ({
  family: 'own',
  eventId: `event.second_body:${ms}`,
  type: 'event.second_body',
  at: later(ms),
  event: { type: 'event.second_body', source: 'mor_payments', event: 'evt_1', event_type: 'payment.succeeded' },
});
const hear = (state: LaneState, ms = 0): LaneState => applyEvent(state, second(ms), aCtx(later(ms))).state;

it('a conflicting copy of an event under the same id opens one review item, on its invoice if known', () => {
  const ofInvoice = hear(hear(emptyLane('in_1')));
  expect(open(ofInvoice)).toMatchObject([
    { subject: 'mor_payments:evt_1', invoiceId: 'in_1', fact: { code: 'second-body', event: 'evt_1' } },
  ]);
  const lane = itemLane('mor_payments:evt_1');
  const [alone = never()] = open(hear(emptyLane(lane)));
  expect([alone.invoiceId, laneOfItem(alone)]).toEqual([null, lane]);
});

it('a later conflicting copy of an event opens a new review item after the operator dismissed the first item', () => {
  const first = hear(emptyLane('in_1'));
  const [item = never()] = open(first);
  const done = resolveReview(first, item.id, { resolution: 'dismiss', note: null, by: 'ada' }, aCtx(later(1_000)));
  if (!done.ok) throw new Error(done.message);
  expect(open(done.state)).toEqual([]);
  expect(open(hear(done.state, 2_000))).toHaveLength(1);
});

it('Crossbill parses its own stored events, and refuses malformed bytes', () => {
  const { event } = second();
  expect(parseOwnEvent(Buffer.from(JSON.stringify(event)))).toEqual(event);
  const signup = { type: 'signup.overdue', signup: 'sup_1', customer: 'cus_1', since: NOW.toISOString() };
  expect(parseOwnEvent(Buffer.from(JSON.stringify(signup)))).toEqual(signup);
  for (const wrong of ['', '{}', '{"type":"signup.overdue"}', '{"type":"event.second_body","source":"x"}'])
    expect(parseOwnEvent(Buffer.from(wrong))).toBeNull();
});

it.each([
  ['dispute.action_needed', 'may want evidence again, by another deadline'],
  ['dispute.revision_requested', 'may want better evidence again'],
  ['dispute.outcome', 'If a loss became a win, reverse the loss outside the ledger'],
  ['pre_chargeback_alert.received', 'another alert'],
  ['proforma_invoice.settled', 'another transfer. Crossbill did not book its money'],
])(
  'if a second, different %s event has a known event id, the review item says what the second event may mean',
  (type, says) => {
    expect(aboutSecondBody(type)).toContain(says);
  },
);

it('if a second, different event of any other type has a known id, the item says that Crossbill never applies the event', () => {
  for (const type of ['invoice.paid', 'payment.succeeded', 'constructor'])
    expect(aboutSecondBody(type)).toMatch(/Crossbill keeps the second body and never applies it\.$/);
});

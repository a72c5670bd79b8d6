// A second body under the id of a known event, as an event of our own on the invoice's lane or on a lane of the item.
import { expect, it } from '@jest/globals';
import { itemLane } from '../../../../../src/shared/domain/events/channel-lane.js';
import { laneOfItem, parseOwnEvent } from '../../../../../src/shared/domain/events/own-event.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { type OwnLaneEvent } from '../../../../../src/engine/event.js';
import { aCtx, NOW, open } from '../../../../support/channel-lane.js';
import { never } from '../../../../support/never.js';
import { applyEvent, resolveReview } from '../../../../support/decide.js';

const later = (ms: number): Date => new Date(NOW.getTime() + ms);
const second = (ms = 0): OwnLaneEvent => ({
  family: 'own',
  eventId: `event.second_body:${ms}`,
  type: 'event.second_body',
  at: later(ms),
  event: { type: 'event.second_body', source: 'mor_payments', event: 'evt_1', event_type: 'payment.succeeded' },
});
const hear = (s: LaneState, ms = 0): LaneState => applyEvent(s, second(ms), aCtx(later(ms))).state;

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

// The actor of each line of a timeline.
import { expect, it } from '@jest/globals';
import { timeline } from '../../../../src/core/invoices/timeline.js';
import { type JournalLine } from '../../../../src/shared/domain/model.js';
import { applyEvent } from '../../../../src/engine/apply-event.js';
import { type LaneEvent } from '../../../../src/engine/event.js';
import { Lane } from '../../../../src/engine/lane.js';
import { emptyLane } from '../../../../src/engine/context.js';
import { SUBJECTS } from '../../../../src/core/lanes/subjects.js';
import { aCtx } from '../../../support/builders/channel-lane.js';

const AT = new Date('2026-11-26T09:00:00Z');
const overdue: LaneEvent = {
  ...{ family: 'own', eventId: 'own_1', type: 'signup.overdue', at: AT },
  event: { type: 'signup.overdue', signup: 'sup_1', customer: 'cus_1', since: AT.toISOString() },
};
const lineOf = (sender: string): JournalLine => {
  const detail = { type: 'invoice.created', reason: null, sender };
  return { lane: 'in_1', at: AT, kind: 'event', ref: 'evt_1', text: 'invoice.created', detail };
};

it('the console’s timeline shows an event made by Crossbill as Crossbill’s, not the MoR’s', () => {
  const lane = new Lane(emptyLane('in_1'), aCtx(AT));
  applyEvent(SUBJECTS, lane, overdue);
  const journal = lane.toState().journal.filter((line) => line.kind === 'event');
  expect(journal).toMatchObject([{ detail: { type: 'signup.overdue', sender: 'crossbill' } }]);
  expect(String(timeline(journal))).toContain('Crossbill · ');
});

it.each([
  ['stripe', 'Stripe · '],
  ['mor', 'MoR · '],
])('the console’s timeline shows an event from %s with the sender %s', (sender, shown) => {
  expect(String(timeline([lineOf(sender)]))).toContain(shown);
});

// An event arrives with the id of a known event but with another body: the first body counts, and an item reports the
// second body.
import { secondBodySubject } from '../../../shared/domain/events/own-event.js';
import { isInnerLane } from '../../../shared/domain/events/channel-lane.js';
import { known } from '../../../shared/domain/sentence.js';
import { EVENT_ROWS } from '../../mor-objects/event-rows.js';
import { type Words } from '../../../shared/domain/fact.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type OwnLaneEvent, type EventOutcome } from '../../../engine/event.js';
import { ensureInvoice } from '../../books/rules/invoice-facts.js';

export function takeSecondBody(lane: Lane, { event: e, at }: OwnLaneEvent<'event.second_body'>): EventOutcome {
  if (!isInnerLane(lane.lane)) ensureInvoice(lane);
  const fact = { code: 'second-body', event: e.event, type: e.event_type } as const;
  // Each further body opens an item, even after a person closed an earlier item.
  lane.openReview({ kind: 'conflicting_event', subject: secondBodySubject(e), fact, since: at });
  return done(`event ${e.event} came with another body`);
}

export const secondBodyWords: Words<'second-body'> = {
  'second-body': (f) => ({
    summary: `event ${f.event} (${f.type}) came a second time with another body; Crossbill uses the first body`,
    proposal: aboutSecondBody(f.type),
  }),
};

const COMPARE =
  'Compare both bodies in the event list and ask the sender which body is right. Crossbill keeps the second body and never applies it.';

/** Advice for a person: two deliveries of this event type share an event id, and their bodies differ. */
export function aboutSecondBody(type: string): string {
  const news = known<{ readonly secondBody?: string }>(EVENT_ROWS, type)?.secondBody;
  return news === undefined ? COMPARE : `${COMPARE} ${news}`;
}

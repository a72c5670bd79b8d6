// Takes one event into a lane: its subject records what the event says, and settle.ts decides what follows from it.
import { type LaneState } from '../domain/model.js';
import { type Ctx, note } from './change.js';
import { type Subjects } from './decider.js';
import { type Applied, type ChannelEvent, type LaneEvent } from './event.js';

/** Records one event. Pure; every event may come twice, late, early or never. */
export function applyEvent(subjects: Subjects, s: LaneState, event: LaneEvent | ChannelEvent, ctx: Ctx): Applied {
  const { state, verdict } = subjects.takeEvent(s, event, ctx);
  const text = verdict.reason === null ? event.type : `${event.type}: ${verdict.reason}`;
  return { verdict, state: note(state, ctx, 'event', text, event.eventId) };
}

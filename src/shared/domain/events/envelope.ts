// The common part of every sender's events: id, type, and the result of parsing.
import { createHash } from 'node:crypto';
import { type InboxSource } from '../ports/inbox.js';
import { bareEventLane } from './channel-lane.js';
import { Fields, isId, type JsonObject, member, Unreadable } from '@crossbill/mor/read.js';
import { parseBody } from './json-body.js';

/**
 * - `usable`: the event has the shape its type needs. `event` is typed.
 * - `ignored`: the event is authentic, but Crossbill does not use its type.
 * - `unusable`: the event is authentic, but a person must look. The reason never quotes the body.
 *
 * `eventId` is the sender's id, or `sha256:<hex of the body>` if there is no usable id. `type` is empty if there is
 * none. Crossbill works on the events of one `lane` one at a time.
 */
export type ParsedEvent<T> =
  | {
      readonly usability: 'usable';
      readonly eventId: string;
      readonly type: string;
      readonly lane: string;
      readonly event: T;
    }
  | {
      readonly usability: 'ignored' | 'unusable';
      readonly eventId: string;
      readonly type: string;
      readonly lane: string;
      readonly reason: string;
    };

/**
 * The parts of an event, for the parser of its sender (`EnvelopeReader`). The parser returns null for an event type
 * Crossbill does not use, and throws `Unreadable` for a malformed event.
 */
export type Envelope = { readonly eventId: string; readonly type: string; readonly root: JsonObject };
export type EnvelopeReader<T> = (envelope: Envelope) => { readonly lane: string; readonly event: T } | null;

/** Parses a body as an event of a source. Never throws, even on random bytes. */
export function parseEvent<T>(source: InboxSource, body: Buffer, read: EnvelopeReader<T>): ParsedEvent<T> {
  const parsed = parseBody(body);
  if (!parsed.ok) return without('unusable', source, { eventId: bodyId(body), type: '', reason: parsed.reason });
  return readEvent(source, body, parsed.value, read);
}

function readEvent<T>(source: InboxSource, body: Buffer, root: JsonObject, read: EnvelopeReader<T>): ParsedEvent<T> {
  const id = member(root, 'id');
  const givenType = member(root, 'type');
  const type = isId(givenType) ? givenType : '';
  if (!isId(id))
    return without('unusable', source, { eventId: bodyId(body), type, reason: 'id is missing or not a usable id' });
  if (type === '') return without('unusable', source, { eventId: id, type: '', reason: 'type is missing or not text' });
  try {
    const found = read({ eventId: id, type, root });
    if (found === null)
      return without('ignored', source, { eventId: id, type, reason: 'a type Crossbill does not use' });
    return { usability: 'usable', eventId: id, type, lane: found.lane, event: found.event };
  } catch (problem) {
    if (problem instanceof Unreadable)
      return without('unusable', source, { eventId: id, type, reason: problem.message });
    throw problem;
  }
}

/** Makes an id for a delivery without a usable id: the same bytes give the same id. */
export function bodyId(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

function without<T>(
  outcome: 'ignored' | 'unusable',
  source: InboxSource,
  { eventId, type, reason }: { readonly eventId: string; readonly type: string; readonly reason: string },
): ParsedEvent<T> {
  return { usability: outcome, eventId, type, lane: bareEventLane(source, eventId), reason };
}

/**
 * When the sender made the event: `created` (Document 3: Unix seconds; Document 2: ISO 8601) or `createdAt` (Document
 * 2, in one place). Null: the event names no time. An unreadable time throws `Unreadable`.
 */
export function eventTime(root: JsonObject): Date | null {
  const fields = new Fields(root);
  return fields.timeOrNull('created') ?? fields.timeOrNull('createdAt');
}

// What all events have in common: an id, a type, and one of three verdicts. Used at the doors and again by the flows.
import { createHash } from 'node:crypto';
import { type InboxSource } from '../ports/inbox.js';
import { bareEventLane } from './channel-lane.js';
import { isId, member, Unusable } from './fields.js';
import { parseBody, type JsonObject } from './json-body.js';

/**
 * - `usable`: of the shape its type needs; `event` is typed.
 * - `ignored`: authentic, of a type that we do not use, or one that asks nothing of us.
 * - `unusable`: authentic, but a person must look. The reason names no value of the body.
 *
 * `eventId` is the sender's id, or `sha256:<hex of the body>` when it has none that can be used. `type` is empty when there is none.
 * Events of one `lane` are worked one at a time.
 */
export type ParsedEvent<T> =
  | {
      readonly verdict: 'usable';
      readonly eventId: string;
      readonly type: string;
      readonly lane: string;
      readonly event: T;
    }
  | {
      readonly verdict: 'ignored' | 'unusable';
      readonly eventId: string;
      readonly type: string;
      readonly lane: string;
      readonly reason: string;
    };

/** What a source's own parser is given, and what it answers. Null: a type that we do not use. It throws `Unusable`. */
export type Envelope = { readonly eventId: string; readonly type: string; readonly root: JsonObject };
export type EnvelopeReader<T> = (envelope: Envelope) => { readonly lane: string; readonly event: T } | null;

/** Parses a body as an event of a source. Never throws on any bytes. */
export function parseEvent<T>(source: InboxSource, body: Buffer, read: EnvelopeReader<T>): ParsedEvent<T> {
  const parsed = parseBody(body);
  if (!parsed.ok) return without('unusable', source, bodyId(body), '', parsed.reason);
  return readEvent(source, body, parsed.value, read);
}

/** Where an event belongs in the inbox. */
export type EventPlace =
  | { readonly verdict: 'usable'; readonly eventId: string; readonly type: string; readonly lane: string }
  | Exclude<ParsedEvent<never>, { verdict: 'usable' }>;

/**
 * As `parseEvent`, for the door, which needs the place and not the event. `skim` reads what `read` may refuse; where it finds
 * anything out of the ordinary, the body is parsed as a whole, and so every refusal is that of a whole parse.
 */
export function placeEvent(
  source: InboxSource,
  body: Buffer,
  skim: (body: Buffer) => JsonObject | null,
  read: EnvelopeReader<unknown>,
): EventPlace {
  const root = skim(body);
  if (root !== null) {
    const found = readEvent(source, body, root, read);
    if (found.verdict !== 'unusable') return found;
  }
  return parseEvent(source, body, read);
}

function readEvent<T>(source: InboxSource, body: Buffer, root: JsonObject, read: EnvelopeReader<T>): ParsedEvent<T> {
  const id = member(root, 'id');
  const givenType = member(root, 'type');
  const type = isId(givenType) ? givenType : '';
  if (!isId(id)) return without('unusable', source, bodyId(body), type, 'id is missing or not a usable id');
  if (type === '') return without('unusable', source, id, '', 'type is missing or not text');
  try {
    const found = read({ eventId: id, type, root });
    if (found === null) return without('ignored', source, id, type, 'a type Crossbill does not use');
    return { verdict: 'usable', eventId: id, type, lane: found.lane, event: found.event };
  } catch (problem) {
    if (problem instanceof Unusable) return without('unusable', source, id, type, problem.message);
    throw problem;
  }
}

/** The name of a delivery that brought no usable id: the same bytes get the same name. */
export function bodyId(body: Buffer): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

function without<T>(
  verdict: 'ignored' | 'unusable',
  source: InboxSource,
  eventId: string,
  type: string,
  reason: string,
): ParsedEvent<T> {
  return { verdict, eventId, type, lane: bareEventLane(source, eventId), reason };
}

// The parsed events of one process, for tests that build a part of the daemon.
import { eventParser } from '../../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../../src/engine/parsed-events.js';

export const parsedEvents = (): ParsedEvents => new ParsedEvents(eventParser);

// Events that the webhook endpoints have parsed, for the worker of the same process.
import { expect, it } from '@jest/globals';
import { ParsedEvents } from '../../../src/engine/parsed-events.js';
import { eventParser } from '../../../src/core/events/event-parser.js';
import { type Delivery } from '../../../src/shared/domain/ports/inbox.js';
import { aPaymentSucceeded } from '../../support/builders/events.js';

/** An event as the database gives it back: the same bytes in another buffer. */
const stored = (delivery: Delivery): Delivery => ({ ...delivery, body: Buffer.from(delivery.body) });
const parse = ({ body }: Delivery) => eventParser.delivered('mor_payments', body);

const first = aPaymentSucceeded({ eventId: 'evt_1', amount: 1000 });
const second = aPaymentSucceeded({ eventId: 'evt_2', amount: 2000 });

it('a worker gets the event as the webhook endpoint of its process parsed it', () => {
  const events = new ParsedEvents(eventParser);
  const parsed = parse(first);
  events.keep(first, parsed);
  expect(events.read(stored(first))).toBe(parsed);
});

it('an event without an invoice stays for the worker of its invoice', () => {
  const events = new ParsedEvents(eventParser);
  const parsed = parse(first);
  events.keep(first, parsed);
  expect(events.read({ ...stored(first), lane: 'mor:pay_oak' })).toBe(parsed);
  expect(events.read(stored(first))).toBe(parsed);
});

it('a worker parses the stored bytes of an event that its process did not parse, or has read before', () => {
  const events = new ParsedEvents(eventParser);
  expect(events.read(stored(first))).toEqual(parse(first));
  const parsed = parse(first);
  events.keep(first, parsed);
  events.read(stored(first));
  const again = events.read(stored(first));
  expect(again).toEqual(parsed);
  expect(again).not.toBe(parsed);
});

it('if other bytes are stored under the id of a parsed event, the stored bytes count', () => {
  const events = new ParsedEvents(eventParser);
  events.keep(first, parse(first));
  const other = aPaymentSucceeded({ eventId: 'evt_1', amount: 999 });
  expect(events.read(stored(other))).toEqual(parse(other));
  events.keep(first, parse(first));
  const erased = { ...stored(first), body: Buffer.alloc(0) };
  expect(events.read(erased).parsed).toMatchObject({ usability: 'unusable' });
});

it('if parsed events exceed their limit of bytes, the newest stay', () => {
  const events = new ParsedEvents(eventParser, first.body.length + second.body.length - 1);
  const [one, two] = [parse(first), parse(second)];
  events.keep(first, one);
  events.keep(first, one); // a repeat of the delivery takes no more room
  events.keep(second, two);
  expect(events.read(stored(first))).not.toBe(one);
  expect(events.read(stored(second))).toBe(two);
});

// A route that fails names its event, so the lane's other events are routed without it.
import { expect, it } from '@jest/globals';
import { eventParser } from '../../../../src/core/events/event-parser.js';
import {
  type HomelessEvent,
  type HomelessEvents,
} from '../../../../src/core/mor-objects/homeless-events.repository.js';
import { RouteEventsService } from '../../../../src/core/mor-objects/route-events.service.js';
import { type Ids } from '../../../../src/shared/domain/ports/clock.js';
import { LaneSignal } from '../../../../src/engine/lane-signal.js';
import { ManualClock } from '../../../support/fakes/clock.js';

const NOW = new Date('2026-11-20T12:00:00Z');

function anEvent(id: bigint, data: object): HomelessEvent {
  const [eventId, type] = [`evt_${id.toString()}`, 'dispute.action_needed'];
  const body = Buffer.from(JSON.stringify({ id: eventId, type, created: NOW.toISOString(), data }));
  const stored = { id, source: 'mor_events', eventId, type, lane: 'mor:x', body, receivedAt: NOW } as const;
  return {
    ...stored,
    event: eventParser.delivered('mor_events', body),
    attempts: 0,
    reviewId: null,
    waitedMs: 3_600_000,
  };
}

it('if the route of one event without an invoice fails, this event is to blame and not an older event', async () => {
  const known = { id: 'pay_1', what: 'payment', invoiceId: 'in_1' } as const;
  const events: Partial<HomelessEvents> = {
    load: async () => [anEvent(7n, { disputeId: 'dp_1', paymentId: 'pay_1' }), anEvent(8n, { disputeId: 'dp_2' })],
    homes: async () => [known],
  };
  const ids: Ids = {
    next: () => {
      throw new RangeError('a fault of our own'); // only the item of the second event needs an id
    },
  };
  const service = new RouteEventsService(events as HomelessEvents, new ManualClock(), ids, new LaneSignal());
  await expect(service.run({ lane: 'mor:x', fence: 1n, events: [] })).rejects.toMatchObject({
    code: 'lane.event_failed',
    event: 8n,
    cause: { name: 'RangeError' },
  });
});

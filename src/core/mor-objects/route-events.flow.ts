// Works on a lane of events without an invoice.
import { Injectable } from '@nestjs/common';
import { newReview } from '../../shared/domain/item.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { type DecidedEvent } from '../../engine/decider.js';
import { type Claim } from '../../engine/lane-store.js';
import { Wake } from '../../engine/wake.js';
import { HomelessEvents } from './homeless-events.store.js';
import { lookAgainInMs, namesOf, homelessIn, routeEvent } from './rules/route-event.js';

@Injectable()
export class RouteEventsFlow {
  constructor(
    private readonly events: HomelessEvents,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly wake: Wake,
  ) {}

  /**
   * Finds the invoice's lane for each event and moves the event there. Returns the events decided here; a moved event
   * waits for a decision in its new lane.
   */
  async run(claim: Claim): Promise<readonly DecidedEvent[]> {
    const read = (await this.events.load(claim.lane)).map((stored) => ({ stored, event: homelessIn(stored.event) }));
    const homes = await this.events.homes([...new Set(read.flatMap(({ event }) => namesOf(event)))]);
    const now = this.clock.now();
    const routed = read.map(({ stored, event }) => {
      const routing = routeEvent(stored, event, homes);
      const item = 'item' in routing ? routing.item : null;
      const review = item && newReview({ ...item, subject: stored.eventId }, this.ids.next('rev'), now);
      return { stored, routing, review };
    });
    const unknown = routed.filter(({ routing }) => 'looksAgain' in routing && routing.looksAgain);
    const pause = lookAgainInMs(unknown.map(({ stored }) => stored.waitedMs));
    await this.events.route(claim.lane, claim.fence, routed, pause);
    if (routed.some(({ routing }) => 'moveTo' in routing)) this.wake.lanes();
    return routed.flatMap(({ stored, routing }) => {
      if (!('status' in routing) || stored.reviewId !== null) return [];
      const { id, type, source, eventId } = stored;
      return [{ id, status: routing.status, reason: routing.reason, type, source, eventId }];
    });
  }
}

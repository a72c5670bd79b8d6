// Works on a lane of events without an invoice.
import { Injectable } from '@nestjs/common';
import { newReview } from '../../shared/domain/item.js';
import { Clock, Ids } from '../../shared/domain/ports/clock.js';
import { type DecidedEvent } from '../../engine/decider.js';
import { type Claim, EventFailed } from '../../engine/lane.repository.js';
import { LaneSignal } from '../../engine/lane-signal.js';
import { type HomelessEvent, HomelessEvents, type Routed } from './homeless-events.repository.js';
import { type Home, type Homeless, homelessIn, pollAgainInMs, namesOf, routeEvent } from './rules/route-event.js';

type Read = { readonly stored: HomelessEvent; readonly event: Homeless };

@Injectable()
export class RouteEventsService {
  constructor(
    private readonly events: HomelessEvents,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly signal: LaneSignal,
  ) {}

  /**
   * Finds the invoice's lane for each event and moves the event there. Returns the events decided here; a moved event
   * waits for a decision in its new lane. Throws `EventFailed` if one event is behind the failure.
   */
  async run(claim: Claim): Promise<readonly DecidedEvent[]> {
    const read = (await this.events.load(claim.lane)).map((stored) => ({ stored, event: homelessIn(stored.event) }));
    const homes = await this.events.homes([...new Set(read.flatMap(({ event }) => namesOf(event)))]);
    const now = this.clock.now();
    const routed = read.map((one) => this.routed(one, homes, now));
    const unknown = routed.filter(({ routing }) => 'pollsAgain' in routing && routing.pollsAgain);
    const pause = pollAgainInMs(unknown.map(({ stored }) => stored.waitedMs));
    await this.events.route(claim.lane, claim.fence, routed, pause);
    if (routed.some(({ routing }) => 'moveTo' in routing)) this.signal.lanes();
    return routed.flatMap(({ stored, routing }) => {
      if (!('status' in routing) || stored.reviewId !== null) return [];
      const { id, type, source, eventId } = stored;
      return [{ id, status: routing.status, reason: routing.reason, type, source, eventId }];
    });
  }

  private routed({ stored, event }: Read, homes: readonly Home[], now: Date): Routed {
    try {
      const routing = routeEvent(stored, event, homes);
      const item = 'item' in routing ? routing.item : null;
      const review = item && newReview({ ...item, subject: stored.eventId }, this.ids.next('rev'), now);
      return { stored, routing, review };
    } catch (e) {
      throw new EventFailed(stored.id, e);
    }
  }
}

// A person's actions on single events: decide again, or dismiss a parked event.
import { Injectable } from '@nestjs/common';
import { notFound, Problem } from '../../frames/api/http/problem.js';
import { type EventRow } from './event-list.repository.js';
import { EventsRepository } from './events.repository.js';
import { maskCards } from '../../shared/masks/card-numbers.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { LaneSignal } from '../../engine/lane-signal.js';
import { replyPauseMs } from '../../shared/policy.js';

@Injectable()
export class EventsService {
  constructor(
    private readonly events: EventsRepository,
    private readonly signal: LaneSignal,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes Crossbill decide an event again, and returns the event before the decision. Throws 404, and 409
   * `event_not_retryable` if the body is gone, or is a second body for the id of an applied event.
   */
  async retry(id: string): Promise<EventRow> {
    const inboxId = await this.events.retry(id);
    const event = await this.events.find(inboxId ?? id);
    if (event === null) throw notFound('event');
    if (inboxId === null) {
      throw new Problem(
        409,
        'event_not_retryable',
        'Crossbill cannot decide this event again: its body is gone, or another body with its event id came first.',
      );
    }
    this.signal.lanes();
    return event;
  }

  /** Dismisses a parked event, and returns it as ignored. Throws 404, and 409 `event_not_parked`. */
  async dismiss(id: string, note: string, by: string): Promise<EventRow> {
    const done = await this.events.dismiss(id, `dismissed by ${by}`, maskCards(note));
    const event = await this.events.find(id);
    if (event === null) throw notFound('event');
    if (!done)
      throw new Problem(409, 'event_not_parked', `This event is ${event.status}: you can dismiss only parked events.`);
    return event;
  }

  /** Waits for the decision on all events, at most `timeoutMs`. Returns the events, even if some are undecided. */
  async decided(ids: readonly string[], timeoutMs: number): Promise<ReadonlyMap<string, EventRow>> {
    const start = this.clock.now().getTime();
    const found = new Map<string, EventRow>();
    for (;;) {
      for (const id of ids) {
        if ((found.get(id)?.status ?? 'received') !== 'received') continue;
        const event = await this.events.find(id);
        if (event !== null) found.set(id, event);
      }
      const waited = this.clock.now().getTime() - start;
      const waits = [...found.values()].some((e) => e.status === 'received');
      if (!waits || waited >= timeoutMs) return found;
      await this.clock.sleep(replyPauseMs(waited));
    }
  }
}

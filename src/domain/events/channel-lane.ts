// The names of lanes that are no invoice's. No sender and no caller may name an invoice like one, or it would be worked there.

/** An event that does not name its invoice: it waits there until it is known where it belongs. */
const CHANNEL = 'mor:';
/** A delivery that cannot be used: it is parked by itself. */
const BARE_EVENT = 'event:';

/** @param subject the MoR's id of what the event is about */
export function channelLane(subject: string): string {
  return CHANNEL + subject;
}

export function isChannelLane(lane: string): boolean {
  return lane.startsWith(CHANNEL);
}

/** @param source the door it came through; event ids are unique per source */
export function bareEventLane(source: string, eventId: string): string {
  return `${BARE_EVENT}${source}:${eventId}`;
}

export function isBareEventLane(lane: string): boolean {
  return lane.startsWith(BARE_EVENT);
}

/** True for what cannot be an invoice's id: Stripe's never look like this. */
export function isInnerLane(name: string): boolean {
  return isChannelLane(name) || isBareEventLane(name);
}

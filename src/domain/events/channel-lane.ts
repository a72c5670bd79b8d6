// The lane of an event that does not name its invoice: it waits there until it is known where it belongs.

const PREFIX = 'mor:';

/** @param subject the MoR's id of what the event is about */
export function channelLane(subject: string): string {
  return PREFIX + subject;
}

export function isChannelLane(lane: string): boolean {
  return lane.startsWith(PREFIX);
}

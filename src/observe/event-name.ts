// The name of an event in every log line, from the door to the last call: its sender and the sender's id.
export function eventName(e: { readonly source: string; readonly eventId: string }): string {
  return `${e.source}:${e.eventId}`;
}

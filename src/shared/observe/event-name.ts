// Names an inbox event in every log line, by its sender and the sender's id of the event.
export function eventName(event: { readonly source: string; readonly eventId: string }): string {
  return `${event.source}:${event.eventId}`;
}

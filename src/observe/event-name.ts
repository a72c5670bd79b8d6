// The name of an inbox event in every log line: its sender and the sender's id.
export function eventName(e: { readonly source: string; readonly eventId: string }): string {
  return `${e.source}:${e.eventId}`;
}

// Formats a time for a person, such as `2026-11-20 19:37 UTC`: minutes are exact enough to act on.

export function showTime(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Formats an ISO 8601 time from a fact, such as `2026-11-20 19:37 UTC`. */
export function showIso(at: string): string {
  return showTime(new Date(at));
}

export function showUntil(at: string | null): string {
  return at === null ? '(no deadline given)' : `by ${showIso(at)}`;
}

// What a door answered, added up: 200 taken, 401 refused, 503 come again.
import { type DoorAnswer } from './ports/door-books.js';
import { type InboxSource } from './ports/inbox.js';

/** How often each status was answered; a status that never was is not in it. */
export function answersOf(answers: readonly DoorAnswer[], door: InboxSource): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const a of answers) if (a.door === door) sums.set(a.status, (sums.get(a.status) ?? 0) + a.n);
  return sums;
}

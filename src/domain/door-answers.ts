// A webhook endpoint's answers, added up: 200 accepted, 401 refused, 503 come again.
import { type InboxSource } from './ports/inbox.js';

/** Count of each status, without those never sent. */
export function answersOf(answers: readonly DoorAnswer[], door: InboxSource): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const a of answers) if (a.door === door) sums.set(a.status, (sums.get(a.status) ?? 0) + a.n);
  return sums;
}

export type DoorAnswer = {
  readonly door: InboxSource;
  /** Its start, in UTC. */
  readonly hour: Date;
  /** HTTP; 499: the sender went away before an answer. */
  readonly status: number;
  readonly n: number;
};

export type DoorRefusal = {
  readonly door: InboxSource;
  readonly at: Date;
  readonly status: number;
  /** The code of the answer, such as `signature_mismatch`, or `aborted`. */
  readonly why: string;
  /** The peer's: of a proxy, where one stands before us. */
  readonly address: string;
};

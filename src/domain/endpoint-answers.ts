// Counts the answers of a webhook endpoint: 200 accepted, 401 refused, 503 "come again".
import { type InboxSource } from './ports/inbox.js';

/** The count of each status. A status without answers is absent. */
export function answersOf(answers: readonly EndpointAnswer[], endpoint: InboxSource): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const a of answers) if (a.endpoint === endpoint) sums.set(a.status, (sums.get(a.status) ?? 0) + a.n);
  return sums;
}

export type EndpointAnswer = {
  readonly endpoint: InboxSource;
  /** The start of the hour, in UTC. */
  readonly hour: Date;
  /** The HTTP status. 499: the sender closed the connection before the answer. */
  readonly status: number;
  readonly n: number;
};

export type EndpointRefusal = {
  readonly endpoint: InboxSource;
  readonly at: Date;
  readonly status: number;
  /** The code of the answer, such as `signature_mismatch`, or `aborted`. */
  readonly why: string;
  /** The address of the sender. Behind a proxy it is the address of the proxy. */
  readonly address: string;
};

// Counts the replies of a webhook endpoint by status: 200 accepted, 401 refused, 503 try again.
import { type InboxSource } from './ports/inbox.js';

/** The number of replies with each status. A status without replies is absent. */
export function repliesOf(replies: readonly EndpointReply[], endpoint: InboxSource): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const a of replies) if (a.endpoint === endpoint) sums.set(a.status, (sums.get(a.status) ?? 0) + a.n);
  return sums;
}

export type EndpointReply = {
  readonly endpoint: InboxSource;
  /** The start of the hour, in UTC. */
  readonly hour: Date;
  /** The HTTP status. 499: the sender closed the connection before the reply. */
  readonly status: number;
  readonly n: number;
};

export type EndpointRefusal = {
  readonly endpoint: InboxSource;
  readonly at: Date;
  readonly status: number;
  /** The reason code of the reply, such as `signature_mismatch` or `aborted`. */
  readonly why: string;
  /** The sender's address. Behind a proxy it is the proxy's address. */
  readonly address: string;
};

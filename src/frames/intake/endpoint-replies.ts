// Counts the replies of the webhook endpoints and remembers the last refusals. Stores both a few times a minute, so a
// delivery costs no extra write.
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type EndpointReply, type EndpointRefusal } from '../../shared/domain/endpoint-replies.js';
import { EndpointRepliesRepository } from './endpoint-replies.repository.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { HOUR_MS } from '../../shared/policy.js';
import { type EndpointOutcome } from './options.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const EVERY_MS = 15_000;
/** The most refusals in memory between two writes. Strangers may cause thousands, and the last ones are enough. */
const REFUSALS_KEPT = 50;

@Injectable()
export class EndpointReplies implements OnApplicationShutdown {
  #answers = new Map<string, EndpointReply>();
  #refusals: EndpointRefusal[] = [];

  constructor(
    private readonly books: EndpointRepliesRepository,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  saw(
    endpoint: InboxSource,
    outcome: EndpointOutcome,
    { status, at, address }: { readonly status: number; readonly at: Date; readonly address: string },
  ): void {
    const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
    this.#count({ endpoint, hour, status, n: 1 });
    if (status < 400) return;
    if (this.#refusals.length >= REFUSALS_KEPT) this.#refusals.shift();
    this.#refusals.push({ endpoint, at, status, why: outcome, address });
  }

  /** Stores the counts and the refusals. After a failed write they stay in memory for the next run. */
  @Interval(EVERY_MS)
  async write(): Promise<void> {
    if (this.#answers.size === 0 && this.#refusals.length === 0) return;
    const [replies, refusals] = [[...this.#answers.values()], this.#refusals];
    this.#answers = new Map();
    this.#refusals = [];
    try {
      await this.books.add(replies, refusals);
    } catch (err) {
      for (const reply of replies) this.#count(reply);
      this.#refusals = [...refusals, ...this.#refusals].slice(-REFUSALS_KEPT);
      this.log.warn(
        { event: 'webhooks.counts_lost', err },
        "Couldn't record the answers of the webhook endpoints; Crossbill keeps them and tries again",
      );
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.write();
  }

  #count(reply: EndpointReply): void {
    const key = `${reply.hour.getTime()} ${reply.endpoint} ${reply.status}`;
    const known = this.#answers.get(key);
    this.#answers.set(key, known === undefined ? reply : { ...known, n: known.n + reply.n });
  }
}

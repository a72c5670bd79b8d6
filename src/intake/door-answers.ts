// Counts the answers of the webhook endpoints and remembers the last refusals. Writes both a few times a minute, so a
// delivery costs no extra write.
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type DoorAnswer, type DoorRefusal } from '../domain/door-answers.js';
import { DoorAnswersStore } from './door-answers.store.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { HOUR_MS } from '../policy.js';
import { type DoorOutcome } from './options.js';
import { LOG, type Logger } from '../observe/index.js';

const EVERY_MS = 15_000;
/** Kept refusals between two writes. Strangers may send thousands, and the last ones are enough. */
const REFUSALS_KEPT = 50;

@Injectable()
export class DoorAnswers implements OnApplicationShutdown {
  #answers = new Map<string, DoorAnswer>();
  #refusals: DoorRefusal[] = [];

  constructor(
    private readonly books: DoorAnswersStore,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  saw(door: InboxSource, outcome: DoorOutcome, status: number, at: Date, address: string): void {
    const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
    this.#count({ door, hour, status, n: 1 });
    if (status < 400) return;
    if (this.#refusals.length >= REFUSALS_KEPT) this.#refusals.shift();
    this.#refusals.push({ door, at, status, why: outcome, address });
  }

  /** Writes the counts. After a failed write the next run writes the rest. */
  @Interval(EVERY_MS)
  async write(): Promise<void> {
    if (this.#answers.size === 0 && this.#refusals.length === 0) return;
    const [answers, refusals] = [[...this.#answers.values()], this.#refusals];
    this.#answers = new Map();
    this.#refusals = [];
    try {
      await this.books.add(answers, refusals);
    } catch (err) {
      for (const answer of answers) this.#count(answer);
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

  #count(answer: DoorAnswer): void {
    const key = `${answer.hour.getTime()} ${answer.door} ${answer.status}`;
    const known = this.#answers.get(key);
    this.#answers.set(key, known === undefined ? answer : { ...known, n: known.n + answer.n });
  }
}

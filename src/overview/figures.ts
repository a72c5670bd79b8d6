// The numbers of the overview, asked for at most once in five seconds however many people look.
import { Injectable } from '@nestjs/common';
import { type Backlog, Books, type Overview } from '../domain/ports/books.js';
import { Clock } from '../domain/ports/clock.js';

export type Seen = { readonly overview: Overview; readonly backlog: Backlog };

const FRESH_MS = 5_000;

@Injectable()
export class Figures {
  #last: { readonly at: number; readonly seen: Promise<Seen> } | null = null;

  constructor(
    private readonly books: Books,
    private readonly clock: Clock,
  ) {}

  /** Rejects when the database does not answer; the next one who asks tries again. */
  now(): Promise<Seen> {
    const now = this.clock.now().getTime();
    if (this.#last !== null && Math.abs(now - this.#last.at) < FRESH_MS) return this.#last.seen;
    const seen = this.read();
    this.#last = { at: now, seen };
    seen.catch(() => {
      if (this.#last?.seen === seen) this.#last = null;
    });
    return seen;
  }

  private async read(): Promise<Seen> {
    const [overview, backlog] = await Promise.all([this.books.overview(), this.books.backlog()]);
    return { overview, backlog };
  }
}

// The numbers of the overview, asked for at most once in some seconds however many people look.
import { Injectable } from '@nestjs/common';
import { type Backlog, Books, type Overview } from '../domain/ports/books.js';
import { Clock } from '../domain/ports/clock.js';
import { DayBooks } from '../domain/ports/day-books.js';
import { DoorBooks } from '../domain/ports/door-books.js';
import { Notifications } from '../domain/ports/notifications.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { DAY_MS } from '../policy.js';
import { type Waiting } from './needs.js';
import { type Trend } from './trends.js';

export type Seen = { readonly overview: Overview; readonly backlog: Backlog; readonly waiting: Waiting };

const FRESH_MS = 5_000;
const TREND_FRESH_MS = 60_000;
/** Review items on the first page. */
const REVIEWS = 8;

type Asked<T> = { readonly at: number; readonly answer: Promise<T> };

@Injectable()
export class Figures {
  readonly #asked = new Map<string, Asked<unknown>>();

  constructor(
    private readonly books: Books,
    private readonly days: DayBooks,
    private readonly doors: DoorBooks,
    private readonly verify: VerifyBooks,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /** Rejects when the database does not answer; the next one who asks tries again. */
  now(): Promise<Seen> {
    return this.kept('now', FRESH_MS, () => this.read());
  }

  /** So many days with today, in UTC. */
  trend(days: number): Promise<Trend> {
    return this.kept(`${days} days`, TREND_FRESH_MS, async () => {
      const until = new Date((Math.floor(this.clock.now().getTime() / DAY_MS) + 1) * DAY_MS);
      const span = { since: new Date(until.getTime() - days * DAY_MS), until };
      const [money, figures, backlog] = await Promise.all([
        this.days.money(span),
        this.days.figures(span),
        this.days.backlog(span),
      ]);
      return { ...span, money, figures, backlog };
    });
  }

  private async kept<T>(name: string, freshMs: number, read: () => Promise<T>): Promise<T> {
    const now = this.clock.now().getTime();
    const last = this.#asked.get(name) as Asked<T> | undefined;
    if (last !== undefined && Math.abs(now - last.at) < freshMs) return last.answer;
    const asked = { at: now, answer: read() };
    this.#asked.set(name, asked);
    try {
      return await asked.answer;
    } catch (e) {
      if (this.#asked.get(name) === asked) this.#asked.delete(name);
      throw e;
    }
  }

  private async read(): Promise<Seen> {
    const [overview, backlog, reviews, answers, verified, complete, stuck, notifications] = await Promise.all([
      this.books.overview(),
      this.books.backlog(),
      this.books.reviews({ status: 'open' }, { limit: REVIEWS, cursor: null }, 'due'),
      this.doors.answers(new Date(this.clock.now().getTime() - DAY_MS)),
      this.verify.last(),
      this.verify.lastComplete(),
      this.books.stuck(REVIEWS),
      this.notifications.standing(),
    ]);
    const waiting = {
      reviews: reviews.data,
      openReviews: [...backlog.openReviews.values()].reduce((sum, n) => sum + n, 0),
      parkedEvents: backlog.parkedEvents,
      answers,
      verified,
      verifiedAt: complete,
      stuck,
      deadNotifications: notifications.dead,
    };
    return { overview, backlog, waiting };
  }
}

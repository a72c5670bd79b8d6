// The numbers of the overview. The database computes them at most every few seconds, for any number of readers.
import { Injectable } from '@nestjs/common';
import { startOfDay } from '../../shared/domain/day.js';
import { HealthRepository } from '../../core/health/health.repository.js';
import { ReviewsRepository } from '../../core/reviews/reviews.repository.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { DaysRepository, type DayMoney, type DayRenewals, type Days } from './days.repository.js';
import { EndpointRepliesRepository } from '../../frames/intake/endpoint-replies.repository.js';
import { DAY_MS } from '../../shared/policy.js';
import { Needs } from '../../frames/console/needs.js';
import { type Waiting } from './needs.js';

export type Now = {
  readonly at: Date;
  /** The MoR's payments and refunds since midnight UTC, by currency. */
  readonly money: readonly DayMoney[];
  readonly waiting: Waiting;
};
export type Trend = {
  readonly days: Days;
  readonly money: readonly DayMoney[];
  readonly renewals: readonly DayRenewals[];
};

/** The days of the chart, today included. */
export const DAYS_SHOWN = 30;
const FRESH_MS = 5_000;
const TREND_FRESH_MS = 60_000;
/** The most review items on the first page. */
const REVIEWS = 8;

type Asked<T> = { readonly at: number; readonly reply: Promise<T> };

@Injectable()
export class Figures {
  readonly #asked = new Map<string, Asked<unknown>>();

  constructor(
    private readonly health: HealthRepository,
    private readonly reviews: ReviewsRepository,
    private readonly days: DaysRepository,
    private readonly endpoints: EndpointRepliesRepository,
    private readonly needs: Needs,
    private readonly clock: Clock,
  ) {}

  /** The numbers of now. Rejects if the database does not reply; the next request tries again. */
  now(): Promise<Now> {
    return this.kept('now', FRESH_MS, () => this.read());
  }

  trend(): Promise<Trend> {
    return this.kept('trend', TREND_FRESH_MS, async () => {
      const { since: today, until } = this.today();
      const days = { since: new Date(today.getTime() - (DAYS_SHOWN - 1) * DAY_MS), until };
      const [money, renewals] = await Promise.all([this.days.money(days), this.days.renewals(days)]);
      return { days, money, renewals };
    });
  }

  private today(): Days {
    const since = startOfDay(this.clock.now());
    return { since, until: new Date(since.getTime() + DAY_MS) };
  }

  private async kept<T>(name: string, freshMs: number, read: () => Promise<T>): Promise<T> {
    const now = this.clock.now().getTime();
    const last = this.#asked.get(name) as Asked<T> | undefined;
    if (last !== undefined && Math.abs(now - last.at) < freshMs) return last.reply;
    const asked = { at: now, reply: read() };
    this.#asked.set(name, asked);
    try {
      return await asked.reply;
    } catch (e) {
      if (this.#asked.get(name) === asked) this.#asked.delete(name);
      throw e;
    }
  }

  private async read(): Promise<Now> {
    const at = this.clock.now();
    const [money, backlog, reviews, replies, stuck, ofFeatures] = await Promise.all([
      this.days.money(this.today()),
      this.health.backlog(),
      this.reviews.list({ status: 'open' }, { limit: REVIEWS, cursor: null }, 'due'),
      this.endpoints.replies(new Date(at.getTime() - DAY_MS)),
      this.health.stuck(REVIEWS),
      this.needs.read(at),
    ]);
    const waiting = {
      reviews: reviews.data,
      abouts: await this.reviews.abouts(reviews.data),
      openReviews: [...backlog.openReviews.values()].reduce((sum, n) => sum + n, 0),
      parkedEvents: backlog.parkedEvents,
      replies,
      stuck,
      ofFeatures,
    };
    return { at, money, waiting };
  }
}

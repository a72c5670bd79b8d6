// What the console's first page shows of many days: sums that are kept by the day, so that a page of 90 days reads 90 rows.

/** What the MoR took and gave back on one day in one currency, in smallest units, by when it moved the money. */
export type DayMoney = {
  /** Its start, in UTC. */
  readonly day: Date;
  readonly currency: string;
  readonly collected: bigint;
  readonly refunded: bigint;
  /** How many payments were taken. */
  readonly payments: number;
};

/** Up to so many seconds from the charge until Stripe shows the invoice as paid; what took longer is counted after the last. */
export const PAID_AFTER_SEC = [60, 300, 3_600, 7_200, 86_400] as const;

export type DayFigures = {
  readonly day: Date;
  /** When they were counted. */
  readonly countedAt: Date;
  /** Renewals that Stripe made on this day, as they stood then. */
  readonly renewals: { readonly paid: number; readonly unpaid: number; readonly waiting: number };
  /** Failed payments whose last event came on this day, by the bank's code; empty where it gave none. */
  readonly declines: Readonly<Record<string, number>>;
  /** Invoices that Stripe showed as paid on this day, by how long after the charge: one number for each of `PAID_AFTER_SEC`, and the rest. */
  readonly paidAfter: readonly number[];
};

/** The most that waited at one of the looks of a day, a look a minute: events to decide and calls to make, and for how long the oldest did. */
export type DayBacklog = { readonly day: Date; readonly waiting: number; readonly oldestSec: number };

/** Whole days in UTC. */
export type Days = { readonly since: Date; readonly until: Date };

export abstract class DayBooks {
  abstract money(days: Days): Promise<readonly DayMoney[]>;
  /** The days that were counted, oldest first. */
  abstract figures(days: Days): Promise<readonly DayFigures[]>;
  /**
   * Counts one day that was not counted yet, or so long ago that late news may have changed it: the older a day, the more rarely. Gives
   * the day; null: there is none. Safe in many replicas at once.
   */
  abstract countOne(now: Date, daysBack: number): Promise<Date | null>;
  /** The days on which somebody looked, oldest first. */
  abstract backlog(days: Days): Promise<readonly DayBacklog[]>;
  /** One look: kept where it is more than what was seen of this day. */
  abstract noteBacklog(now: Date, waiting: number, oldestSec: number): Promise<void>;
}

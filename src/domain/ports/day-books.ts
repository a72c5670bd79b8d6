// Sums by the day for the overview: a page of 30 days reads 30 rows.

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

/** Renewals that Stripe made on one day, as they stood at the last count. */
export type DayRenewals = {
  readonly day: Date;
  readonly paid: number;
  readonly unpaid: number;
  /** The MoR has given no verdict. */
  readonly waiting: number;
};

/** Whole days in UTC. */
export type Days = { readonly since: Date; readonly until: Date };

export abstract class DayBooks {
  abstract money(days: Days): Promise<readonly DayMoney[]>;
  /** The days that were counted, oldest first. */
  abstract renewals(days: Days): Promise<readonly DayRenewals[]>;
  /**
   * Counts one day that was not counted yet, or so long ago that late news may have changed it: the older a day, the more rarely. Gives
   * the day; null: there is none. Safe in many replicas at once.
   */
  abstract countOne(now: Date, daysBack: number): Promise<Date | null>;
}

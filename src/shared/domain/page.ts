// A page of a list: the request and the result.

/** A request for one page of a list. The newest rows come first. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null };

export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null };

/** Limits a list by the time that also sorts the list. */
export type Span = {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
};

/** The filters of a list of invoices, refunds or other money. A missing or undefined filter selects every row. */
export type MoneyFilter = Span & {
  /** ISO 4217, upper case. */
  readonly currency?: string | undefined;
  /** This exact amount in smallest units: the amount due of an invoice, or the whole amount of a payment or refund. */
  readonly amount?: bigint | undefined;
  readonly customerId?: string | undefined;
};

/**
 * The sums of the selected rows. They cover the newest few thousand rows, or all rows if the database keeps sums by
 * day.
 */
export type SelectionSums = {
  /** The sum of each currency, in smallest units. `currency` null: rows with an unknown amount. */
  readonly sums: readonly { readonly currency: string | null; readonly rows: number; readonly minor: bigint }[];
  /** False: the sums leave out the older rows. */
  readonly all: boolean;
};

/** The cursor in a request comes from none of our lists. The API shows the message to its caller. */
export class BadCursor extends Error {
  readonly code = 'bad_cursor';
}

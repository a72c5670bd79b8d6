// A page of a list: the request and the result.

/** A page of a list, newest first. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null };

export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null };

/** A stretch of time, by the time of the list's order. */
export type Span = {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
};

/** The filters of a list of money; a missing or undefined one filters nothing. */
export type MoneyFilter = Span & {
  /** ISO 4217, upper case. */
  readonly currency?: string | undefined;
  /** Exactly so many smallest units: the amount due of an invoice, the whole of a payment or refund. */
  readonly amount?: bigint | undefined;
  readonly customerId?: string | undefined;
};

/** The sums of a selection: of the newest few thousand rows, or of all if sums by the day exist. */
export type SelectionSums = {
  /** `currency` null: rows with an unknown amount. Smallest units. */
  readonly sums: readonly { readonly currency: string | null; readonly rows: number; readonly minor: bigint }[];
  /** False: without the older rows. */
  readonly all: boolean;
};

/** A cursor from no list of ours: it comes from the caller, and the caller learns it. */
export class BadCursor extends Error {
  readonly code = 'bad_cursor';
}

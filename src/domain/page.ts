// A page of a list: what is asked for, and what is given.

/** A page of a list, newest first. */
export type PageRequest = { readonly limit: number; readonly cursor: string | null };

export type Page<T> = { readonly data: readonly T[]; readonly nextCursor: string | null };

/** A stretch of time, by the time that the list is ordered by. */
export type Span = {
  /** At this time or later. */
  readonly since?: Date | undefined;
  /** Before this time. */
  readonly until?: Date | undefined;
};

/** What a list of money is filtered by; what is left out or undefined filters nothing. */
export type MoneyFilter = Span & {
  /** ISO 4217, upper case. */
  readonly currency?: string | undefined;
  /** Exactly so many smallest units: what is due of an invoice, the whole of a payment or refund. */
  readonly amount?: bigint | undefined;
  readonly customerId?: string | undefined;
};

/** What the rows of a selection add up to: of the newest few thousand, or of all where sums by the day are kept. */
export type SelectionSums = {
  /** `currency` null: rows whose amount is not known. Smallest units. */
  readonly sums: readonly { readonly currency: string | null; readonly rows: number; readonly minor: bigint }[];
  /** False: older rows were not looked at. */
  readonly all: boolean;
};

/** A cursor that no list gave out: it comes from the caller, and the caller is told. */
export class BadCursor extends Error {
  readonly code = 'bad_cursor';
}

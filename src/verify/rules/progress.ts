// The progress of a verify run, for its resumption. JSON keeps it as it is: times are milliseconds since 1970. Pure.
import { type FlowSettings } from '../../domain/settings.js';
import { VERIFY_GRACE_MS } from '../../policy.js';

/** Raise it when a release compares more: half a run of an older release did not look at everything. */
export const PROGRESS_VERSION = 4;

/** Still to list: from (included) to (not included; null: the newest). */
export type Stretch = { readonly from: number; readonly to: number | null };

/** The rest of a list, newest first. Times and not ids: an object may disappear before its next read. */
export type Listing = {
  /** Newest first. Empty: all compared. */
  readonly todo: readonly Stretch[];
  /** Creation time of the newest listed object, by the platform's clock; null: there was none. */
  readonly newest: number | null;
};

/** The lists of the platform, in the order of their comparison. */
export const LISTS = ['invoices', 'records', 'notes', 'events'] as const;
export type ListName = (typeof LISTS)[number];
export type Listings = Readonly<Record<ListName, Listing>>;

export type VerifyProgress = {
  readonly version: number;
  /** Other settings compare other things. */
  readonly settings: FlowSettings;
  readonly lists: Listings;
  /** Invoices with something open, in their own order: compared with their credit notes up to here. */
  readonly refundsAfter: number;
  /** Invoices with a difference to a peer: the run looks at them again first. */
  readonly again: readonly string[];
  /** Differences to a peer beyond the kept ones, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

/** `again`: invoices with a difference in the last run. */
export function begun(since: Date, settings: FlowSettings, again: readonly string[] = []): VerifyProgress {
  const all: Listing = { todo: [{ from: since.getTime(), to: null }], newest: null };
  const lists = { invoices: all, records: all, notes: all, events: all };
  return { version: PROGRESS_VERSION, settings, lists, refundsAfter: 0, again, more: {} };
}

/** After a page of the first stretch. `times`: the creation times of its objects. */
export function afterPage({ todo, newest }: Listing, times: readonly Date[], isLast: boolean): Listing {
  const made = times.map((t) => t.getTime());
  const seen = newest === null ? made : [...made, newest];
  const [first, ...rest] = todo;
  const next = { newest: seen.length === 0 ? null : Math.max(...seen) };
  if (first === undefined || isLast) return { ...next, todo: rest };
  // The platform counts in seconds: the next page may have more objects of the oldest one's second.
  const to = made.length === 0 ? first.to : Math.floor(Math.min(...made) / 1000) * 1000 + 1000;
  return { ...next, todo: [{ from: first.from, to }, ...rest] };
}

/** A resumed run first lists all objects since the newest one, and those too young before; then the rest. */
export function takenUp(listing: Listing, since: Date): Listing {
  const { todo, newest } = listing;
  if (todo[0]?.to === null) return listing; // it had not begun
  const from = Math.max(since.getTime(), (newest ?? 0) - VERIFY_GRACE_MS);
  return { newest, todo: [{ from, to: null }, ...todo] };
}

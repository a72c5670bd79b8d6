// The progress of a verify run, for another run to resume. The database stores it as JSON, with times in milliseconds
// since 1970. Pure.
import { type DecisionSettings } from '../../../shared/domain/settings.js';
import { VERIFY_GRACE_MS } from './limits.js';

/**
 * Raise the version when a release compares more. An interrupted run of an older release lacks the new comparisons, so
 * no run may resume it.
 */
export const PROGRESS_VERSION = 4;

/** A span still to list, from `from` (included) to `to` (excluded). `to` null: up to the newest object. */
export type Stretch = { readonly from: number; readonly to: number | null };

/**
 * The part of one of Stripe's lists still to read, as spans of creation times. An object's id cannot mark the place in
 * the list: Stripe may have deleted the object before the run resumes.
 */
export type Listing = {
  /** The spans still to list, newest first. Empty: everything is compared. */
  readonly todo: readonly Stretch[];
  /** The creation time of the newest listed object, by the platform's clock. Null: none so far. */
  readonly newest: number | null;
};

/** The lists of the platform, in the order of their comparison. */
export const LISTS = ['invoices', 'records', 'notes', 'events'] as const;
export type ListName = (typeof LISTS)[number];
export type Listings = Readonly<Record<ListName, Listing>>;

export type VerifyProgress = {
  readonly version: number;
  /** The settings of the run. A run with other settings would compare other things, so it cannot resume this run. */
  readonly settings: DecisionSettings;
  readonly lists: Listings;
  /** Verify has compared the refunds of all invoices with open work up to this `seq`. */
  readonly refundsAfter: number;
  /** Invoices with a difference to Stripe or the MoR. The next run compares them first. */
  readonly again: readonly string[];
  /** How many differences to Stripe or the MoR did not fit into the stored list, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

/** The progress of a run at its start. `again`: invoices with a difference in the last run. */
export function begun(since: Date, settings: DecisionSettings, again: readonly string[] = []): VerifyProgress {
  const all: Listing = { todo: [{ from: since.getTime(), to: null }], newest: null };
  const lists = { invoices: all, records: all, notes: all, events: all };
  return { version: PROGRESS_VERSION, settings, lists, refundsAfter: 0, again, more: {} };
}

/** Removes a compared page from the first span still to list. `times`: the creation times of the page's objects. */
export function afterPage({ todo, newest }: Listing, times: readonly Date[], isLast: boolean): Listing {
  const made = times.map((t) => t.getTime());
  const seen = newest === null ? made : [...made, newest];
  const [first, ...rest] = todo;
  const next = { newest: seen.length === 0 ? null : Math.max(...seen) };
  if (first === undefined || isLast) return { ...next, todo: rest };
  // Stripe's times are whole seconds. The last second of the page stays in the span: it may have more objects.
  const to = made.length === 0 ? first.to : Math.floor(Math.min(...made) / 1000) * 1000 + 1000;
  return { ...next, todo: [{ from: first.from, to }, ...rest] };
}

/**
 * What a resumed run still has to read of a list: first the objects made since the interrupted run and the objects too
 * young for that run, then the rest of the list.
 */
export function takenUp(listing: Listing, since: Date): Listing {
  const { todo, newest } = listing;
  if (todo[0]?.to === null) return listing; // the interrupted run had not begun this list
  const from = Math.max(since.getTime(), (newest ?? 0) - VERIFY_GRACE_MS);
  return { newest, todo: [{ from, to: null }, ...todo] };
}

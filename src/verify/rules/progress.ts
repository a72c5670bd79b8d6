// The progress of a verify run: another run can resume from it. The database stores it as JSON, with times in
// milliseconds since 1970. Pure.
import { type FlowSettings } from '../../domain/settings.js';
import { VERIFY_GRACE_MS } from '../../policy.js';

/**
 * Raise the version when a release compares more. A half run of an older release lacks these comparisons, so no run may
 * resume it.
 */
export const PROGRESS_VERSION = 4;

/** A span still to list, from `from` (included) to `to` (excluded). `to` null: up to the newest object. */
export type Stretch = { readonly from: number; readonly to: number | null };

/**
 * What verify still has to read of one list of Stripe's objects. It is a list of time spans, because the object behind
 * an id may be deleted before the run resumes.
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
  readonly settings: FlowSettings;
  readonly lists: Listings;
  /**
   * Verify compares the invoices with open work, in the order of their numbers. The credit notes of all invoices up to
   * this number are already compared.
   */
  readonly refundsAfter: number;
  /** Invoices with a difference to Stripe or the MoR. The next run compares them first. */
  readonly again: readonly string[];
  /** How many differences to Stripe or the MoR did not fit into the stored list, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

/** The progress of a run at its start. `again`: invoices with a difference in the last run. */
export function begun(since: Date, settings: FlowSettings, again: readonly string[] = []): VerifyProgress {
  const all: Listing = { todo: [{ from: since.getTime(), to: null }], newest: null };
  const lists = { invoices: all, records: all, notes: all, events: all };
  return { version: PROGRESS_VERSION, settings, lists, refundsAfter: 0, again, more: {} };
}

/** The rest of the list after a page of the first span. `times`: the creation times of the objects on the page. */
export function afterPage({ todo, newest }: Listing, times: readonly Date[], isLast: boolean): Listing {
  const made = times.map((t) => t.getTime());
  const seen = newest === null ? made : [...made, newest];
  const [first, ...rest] = todo;
  const next = { newest: seen.length === 0 ? null : Math.max(...seen) };
  if (first === undefined || isLast) return { ...next, todo: rest };
  // The platform counts in seconds, so the next page may have more objects of the same second.
  const to = made.length === 0 ? first.to : Math.floor(Math.min(...made) / 1000) * 1000 + 1000;
  return { ...next, todo: [{ from: first.from, to }, ...rest] };
}

/**
 * What a resumed run still has to read of a list. First come all objects made since the interrupted run, and the
 * objects that were too young for it to compare. Then comes the rest of the list.
 */
export function takenUp(listing: Listing, since: Date): Listing {
  const { todo, newest } = listing;
  if (todo[0]?.to === null) return listing; // the interrupted run had not begun this list
  const from = Math.max(since.getTime(), (newest ?? 0) - VERIFY_GRACE_MS);
  return { newest, todo: [{ from, to: null }, ...todo] };
}

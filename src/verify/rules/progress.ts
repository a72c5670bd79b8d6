// How far a verify run is, so that a run that was cut off can be gone on with. Pure.
import { type FlowSettings } from '../../domain/settings.js';
import { GRACE_MS } from './compare.js';

/**
 * A run is gone on with only while it is younger than this, counted from its first beginning. A day after that the next daily run
 * is due, which compares everything anew: so nothing that a report says was compared longer ago than that.
 */
export const RESUME_WITHIN_MS = 86_400_000;
/**
 * A run that wrote nothing down for this long is dead: one that lives does so every 30 seconds, once the question under way is
 * answered or given up, which takes two minutes at most. Should it live after all, it finds itself taken up and ends.
 */
export const ABANDONED_AFTER_MS = 10 * 60_000;
/** Raised when a release compares more than the one before: half a run of the older would not have looked at all. */
export const PROGRESS_VERSION = 2;

/** What is still to be listed: from (included) to (not included; null: whatever is newest). */
export type Stretch = { readonly from: Date; readonly to: Date | null };

/**
 * A list that the billing platform gives newest first, and what of it was not compared yet. Times and not ids: the object that an
 * id names may be deleted, or be no longer listed, until it is asked after.
 */
export type Listing = {
  /** Newest first. Empty: all was compared. */
  readonly todo: readonly Stretch[];
  /** When the newest object that was listed was made, by the platform's clock; null: there was none. */
  readonly newest: Date | null;
};

/** What is listed, and so can be gone on with. */
export const LISTS = ['invoices', 'records', 'notes', 'events'] as const;
export type ListName = (typeof LISTS)[number];

export type VerifyProgress = {
  readonly version: number;
  /** What the run was made with: with other settings it would have compared other things. */
  readonly settings: FlowSettings;
  readonly invoices: Listing;
  readonly records: Listing;
  readonly notes: Listing;
  readonly events: Listing;
  /** Of the invoices with something open, in their own order, those up to here were compared with their credit notes. */
  readonly refundsAfter: bigint;
  /** Invoices that differed from what a peer showed: they are looked at again before the run goes on. */
  readonly again: readonly string[];
  /** Differences that a peer showed beyond those that are kept, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

/** `again`: invoices that differed when they were looked at last. */
export function begun(since: Date, settings: FlowSettings, again: readonly string[] = []): VerifyProgress {
  const all: Listing = { todo: [{ from: since, to: null }], newest: null };
  return {
    version: PROGRESS_VERSION,
    settings,
    invoices: all,
    records: all,
    notes: all,
    events: all,
    refundsAfter: 0n,
    again,
    more: {},
  };
}

/** After a page of the first stretch. `times`: when its objects were made. */
export function afterPage({ todo, newest }: Listing, times: readonly Date[], isLast: boolean): Listing {
  const made = times.map((t) => t.getTime());
  const seen = newest === null ? made : [...made, newest.getTime()];
  const [first, ...rest] = todo;
  const next = { newest: seen.length === 0 ? null : new Date(Math.max(...seen)) };
  if (first === undefined || isLast) return { ...next, todo: rest };
  // The platform counts in seconds: others of the oldest one's second may be on the next page.
  const to = made.length === 0 ? first.to : new Date(Math.floor(Math.min(...made) / 1000) * 1000 + 1000);
  return { ...next, todo: [{ from: first.from, to }, ...rest] };
}

/**
 * What is to be listed when a run is gone on with: what was made since it listed the newest, with what was too young to be compared
 * then; after that the rest.
 */
export function takenUp(listing: Listing, since: Date): Listing {
  const { todo, newest } = listing;
  if (todo[0]?.to === null) return listing; // it had not begun
  const from = newest === null ? since : new Date(Math.max(since.getTime(), newest.getTime() - GRACE_MS));
  return { newest, todo: [{ from, to: null }, ...todo] };
}

/** As JSON keeps it. */
type Kept<T> = T extends Date | bigint
  ? string
  : T extends readonly (infer U)[]
    ? Kept<U>[]
    : T extends object
      ? { [K in keyof T]: Kept<T[K]> }
      : T;

/** What JSON can keep: its dates become ISO 8601 text by themselves. */
export function progressToJson(p: VerifyProgress): object {
  return { ...p, refundsAfter: p.refundsAfter.toString() };
}

/** Only what was written by this version is read: the store picks runs by it. */
export function progressFromJson(json: unknown): VerifyProgress {
  const kept = json as Kept<Omit<VerifyProgress, 'settings'>> & Pick<VerifyProgress, 'settings'>;
  const dated = ({ todo, newest }: Kept<Listing>): Listing => ({
    newest: newest === null ? null : new Date(newest),
    todo: todo.map(({ from, to }) => ({ from: new Date(from), to: to === null ? null : new Date(to) })),
  });
  return {
    ...kept,
    invoices: dated(kept.invoices),
    records: dated(kept.records),
    notes: dated(kept.notes),
    events: dated(kept.events),
    refundsAfter: BigInt(kept.refundsAfter),
  };
}

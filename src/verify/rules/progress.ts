// How far a verify run is, so that an interrupted run can resume. Pure.
import { type FlowSettings } from '../../domain/settings.js';
import { VERIFY_GRACE_MS } from '../../policy.js';
import { type Listing, type VerifyProgress } from '../../domain/difference.js';

/** Raised when a release compares more than the one before: half a run of the older would not have looked at all. */
export const PROGRESS_VERSION = 2;

/** What is listed, and so can be resumed. */
export const LISTS = ['invoices', 'records', 'notes', 'events'] as const;
export type ListName = (typeof LISTS)[number];

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
 * What a resumed run has to list: what was made since it listed the newest, with what was too young to be compared
 * then; after that the rest.
 */
export function takenUp(listing: Listing, since: Date): Listing {
  const { todo, newest } = listing;
  if (todo[0]?.to === null) return listing; // it had not begun
  const from = newest === null ? since : new Date(Math.max(since.getTime(), newest.getTime() - VERIFY_GRACE_MS));
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

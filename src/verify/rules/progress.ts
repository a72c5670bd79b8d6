// The progress of a verify run, for its resumption. Pure.
import { type FlowSettings } from '../../domain/settings.js';
import { VERIFY_GRACE_MS } from '../../policy.js';
import { type Listing, type ListName, LISTS, type VerifyProgress } from '../../domain/difference.js';

/** Raise it when a release compares more: half a run of an older release did not look at everything. */
export const PROGRESS_VERSION = 3;

function eachList(make: (name: ListName) => Listing): VerifyProgress['lists'] {
  return Object.fromEntries(LISTS.map((name) => [name, make(name)])) as VerifyProgress['lists'];
}

/** `again`: invoices with a difference in the last run. */
export function begun(since: Date, settings: FlowSettings, again: readonly string[] = []): VerifyProgress {
  const lists = eachList(() => ({ todo: [{ from: since, to: null }], newest: null }));
  return { version: PROGRESS_VERSION, settings, lists, refundsAfter: 0n, again, more: {} };
}

/** After a page of the first stretch. `times`: the creation times of its objects. */
export function afterPage({ todo, newest }: Listing, times: readonly Date[], isLast: boolean): Listing {
  const made = times.map((t) => t.getTime());
  const seen = newest === null ? made : [...made, newest.getTime()];
  const [first, ...rest] = todo;
  const next = { newest: seen.length === 0 ? null : new Date(Math.max(...seen)) };
  if (first === undefined || isLast) return { ...next, todo: rest };
  // The platform counts in seconds: the next page may have more objects of the oldest one's second.
  const to = made.length === 0 ? first.to : new Date(Math.floor(Math.min(...made) / 1000) * 1000 + 1000);
  return { ...next, todo: [{ from: first.from, to }, ...rest] };
}

/** A resumed run lists all objects since the newest one, those too young before included, and then the rest. */
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

/** JSON writes dates as ISO 8601 text. */
export function progressToJson(p: VerifyProgress): object {
  return { ...p, refundsAfter: p.refundsAfter.toString() };
}

/** The store picks runs of this version alone. */
export function progressFromJson(json: unknown): VerifyProgress {
  const kept = json as Kept<Omit<VerifyProgress, 'settings'>> & Pick<VerifyProgress, 'settings'>;
  const lists = eachList((name) => {
    const { todo, newest } = kept.lists[name];
    const stretches = todo.map(({ from, to }) => ({ from: new Date(from), to: to === null ? null : new Date(to) }));
    return { newest: newest === null ? null : new Date(newest), todo: stretches };
  });
  return { ...kept, lists, refundsAfter: BigInt(kept.refundsAfter) };
}

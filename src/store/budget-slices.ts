// How replicas divide the pace of the request budget among themselves. Pure: the same slices and wishes give the same grant.

/** A replica's part of the pace, as the budget's row holds it. */
export type Slice = {
  /** Requests a second that it may send; it holds them until `untilMs`. */
  readonly perSecond: number;
  /** Requests a second that it had work for when it asked. */
  readonly wanted: number;
  /** Of the database's clock, in milliseconds since 1970. */
  readonly untilMs: number;
};

/** How long a replica holds a slice, in milliseconds. A dead one's comes back then. */
export const SLICE_MS = 1_000;
/** What a replica wanted last counts this long beyond its slice, in milliseconds: it is about to ask again. */
const REMEMBERED_MS = 1_000;

/**
 * What one replica may send, in requests a second. Never more than the others' slices leave. Where all together want more than there
 * is, each gets what it wants up to an equal part. Where there is enough, each also gets a part of what nobody wants, so that calls in a row
 * do not wait for each other; one part is left over, so that a replica that has just started finds something free.
 */
export function grant(pace: number, wanted: number, others: readonly Slice[], nowMs: number): number {
  const free = pace - others.reduce((sum, s) => sum + (s.untilMs > nowMs ? s.perSecond : 0), 0);
  const spare = pace - wanted - others.reduce((sum, s) => sum + s.wanted, 0);
  const fair = fairPart(
    pace,
    wanted,
    others.map((s) => s.wanted),
  );
  return Math.max(0, Math.min(free, fair + Math.max(0, spare) / (others.length + 2)));
}

/** The small wishes are met, and the others share the rest alike. */
function fairPart(pace: number, wanted: number, others: readonly number[]): number {
  let left = pace;
  const all = [...others, wanted].sort((a, b) => a - b);
  for (const [i, wish] of all.entries()) {
    const equal = left / (all.length - i);
    if (wish > equal) return Math.min(wanted, equal);
    left -= wish;
  }
  return wanted;
}

/** The slices of a row that count still. One that ends later than any can was given by a clock that has been set back since. */
export function liveSlices(stored: unknown, nowMs: number): ReadonlyMap<string, Slice> {
  const live = new Map<string, Slice>();
  if (typeof stored !== 'object' || stored === null) return live;
  for (const [replica, slice] of Object.entries(stored)) {
    const [perSecond, wanted, untilMs] = Array.isArray(slice) ? slice.map(Number) : [];
    if (perSecond === undefined || wanted === undefined || untilMs === undefined) continue;
    if (untilMs + REMEMBERED_MS <= nowMs || untilMs > nowMs + 2 * SLICE_MS) continue;
    live.set(replica, { perSecond, wanted, untilMs });
  }
  return live;
}

/** As a row keeps them. */
export function storedSlices(slices: ReadonlyMap<string, Slice>): string {
  const entries = [...slices].map(([replica, s]) => [replica, [s.perSecond, s.wanted, s.untilMs]]);
  return JSON.stringify(Object.fromEntries(entries));
}

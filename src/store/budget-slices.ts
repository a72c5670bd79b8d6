// How replicas divide the pace of the request budget among themselves. Pure: the same slices and wishes give the same grant.

/** A replica's part of the pace, as the budget's row holds it. */
export type Slice = {
  /** Its requests a second; it holds them until `untilMs`. */
  readonly perSecond: number;
  /** The requests a second it had work for at its last question. */
  readonly wanted: number;
  /** Of the database's clock, in milliseconds since 1970. */
  readonly untilMs: number;
};

/** How long a replica holds a slice, in milliseconds. A dead one's comes back then. */
export const SLICE_MS = 1_000;
/** A replica's last wish counts this long beyond its slice, in milliseconds: it is about to ask again. */
const REMEMBERED_MS = 1_000;

/**
 * One replica's share, in requests a second. Never more than the others' slices leave. If the wishes exceed the pace,
 * each gets its wish up to an equal part. If not, each also gets a part of the unwanted rest, so calls in a row do not
 * wait for each other; one part stays over for a replica just started.
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

/** Meets the small wishes; the others share the rest alike. */
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

/** The row's slices still in force. One ending later than any can was given by a clock set back since. */
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

// Divides the request budget among the replicas: each gets a slice, a number of requests a second. Pure functions.

/** One replica's part of the pace, as the budget's row stores it. */
export type Slice = {
  /** The requests a second this replica may send until `untilMs`. */
  readonly perSecond: number;
  /** The requests a second this replica wanted when it last asked. */
  readonly wanted: number;
  /** The end of the slice by the database's clock, in milliseconds since 1970. */
  readonly untilMs: number;
};

/** How long a slice is valid, in milliseconds. After this time the slice of a dead replica is free again. */
export const SLICE_MS = 1_000;
/**
 * After a slice has ended, the wish of its replica still counts for this time, in milliseconds: the replica is about to
 * ask again.
 */
const REMEMBERED_MS = 1_000;

/**
 * The requests a second for one replica, never more than the other replicas' slices leave. If all replicas together
 * want more than the pace, the replica gets its wish, up to an equal part. If they want less, the replica also gets an
 * equal part of the unwanted pace, so a new call need not wait. One such part stays free for a replica that has just
 * started.
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

/** The fair share for the wish `wanted`. Small wishes get all they ask; larger wishes share the rest of the pace. */
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

/**
 * The valid slices in the stored row. If a slice ends too far in the future, the server's clock was set back after the
 * slice was made. Such a slice does not count.
 */
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

/** Turns the slices into JSON for the row. */
export function storedSlices(slices: ReadonlyMap<string, Slice>): string {
  const entries = [...slices].map(([replica, s]) => [replica, [s.perSecond, s.wanted, s.untilMs]]);
  return JSON.stringify(Object.fromEntries(entries));
}

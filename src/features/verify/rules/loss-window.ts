// Finds the events a sender may have given up on, because every try met closed webhook endpoints. Pure.
import { MOR_ATTEMPTS_SEC } from './limits.js';

type Interval = { readonly from: number; readonly to: number };

const interval = (span: Span): Interval => ({ from: span.from.getTime(), to: span.to.getTime() });

const span = (interval: Interval): Span => ({ from: new Date(interval.from), to: new Date(interval.to) });

/** The gaps between the open times, in order. */
export function closedBetween(open: readonly Span[]): readonly Span[] {
  const closed: Span[] = [];
  let end: number | null = null;
  for (const { from, to } of open.map(interval).toSorted((a, b) => a.from - b.from)) {
    if (end !== null && from > end) closed.push(span({ from: end, to: from }));
    end = Math.max(end ?? to, to);
  }
  return closed;
}

/**
 * Returns the spans of lost events, in order. If an event is made in such a span, each of its delivery attempts,
 * `attemptsSec` seconds later, falls into a gap of `closed`.
 */
export function givenUp(closed: readonly Span[], attemptsSec: readonly number[] = MOR_ATTEMPTS_SEC): readonly Span[] {
  const gaps = closed.map(interval);
  let made: readonly Interval[] = [{ from: -Infinity, to: Infinity }];
  for (const sec of attemptsSec) {
    made = overlaps(
      made,
      gaps.map(({ from, to }) => ({ from: from - sec * 1_000, to: to - sec * 1_000 })),
    );
  }
  return made.filter(({ from, to }) => Number.isFinite(from) && Number.isFinite(to)).map(span);
}

/** Intersects two lists of spans. Both lists and the result are in order, without overlaps inside a list. */
function overlaps(one: readonly Interval[], other: readonly Interval[]): readonly Interval[] {
  const out: Interval[] = [];
  for (let i = 0, k = 0; i < one.length && k < other.length;) {
    const [x, y] = [one[i], other[k]];
    if (x === undefined || y === undefined) break;
    const [from, to] = [Math.max(x.from, y.from), Math.min(x.to, y.to)];
    if (from < to) out.push({ from, to });
    if (x.to < y.to) i++;
    else k++;
  }
  return out;
}

/** Finds the loss windows for the known open times. Empty: the sender gave up on no event. */
export function lossWindows(open: readonly Span[]): readonly LossWindow[] {
  const closed = closedBetween(open);
  const lastMs = Math.max(...MOR_ATTEMPTS_SEC) * 1_000;
  return givenUp(closed).map((events) => {
    // The closed times met by the attempts of these events.
    const met = closed.filter((c) => c.to > events.from && c.from.getTime() < events.to.getTime() + lastMs);
    return { events, closed: { from: met[0]?.from ?? events.from, to: met.at(-1)?.to ?? events.to } };
  });
}

/** Describes the loss window in a sentence for people. */
export function showLossWindow({ events, closed }: LossWindow): string {
  const at = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
  return `the webhook endpoints were closed from ${at(closed.from)} to ${at(closed.to)}: the MoR's events made between ${at(events.from)} and ${at(events.to)} may be lost for good`;
}

/** A span of time: `from` is included, `to` is excluded. */
export type Span = { readonly from: Date; readonly to: Date };

/**
 * The MoR's events made in `events` may be lost: each attempt met closed webhook endpoints. `closed` begins with the
 * first of these closed times and ends with the last.
 */
export type LossWindow = { readonly events: Span; readonly closed: Span };

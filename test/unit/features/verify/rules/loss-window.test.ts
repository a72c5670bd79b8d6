// Which events the MoR may have given up: those of whose every delivery fell on closed endpoints, and no others.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  closedBetween,
  givenUp,
  lossWindows,
  showLossWindow,
} from '../../../../../src/features/verify/rules/loss-window.js';
import { MOR_ATTEMPTS_SEC } from '../../../../../src/features/verify/rules/limits.js';

const ORIGIN = Date.parse('2026-11-20T00:00:00Z');
const at = (sec: number): Date => new Date(ORIGIN + sec * 1_000);
const span = (from: number, to: number) => ({ from: at(from), to: at(to) });
const seconds = (spans: readonly { from: Date; to: Date }[]): (readonly [number, number])[] =>
  spans.map((s) => [(s.from.getTime() - ORIGIN) / 1_000, (s.to.getTime() - ORIGIN) / 1_000] as const);
const HOUR = 3_600;

it('the webhook endpoints count as closed from the end of a recorded run of the daemon to the start of the next run', () => {
  const open = [span(0, 100), span(50, 70), span(90, 200), span(500, 600), span(600, 700), span(900, 900)];
  expect(seconds(closedBetween(open))).toEqual([
    [200, 500],
    [700, 900],
  ]);
  expect(closedBetween([])).toEqual([]);
  expect(closedBetween([span(5, 9)])).toEqual([]);
});

it("a loss window is as long as the outage less the three hours of the MoR's attempts", () => {
  const [last = 0] = MOR_ATTEMPTS_SEC.slice(-1);
  expect(last).toBe(10_930);
  const open = [span(0, 1_000), span(1_000 + 5 * HOUR, 1_060 + 5 * HOUR)];
  const [window] = lossWindows(open);
  expect(seconds(window === undefined ? [] : [window.events, window.closed])).toEqual([
    [1_000, 1_000 + 5 * HOUR - last],
    [1_000, 1_000 + 5 * HOUR],
  ]);
  expect(window === undefined ? '' : showLossWindow(window)).toContain(
    "the MoR's events made between 2026-11-20T00:16:40Z and 2026-11-20T02:14:30Z may be lost for good",
  );
});

it("an outage shorter than the MoR's attempts makes no loss window", () => {
  expect(lossWindows([])).toEqual([]);
  expect(lossWindows([span(0, 10)])).toEqual([]);
  expect(lossWindows([span(0, 10 * HOUR), span(10 * HOUR, 20 * HOUR)])).toEqual([]);
  expect(lossWindows([span(0, 10), span(10 + 3 * HOUR, 20 * HOUR)])).toEqual([]);
});

it('an event is lost if each of its attempts falls into an outage, even if these are two separate outages', () => {
  // Closed for twenty minutes, open for some, closed for hours: only the tries after 1,210 s and more meet the second.
  const open = [span(0, 0), span(1_215, 3_000), span(4 * HOUR, 4 * HOUR)];
  expect(seconds(givenUp(closedBetween(open)))).toEqual([
    [0, 5],
    [3_000, 4 * HOUR - 10_930], // and the second alone is long enough
  ]);
});

it('a loss window names the outages of its events and no other outage', () => {
  const windows = (open: readonly { from: Date; to: Date }[]): unknown =>
    lossWindows(open).map(({ events, closed }) => [...seconds([events]), ...seconds([closed])]);
  // Those made in the first five seconds had their last tries in the second outage.
  expect(windows([span(0, 0), span(1_215, 3_000), span(4 * HOUR, 4 * HOUR)])).toEqual([
    [
      [0, 5],
      [0, 4 * HOUR],
    ],
    [
      [3_000, 4 * HOUR - 10_930],
      [3_000, 4 * HOUR],
    ],
  ]);
  // Those of the first two seconds were tried once more before the second outage began.
  expect(windows([span(0, 0), span(1_215, 3_642), span(4 * HOUR, 4 * HOUR)])).toEqual([
    [
      [2, 5],
      [0, 4 * HOUR],
    ],
  ]);
  const days = (count: number): number => count * 24 * HOUR;
  expect(windows([span(0, 0), span(4 * HOUR, days(3)), span(days(3) + 5 * HOUR, days(4))])).toEqual([
    [
      [0, 4 * HOUR - 10_930],
      [0, 4 * HOUR],
    ],
    [
      [days(3), days(3) + 5 * HOUR - 10_930],
      [days(3), days(3) + 5 * HOUR],
    ],
  ]);
});

it('an attempt at the very end of an outage reaches an open webhook endpoint, and its event is not lost', () => {
  expect(givenUp([span(0, 10), span(20, 30)], [0, 10])).toEqual([]);
  expect(seconds(givenUp([span(0, 10), span(19, 29)], [0, 10]))).toEqual([[9, 10]]);
  expect(givenUp([], [0])).toEqual([]);
});

it('a sender without known attempts has no loss window', () => {
  expect(givenUp([span(0, 10)], [])).toEqual([]);
});

it('a loss window covers exactly the events with every attempt at a closed webhook endpoint', () => {
  const spans = fc.array(fc.tuple(fc.nat(60), fc.nat(12)), { maxLength: 6 });
  const tries = fc.uniqueArray(fc.nat(20), { maxLength: 4 }).map((more) => [0, ...more]);
  fc.assert(
    fc.property(spans, tries, (drawn, attempts) => {
      const open = drawn.map(([from, length]) => span(from, from + length));
      const lost = seconds(givenUp(closedBetween(open), attempts));
      const isOpen = (sec: number): boolean => drawn.some(([from, length]) => from <= sec && sec < from + length);
      const [start, end] = [Math.min(...drawn.map(([f]) => f)), Math.max(...drawn.map(([f, l]) => f + l))];
      const times = Array.from({ length: 85 }, (_, i) => i - 5);
      const missed = times.filter((made) =>
        attempts.every((s) => made + s >= start && made + s < end && !isOpen(made + s)),
      );
      expect(times.filter((made) => lost.some(([from, to]) => from <= made && made < to))).toEqual(missed);
      lost.slice(1).forEach(([from], i) => expect(from).toBeGreaterThanOrEqual(lost[i]?.[1] ?? Infinity));
    }),
    { numRuns: 300 },
  );
});

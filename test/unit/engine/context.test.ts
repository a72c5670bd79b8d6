// When a call is tried again: soon at first, later each time, not before the peer asked for, and never out of reach.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retryAt, type Ctx } from '../../../src/engine/context.js';

const now = new Date('2026-11-20T12:00:00Z');
const waitMs = (attempts: number, jitter: number, asked: number | null, slow = false): number =>
  retryAt({ now, jitter: () => jitter } as Ctx, attempts, asked, slow).getTime() - now.getTime();

it('the pause before Crossbill repeats a failed call lasts from half a second to an hour, after any reply and any number of failures', () => {
  const asked = fc.option(fc.integer({ min: 0, max: 10 * 86_400_000 }), { nil: null });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), asked, (n, j, ask) => {
      const wait = waitMs(n, j, ask);
      expect(wait).toBeGreaterThanOrEqual(500);
      expect(wait).toBeLessThanOrEqual(3_600_000);
      expect(wait).toBeGreaterThanOrEqual(Math.min(ask ?? 0, 3_600_000)); // not before it asked for, up to the hour
      if (ask === null) expect(wait).toBeLessThanOrEqual(900_000);
    }),
  );
});

it('the pause between tries of a call doubles from about a second to fifteen minutes, and varies at random by a quarter', () => {
  expect([1, 2, 3, 8, 10, 11, 50].map((n) => waitMs(n, 0.5, null) / 1_000)).toEqual([1, 2, 4, 128, 512, 900, 900]);
  expect([0, 0.999_999].map((jitter) => Math.round(waitMs(3, jitter, null)))).toEqual([3_000, 5_000]);
  expect([waitMs(1, 0, null), waitMs(30, 0, null), waitMs(30, 0.999_999, null)]).toEqual([750, 675_000, 900_000]);
});

it('Crossbill repeats a call after an hour at most, even if Stripe or the MoR asks for longer, and a minute after a 401 or 403', () => {
  expect(waitMs(1, 0.5, 86_400_000)).toBe(3_600_000);
  expect(waitMs(1, 0.5, null, true)).toBe(60_000);
});

// How far a verify run is: however often a listing is cut off, everything that the platform lists is compared.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { afterPage, begun, type Listing, takenUp } from '../../../../../src/features/verify/rules/progress.js';
import { SETTINGS } from '../../../../support/builders/events.js';

const SINCE = new Date('2026-11-01T00:00:00Z');
const FROM = SINCE.getTime();
const at = (sec: number): number => FROM + sec * 1000;
const times = (...secs: number[]): Date[] => secs.map((sec) => new Date(at(sec)));

/** As the database keeps it through a restart. */
const kept = (listing: Listing): Listing => JSON.parse(JSON.stringify(listing)) as Listing;

it('a verify listing compares every object on Stripe, whatever interrupts the listing', () => {
  const second = fc.integer({ min: 0, max: 400 });
  const sittings = fc.array(fc.record({ pages: fc.integer({ min: 0, max: 4 }), made: fc.array(second) }), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(second, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), sittings, (old, size, cuts) => {
      let now = 400;
      let made = old.map((sec, n) => ({ id: `in_${n}`, sec }));
      let listing = begun(SINCE, SETTINGS).lists.invoices;
      const compared = new Set<string>();
      const session = (pages: number): void => {
        for (let [stretch] = listing.todo; stretch !== undefined && pages > 0; [stretch] = listing.todo) {
          const { from, to } = stretch;
          const listed = made
            .filter((i) => at(i.sec) >= from && (to === null || at(i.sec) < to))
            .toSorted((a, b) => b.sec - a.sec);
          for (let first = 0; pages > 0; first += size, pages--) {
            const page = listed.slice(first, first + size);
            const isLast = first + size >= listed.length;
            for (const i of page) compared.add(i.id);
            listing = kept(afterPage(listing, times(...page.map((i) => i.sec)), isLast));
            if (isLast) break;
          }
        }
      };
      for (const cut of cuts) {
        session(cut.pages);
        made = [...made, ...cut.made.map((sec, n) => ({ id: `in_${now}_${n}`, sec: now + (sec % 50) }))];
        now += 50;
        listing = takenUp(listing, SINCE);
      }
      session(Infinity);
      expect(made.filter((i) => !compared.has(i.id))).toEqual([]);
      expect(listing.todo).toEqual([]);
    }),
  );
});

it('a resumed verify listing reads the newest objects again, and skips the older objects already compared', () => {
  const whole = begun(SINCE, SETTINGS).lists.invoices;
  const half = afterPage(whole, times(1_000, 900, 900.5), false);
  expect(half).toEqual({ newest: at(1_000), todo: [{ from: FROM, to: at(901) }] });
  expect(takenUp(half, SINCE).todo).toEqual([
    { from: at(880), to: null },
    { from: FROM, to: at(901) },
  ]);
  expect(takenUp(whole, SINCE)).toEqual(whole);
  expect(takenUp(afterPage(whole, [], true), SINCE).todo).toEqual([{ from: FROM, to: null }]);
  // Pages come newest first, so what a later page holds is older.
  expect(afterPage(half, times(800), false)).toEqual({ newest: at(1_000), todo: [{ from: FROM, to: at(801) }] });
  expect(afterPage(half, [], true)).toEqual({ newest: at(1_000), todo: [] });
});

it('an unreadable page leaves a verify listing where it was, and a finished listing has nothing left to read', () => {
  const half = afterPage(begun(SINCE, SETTINGS).lists.invoices, times(1_000), false);
  expect(afterPage(half, [], false)).toEqual(half);
  const whole = afterPage(half, [], true);
  expect(afterPage(whole, times(1_500), false)).toEqual({ newest: at(1_500), todo: [] });
});

it('a new verify run lists everything since the given day, and compares again the invoices that differed in the last run', () => {
  const todo = [{ from: FROM, to: null }];
  const all = { newest: null, todo };
  expect(begun(SINCE, SETTINGS)).toMatchObject({
    lists: { invoices: all, records: all, notes: all, events: all },
    again: [],
  });
  expect(begun(SINCE, SETTINGS).again).toHaveLength(0);
  expect(begun(SINCE, SETTINGS, ['in_1']).again).toEqual(['in_1']);
});

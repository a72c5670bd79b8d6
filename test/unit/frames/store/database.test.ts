// How a daemon splits its database connections.
import { expect, it } from '@jest/globals';
import { sharesOf } from '../../../../src/frames/store/database.js';

it('a daemon with ten connections keeps one for intake and one for probes, and splits eight among readers, changes and work', () => {
  expect(sharesOf(9)).toEqual({ probe: 1, read: 3, change: 2, work: 3 });
});

it('in a small pool changes share the connections of the work, and in the smallest everybody does', () => {
  expect(sharesOf(4)).toEqual({ probe: 1, read: 1, change: 0, work: 2 });
  expect(sharesOf(3)).toEqual({ probe: 0, read: 0, change: 0, work: 3 });
  expect(sharesOf(1).work).toBe(1);
});

it('the shares add up to all connections, and a lock leaves the work a second one', () => {
  for (let size = 4; size < 500; size++) {
    const { probe: check, read, change, work } = sharesOf(size);
    expect([size, check + read + change + work, work >= 2 && change !== 1]).toEqual([size, size, true]);
  }
});

// When the demo's story begins: it ends now, so that nothing in it is nine days old or overdue.
import { expect, it } from '@jest/globals';
import { startAgoMs } from '../../src/demo/story.js';

it.each([
  ['2026-11-28T12:00:00Z', 3, '2026-08-17T12:00:00Z'],
  ['2026-11-28T12:00:00Z', 1, '2026-10-17T12:00:00Z'],
  ['2026-01-05T00:30:00Z', 2, '2025-10-25T00:30:00Z'],
  ['2026-06-11T08:00:00Z', 3, '2026-02-28T08:00:00Z'], // 31 May: a February has no such day
  ['2026-11-28T12:00:00Z', 24, '2024-11-17T12:00:00Z'],
])('at %s, a demo of %d months begins at %s: its last renewal is eleven days ago', (now, months, start) => {
  const at = new Date(now);
  expect(new Date(at.getTime() - startAgoMs(at, months))).toEqual(new Date(start));
});

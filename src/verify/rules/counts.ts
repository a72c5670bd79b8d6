// How much a run of verify compared, in words. Pure.
import { MARKS_LEFT_COUNTED } from '../../policy.js';

/** Such as `1 invoice, 4 stripe events`: kinds are plural and have `_` between their words. */
export const showCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} ${(n === 1 ? kind.replace(/s$/, '') : kind).replaceAll('_', ' ')}`)
    .join(', ');

/** How many marks are still to be looked up: of a long line it is only known that it is long. */
export const showMarksLeft = (n: number): string => (n < MARKS_LEFT_COUNTED ? String(n) : `${n} or more`);

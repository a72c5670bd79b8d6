// How much a run of verify compared, in words. Pure.

/** Such as `1 invoice, 4 stripe events`: kinds are plural and have `_` between their words. */
export const showCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} ${(n === 1 ? kind.replace(/s$/, '') : kind).replaceAll('_', ' ')}`)
    .join(', ');

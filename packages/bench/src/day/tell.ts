// The results of the day benchmark as tables: by minute, by kind of request, by database table, and the totals.
import { type Replies, type Percentiles } from './replies.js';
import { type Compared } from './accounts.js';
import { type Sample, type TableSeen } from './watch.js';

export type Rows = readonly Record<string, string | number>[];

const MINUTE_MS = 60_000;
const ms = (count: number): string => (count < 10 ? count.toFixed(1) : count.toFixed(0));
const pair = (percentiles: Percentiles): string =>
  percentiles.n === 0 ? '-' : `${ms(percentiles.p50Ms)} ${ms(percentiles.p99Ms)}`;
const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;

/** One row for each minute with a sample. Queues, memory and connections show their value at the end of the minute. */
export function byMinute(replies: Replies, samples: readonly Sample[]): Rows {
  const minutes = new Map<number, Sample[]>();
  for (const s of samples) {
    const minute = Math.floor(s.atMs / MINUTE_MS);
    if (minute >= 0) minutes.set(minute, [...(minutes.get(minute) ?? []), s]);
  }
  let before: Sample | undefined = samples[0];
  return [...minutes].map(([minute, some]) => {
    const last = some.at(-1);
    const first = before;
    if (last === undefined || first === undefined) return { minute };
    before = last;
    const seconds = Math.max(1, (last.atMs - first.atMs) / 1_000);
    const mean = (of: 'daemonCpu' | 'postgresCpu'): number => some.reduce((sum, s) => sum + s[of], 0) / some.length;
    const endpoints = replies.ofMinute('endpoints', minute);
    return {
      minute,
      'events/s': Math.round(endpoints.n / 60),
      'marks/s': ((last.marked - first.marked) / seconds).toFixed(1),
      'endpoints p50 p99': pair(endpoints),
      'reads p50 p99': pair(replies.ofMinute('api', minute)),
      'refunds p50 p99': pair(replies.ofMinute('refunds', minute)),
      'console p50 p99': pair(replies.ofMinute('console', minute)),
      inbox: last.inbox,
      calls: last.outbox,
      'oldest s': Math.round(last.oldestSec),
      'to tell': last.toTell,
      MB: last.rssMb,
      daemon: percent(mean('daemonCpu')),
      PostgreSQL: percent(mean('postgresCpu')),
      'WAL MB': (last.walMb - first.walMb).toFixed(0),
      connections: last.connections,
      'dead rows': last.deadRows,
      vacuums: last.vacuums - first.vacuums,
    };
  });
}

const statusesOf = (statuses: Readonly<Record<number, number>>): string =>
  Object.entries(statuses)
    .map(([status, n]) => `${n} × ${status === '0' ? 'no answer' : status}`)
    .join(', ');

/**
 * Gives endpoints, API, exports and metrics a row for each kind of request. The console gets one row for all pages,
 * then a row for each of its eight slowest pages.
 */
export function byKind(replies: Replies): Rows {
  const row = (what: string, percentiles: Percentiles, statuses: string): Record<string, string | number> => ({
    what,
    n: percentiles.n,
    'p50 ms': ms(percentiles.p50Ms),
    'p99 ms': ms(percentiles.p99Ms),
    'most ms': ms(percentiles.mostMs),
    answers: statuses,
  });
  const kinds = replies.all();
  const pages = kinds.filter((k) => k.part === 'console').sort((a, b) => b.p99Ms - a.p99Ms);
  const sum: Record<number, number> = {};
  for (const { statuses } of pages)
    for (const [status, n] of Object.entries(statuses)) sum[Number(status)] = (sum[Number(status)] ?? 0) + n;
  return [
    ...kinds.filter((k) => k.part !== 'console').map((k) => row(k.kind, k, statusesOf(k.statuses))),
    row(`console: all ${pages.length} pages`, replies.whole('console'), statusesOf(sum)),
    ...pages.slice(0, 8).map((k) => row(k.kind, k, statusesOf(k.statuses))),
  ];
}

const LEAST_BYTES = 1_048_576;

/** Tables that grew by a megabyte or more, the largest growth first. */
export function byTable(before: ReadonlyMap<string, TableSeen>, after: ReadonlyMap<string, TableSeen>): Rows {
  return [...after.values()]
    .map((t) => ({ t, grew: t.bytes - (before.get(t.name)?.bytes ?? 0) }))
    .filter(({ grew }) => grew >= LEAST_BYTES)
    .sort((a, b) => b.grew - a.grew)
    .map(({ t, grew }) => ({
      table: t.name,
      'grew MB': (grew / LEAST_BYTES).toFixed(1),
      'is MB': (t.bytes / LEAST_BYTES).toFixed(0),
      'rows written': t.rows,
      'updates in their page': t.updates === 0 ? '-' : percent(t.hot / t.updates),
      'dead rows': t.dead,
      autovacuums: t.vacuums,
      autoanalyzes: t.analyzes,
    }));
}

export function accountRows(compared: readonly Compared[]): Rows {
  return compared.map(({ what, expected, seen }) => ({
    what,
    expected,
    seen,
    agree: expected === seen ? 'yes' : 'NO',
  }));
}

/** One line of progress during the day. */
export function soFar(sample: Sample, replies: Replies, taken: number): string {
  const minute = Math.floor(sample.atMs / MINUTE_MS);
  const endpoints = replies.ofMinute('endpoints', minute);
  return [
    `${(sample.atMs / 1_000).toFixed(0)} s: ${taken} events taken`,
    `${sample.marked} marked`,
    `${sample.inbox} in the inbox`,
    `${sample.toTell} to tell`,
    `endpoints p99 ${ms(endpoints.p99Ms)} ms`,
    `reads p99 ${ms(replies.ofMinute('api', minute).p99Ms)} ms`,
    `refunds p99 ${ms(replies.ofMinute('refunds', minute).p99Ms)} ms`,
    `console p99 ${ms(replies.ofMinute('console', minute).p99Ms)} ms`,
    `${sample.rssMb} MB`,
    `daemon ${percent(sample.daemonCpu)}, PostgreSQL ${percent(sample.postgresCpu)}`,
  ].join(', ');
}

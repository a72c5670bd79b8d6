// docs/sizing.md: its figures come from the benchmarks, and its tables multiply right.
import { expect, it } from '@jest/globals';
import { textOf } from './support.js';

const page = textOf('docs/sizing.md');
const benchmarks = textOf('docs/benchmarks.md');

/** Of a renewal, as the first table says. */
const REQUESTS = 4;
const PROCESSOR_MS = 6;
const LOG_KB = 18;

it.each([
  ['3 to read, report and attach', '| Stripe calls per renewal | 3 | 3 |'],
  ['3.22 ms of the daemon and 1.82 ms of PostgreSQL', '3.22, 1.82 ms'],
  ['11.5 KB measured', '11.5 KB: 3.1 and 8.4'],
  ['3,050 bytes of two in `inbox_event` and `event_body`', '| `inbox_event` | 2, and 2 changed | 9 | 1,650 |'],
  ['3,050 bytes of two in `inbox_event` and `event_body`', '| `event_body` | 2 | 2 | 1,400 |'],
  ['five million old renewals took 27 GB', 'The ten million take 27 GB'],
  ['70 renewals a second', '70.0/s of 71.1/s'],
  ['116 MB at rest, 309 MB at the most', '116, 309, 271 MB'],
  ['10,000 pages to compare a million invoices', '10,004 requests'],
])("docs/sizing.md repeats the benchmarks' figure “%s”", (said, measured) => {
  expect(page).toContain(said);
  expect(benchmarks).toContain(measured);
});

it('docs/sizing.md derives the load of many renewals correctly from the costs of one renewal', () => {
  expect(page).toContain(`| requests to Stripe | ${REQUESTS} |`);
  expect(page).toContain(`| processor time | ${PROCESSOR_MS} ms |`);
  expect(page).toContain(`| log written by PostgreSQL | ${LOG_KB} KB |`);
  expect(3.22 + 1.82).toBeLessThan(PROCESSOR_MS);
  expect(Math.round(11.5 + (4 * 3.05) / 2)).toBe(LOG_KB);
  expect((27e9 / 5e6 / 1_000).toFixed(1)).toBe('5.4');
  const rows = [...page.matchAll(/^\| (1[0,]+) \| (.+) \|$/gm)].map(([, n = '', remaining = '']) => ({
    invoices: Number(n.replaceAll(',', '')),
    cells: remaining.split(' | '),
  }));
  expect(rows.map(({ invoices }) => invoices)).toEqual([1e3, 1e4, 1e5, 1e6]);
  for (const { invoices, cells } of rows) {
    const requests = invoices * REQUESTS;
    const month = (invoices * LOG_KB) / 1e6;
    expect(cells).toEqual([
      requests.toLocaleString('en-US'),
      lasts(requests / 20),
      lasts(requests / 80),
      lasts((invoices * PROCESSOR_MS) / 1_000),
      gigabytes(month),
      gigabytes(month * 12),
    ]);
  }
});

it("docs/sizing.md derives renewals per second correctly from Stripe's request limit", () => {
  expect(page).toContain('25 renewals a second, 90,000 an hour');
  expect([100 / REQUESTS, (100 / REQUESTS) * 3_600]).toEqual([25, 90_000]);
  expect(page).toContain('8.3 minutes at 20 a second');
  expect((10_004 / 20 / 60).toFixed(1)).toBe('8.3');
});

function lasts(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

function gigabytes(size: number): string {
  return `${size.toFixed(size < 0.1 ? 2 : 1)} GB`;
}

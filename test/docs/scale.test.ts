// docs/scale.md: what it cites is in the benchmarks, and what it reasons is what that multiplies to.
import { describe, expect, it } from '@jest/globals';
import { textOf } from './support.js';

const page = textOf('docs/scale.md');
const benchmarks = textOf('docs/benchmarks.md');
const DAY_SEC = 86_400;

const says = (...words: readonly string[]): void => {
  for (const said of words) expect(page).toContain(said);
};

describe('docs/scale.md', () => {
  it.each([
    ['70 renewals a second with 32 at once', '70.0/s of 71.1/s'],
    ['149.8 renewals a second for 100,000 renewals', '149.8/s of the 150/s that the budget allows'],
    ['2.61 of the daemon, 0.91 of PostgreSQL', '2.61, 0.91 ms'],
    ['8,384 to 9,354 events a second', '8,384 to 9,354/s'],
    ['1.75 times the pace of one', 'sum 1.75 and 2.33 of one at 150 ms'],
    ['touches 532 pages instead of 446', '446, 505, 532'],
    ['116 MB at rest, 309 MB at most', '116, 309, 271 MB'],
    ["0.9 ms of PostgreSQL's processor", '| what is due, asked each 0.4 s | 0.76, 0.91, 0.88 |'],
    ['an overview of 90 days cost PostgreSQL 26 ms and a search at most 23 ms', '| overview, 90 days | 33.6 | 26.4 |'],
    [
      'an overview of 90 days cost PostgreSQL 26 ms and a search at most 23 ms',
      '| search: an amount that there is not | 19.5 | 22.9 |',
    ],
    ['10,004 requests for a million invoices', '10,004 requests'],
    ['0.65 to 0.81 commits a renewal', '| 0.65 to 0.81 | 1.0 |'],
    ['3.6 for each instead of 0.65 to 0.81', '| the same at 150 ms, 32 lanes | 3.60 |'],
    ['16 for each', '| rows of a renewal | – | 16.1 |'],
    ['40 index entries a renewal', "40 by the server's log"],
  ])('says “%s”, as the benchmarks do', (said, measured) => {
    says(said);
    expect(benchmarks).toContain(measured);
  });

  it('counts twenty overviews a second as so many renewals', () => {
    says('Twenty people who each load an overview a second cost it as much as 570 renewals a second');
    expect(Math.round((20 * 26) / 0.91 / 10) * 10).toBe(570);
  });

  it('multiplies rightly for one merchant', () => {
    says('400 renewals a second: 2 cores ÷ 5 ms', '90,000 an hour, 2.16 million a day, 64.8 million in 30 days');
    expect([2 / 0.005, 25 * 3_600, (25 * DAY_SEC) / 1e6, (25 * DAY_SEC * 30) / 1e6]).toEqual([400, 90_000, 2.16, 64.8]);
    const perSecond = 100e6 / 30 / DAY_SEC;
    expect(perSecond.toFixed(1)).toBe('38.6');
    expect([3, 4].map((n) => Math.round(perSecond * n))).toEqual([116, 154]);
    says('116 a second with three for each, 154 with four', '1,000,400, 12 a second all day', '41.7 hours');
    expect([(10_004 * 100) / DAY_SEC, (1e6 * 0.15) / 3_600].map((n) => n.toFixed(1))).toEqual(['11.6', '41.7']);
    says('576,000 pages, 57 million invoices', '1.8 TB a month, 0.7 MB a second', '540 GB a month, 6.5 TB a year');
    expect([DAY_SEC / 0.15, (100e6 * 18_000) / 1e12, (100e6 * 5_400) / 1e9]).toEqual([576_000, 1.8, 540]);
    expect(((540 * 12) / 1_000).toFixed(1)).toBe('6.5');
    says('1,544 a second', '7.7 a second, 31 requests a second', '8.3 hours at 150 ms a page; 1.3 TB a year');
    expect([38.6 * 40, 20e6 / 30 / DAY_SEC, (200_000 * 0.15) / 3_600].map((n) => n.toFixed(1))).toEqual([
      '1544.0',
      '7.7',
      '8.3',
    ]);
  });

  it('multiplies rightly for a platform', () => {
    const pairs = 2 * 10_000;
    says(
      '2.3 TB: ten machines of 256 GB',
      '| 20 | 200,000:',
      '| 4 | 40,000: 80 servers of 500',
      '50,000 a second: 45 cores',
    );
    expect([pairs * 10, pairs * 2, pairs * 2.5, pairs * 2.5 * 0.0009]).toEqual([200_000, 40_000, 50_000, 45]);
    expect([(pairs * 116) / 1e6, (1_000 * 116) / 1e3].map((n) => n.toFixed(1))).toEqual(['2.3', '116.0']);
    says('105 GB in 5.9 million files', '116 GB of daemons, 2,000 connections');
    expect([(10.5 * 10_000) / 1_000, (585 * 10_000) / 1e6]).toEqual([105, 5.85]);
  });

  it('says what was not tried', () => {
    says('Nothing on this page was tried on\nCitus, on ten thousand databases or with a hundred million invoices.');
  });
});

// The months of the books.
import { expect, it } from '@jest/globals';
import { monthBeside, monthOf, nameOf } from '../../../../../src/core/ledger/rules/month.js';
import { never } from '../../../../support/never.js';

it('a month of the ledger goes from its first moment to the first moment of the next month, in UTC', () => {
  expect(monthOf('2026-12')).toEqual({
    since: new Date('2026-12-01T00:00:00Z'),
    until: new Date('2027-01-01T00:00:00Z'),
  });
  expect(monthOf('1970-01')?.since).toEqual(new Date(0));
  for (const wrong of ['2026-13', '2026-00', '2026-1', '26-01', '1969-12', '2026-01-01', ' 2026-01', '2026', '']) {
    expect(monthOf(wrong)).toBeNull();
  }
});

it("a month of the ledger has a name, a month before and a month after, also across a year's end", () => {
  const december = monthOf('2026-12') ?? never();
  const [before, after] = [monthBeside(december, -1), monthBeside(december, 1)];
  expect([before, december, after].map(nameOf)).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(before.until).toEqual(december.since);
  expect(after).toEqual(monthOf('2027-01'));
});

// The days of a list's filters.
import { expect, it } from '@jest/globals';
import { moneyFrom, spanFrom } from '../../../../src/frames/console/list-filters.js';

it("the last day of a list's filter is a part of the span, and a time is not", () => {
  const since = new Date('2026-10-01T00:00:00Z');
  expect(spanFrom({ since: '2026-10-01', until: '2026-10-31' })).toEqual({
    since,
    until: new Date('2026-11-01T00:00:00Z'),
  });
  expect(spanFrom({ since: '2026-10-01', until: '2026-10-01' }).until).toEqual(new Date('2026-10-02T00:00:00Z'));
  expect(spanFrom({ until: '2026-10-31T12:00:00Z' }).until).toEqual(new Date('2026-10-31T12:00:00Z'));
});

it("an amount with its currency sets the filter's currency, and another chosen currency is a mistake at the amount", () => {
  expect(moneyFrom({ amount: '49,50 GBP' })).toMatchObject({ amount: 4950n, currency: 'GBP' });
  expect(moneyFrom({ amount: '4800 jpy' })).toMatchObject({ amount: 4800n, currency: 'JPY' });
  const field = (values: Parameters<typeof moneyFrom>[0]): unknown => {
    try {
      return moneyFrom(values);
    } catch (error) {
      return (error as { errors: { field: string }[] }).errors.map((e) => e.field);
    }
  };
  expect(field({ amount: '49,50 GBP', currency: 'eur' })).toEqual(['amount']);
  expect(field({ amount: 'much' })).toEqual(['amount']);
  expect(field({ until: '2026-10-32' })).toEqual(['until']);
});

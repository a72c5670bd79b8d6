// Days of the calendar, as people write them for options and forms.
import { expect, it } from '@jest/globals';
import { readDay, startOfDay } from '../../../../src/shared/domain/day.js';

it('Crossbill reads a calendar day as its first moment in UTC', () => {
  expect(readDay('2026-11-24')?.toISOString()).toBe('2026-11-24T00:00:00.000Z');
  expect(readDay('2028-02-29')?.toISOString()).toBe('2028-02-29T00:00:00.000Z');
});

it.each([
  '2026-02-31',
  '2026-02-29',
  '2026-13-01',
  '2026-11-00',
  '0000-01-01',
  '1969-12-31',
  '2026-11-24T10:00:00Z',
  '24.11.2026',
  '',
])('Crossbill refuses the impossible calendar day "%s"', (text) => expect(readDay(text)).toBeNull());

it('Crossbill assigns a moment to its calendar day in UTC', () => {
  for (const at of ['2026-11-24T00:00:00.000Z', '2026-11-24T23:59:59.999Z'])
    expect(startOfDay(new Date(at)).toISOString()).toBe('2026-11-24T00:00:00.000Z');
});

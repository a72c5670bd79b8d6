// A month of the calendar in UTC, as an option.
import { InvalidArgumentError } from 'commander';
import { monthOf, type Month } from '../ledger/rules/month.js';

export function parseMonth(text: string): Month {
  const month = monthOf(text);
  if (month === null) throw new InvalidArgumentError('Use a month such as 2026-11.');
  return month;
}

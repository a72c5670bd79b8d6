// Formats days for people. A day is a UTC day, as in the ledger.

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Returns "5 Nov", or "5 Nov 2025" if the year differs from the year of `now`. */
export function day(at: Date, now: Date): string {
  const text = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`;
  return at.getUTCFullYear() === now.getUTCFullYear() ? text : `${text} ${at.getUTCFullYear()}`;
}

/** Returns "8 Nov", or "14:00 UTC today" for a time on the day of `now`. */
export function moment(at: Date, now: Date): string {
  if (at.toISOString().slice(0, 10) !== now.toISOString().slice(0, 10)) return day(at, now);
  return `${at.toISOString().slice(11, 16)} UTC today`;
}

/** Returns "on 8 Nov", or "at 14:00 UTC today" for a time on the day of `now`. */
export function on(at: Date, now: Date): string {
  const said = moment(at, now);
  return said.endsWith('today') ? `at ${said}` : `on ${said}`;
}

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** Returns "second", "third" and so on; from 11 on "11th". */
export function ordinal(count: number): string {
  const tens = count % 100 >= 11 && count % 100 <= 13;
  const end = tens ? 'th' : (['th', 'st', 'nd', 'rd'][count % 10] ?? 'th');
  return ORDINALS[count - 1] ?? `${count}${end}`;
}

// Helpers for days of the calendar, in UTC.
import { DAY_MS } from '../policy.js';

/** The first moment of the day of `at`, in UTC. */
export function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}

/** Parses a day such as 2026-11-30 and returns its first moment. Null: the text is no day of the calendar. */
export function readDay(text: string): Date | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const day = new Date(`${text}T00:00:00Z`);
  // `Date` reads February 31 as a day in March.
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  return isDay && day.getTime() >= 0 ? day : null; // Stripe takes no time before 1970
}

/** The UTC day of `at`, as `YYYY-MM-DD` for SQL. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

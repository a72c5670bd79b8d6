// Days of the calendar in UTC.
import { DAY_MS } from '../policy.js';
import { canBeKept } from '@crossbill/mor/kept-time.js';

/** The first moment of the day of this time. */
export function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}

/** A day such as 2026-11-30, as its first moment. Null: another text, or no day of the calendar. */
export function readDay(text: string): Date | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const day = new Date(`${text}T00:00:00Z`);
  // `Date` takes the 31st of February for a day of March.
  const isDay = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  return isDay && canBeKept(day) ? day : null;
}

/** Its day in UTC, as SQL reads one. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

// Dates as a statement writes them.
import { canBeKept } from '../../domain/kept-time.js';
import { type DateStyle } from '../../domain/statement.js';
import { DAY_MS } from '../../policy.js';

const ISO = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?\s?(Z|UTC|[+-]\d{2}:?\d{2})?)?$/;
const OTHER = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,? (\d{2}:\d{2})(:\d{2})?)?$/;

/** A time without a zone is UTC. Null: not written so, or no such day. */
export function readDate(text: string, style: DateStyle): Date | null {
  if (style === 'iso') {
    const [whole, y = '', m = '', d = '', time, seconds = ':00', , zone = 'Z'] = ISO.exec(text.trim()) ?? [];
    if (whole === undefined) return null;
    const offset = zone === 'UTC' ? 'Z' : zone.replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2');
    return dateOf(y, m, d, time === undefined ? 'T00:00:00Z' : `T${time}${seconds}${offset}`);
  }
  const [whole, a = '', , b = '', y = '', time = '00:00', seconds = ':00'] = OTHER.exec(text.trim()) ?? [];
  if (whole === undefined) return null;
  const [d, m] = style === 'dmy' ? [a, b] : [b, a];
  return dateOf(y, m.padStart(2, '0'), d.padStart(2, '0'), `T${time}${seconds}Z`);
}

/** The 31st of February is no day, though `Date` takes it for one of March. */
function dateOf(y: string, m: string, d: string, time: string): Date | null {
  const day = new Date(`${y}-${m}-${d}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== `${y}-${m}-${d}`) return null;
  const at = new Date(`${y}-${m}-${d}${time}`);
  return canBeKept(at) ? at : null;
}

/** The first moment (UTC) of the day of this time. */
export function startOfDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS) * DAY_MS);
}

/** A bare day, such as 2026-11-30, as its first moment (UTC). Null: not written so, or no such day. */
export function readDay(text: string): Date | null {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? readDate(text, 'iso') : null;
}

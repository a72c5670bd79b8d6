// The limits of a parsed value, since Crossbill may store it: amounts fit int8, times fit timestamptz, texts fit UTF-8.
import { must } from './target.js';

const INT8 = 2n ** 63n;
const FIRST = Date.parse('0001-01-01T00:00:00Z'); // a database has no year 0
const LAST = Date.parse('9999-12-31T23:59:59.999Z'); // ISO 8601 in four digits ends here

export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

export function mustBeKeepable(at: Date, where: string): void {
  const ms = at.getTime();
  must(ms >= FIRST && ms <= LAST, `${where} is a time that no database keeps: ${Number.isNaN(ms) ? 'none' : ms}`);
}

/** Checks every part of a parsed value, except the members in `raw`: the store makes these safe (`jsonText`). */
export function mustBeInRange(value: unknown, raw: readonly string[] = [], where = 'it'): void {
  if (typeof value === 'bigint') return must(value < INT8 && value >= -INT8, `${where} is beyond int8: ${value}`);
  if (typeof value === 'number') return must(Number.isFinite(value), `${where} is no finite number`);
  if (typeof value === 'string') return must(isStorable(value), `${where} is a text that no database keeps`);
  if (value instanceof Date) return mustBeKeepable(value, where);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!raw.includes(name)) mustBeInRange(inner, raw, `${where}.${name}`);
  }
}

/** Checks that no parser has changed the prototype of all objects. */
export function mustBeUnpolluted(): void {
  const known = Object.getOwnPropertyNames(Object.prototype).length;
  must(known === OWN_NAMES, 'a prototype was changed');
}
const OWN_NAMES = Object.getOwnPropertyNames(Object.prototype).length;

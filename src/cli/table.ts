// Text for people: tables with even columns, times, ages and amounts. What came from outside cannot move the cursor.
import { showMoney } from '../domain/money.js';

/** Control characters and marks that reorder or hide text become a visible `?`. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, '?');
}

/** Rows under their heads; numbers are texts already. Without rows: the one line `none`. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'none\n';
  const cells = [heads, ...rows].map((row) => row.map(plain));
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = cells;
  return [
    line(head),
    line(widths.map((n, i) => '-'.repeat(i === widths.length - 1 ? 4 : n))),
    ...body.map(line),
    '',
  ].join('\n');
}

export function time(at: Date | null): string {
  return at === null ? '-' : at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export function amount(minor: bigint | null, currency: string | null): string {
  return minor === null || currency === null ? '-' : showMoney({ minor, currency });
}

/** For example `3 h 20 min`; seconds below a minute. */
export function age(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** JSON as the API writes it: amounts are whole numbers, times ISO 8601 in UTC. */
export function json(value: unknown): string {
  const write = (_: string, v: unknown): unknown => {
    if (typeof v === 'bigint') return Number(v);
    return v instanceof Map ? Object.fromEntries(v) : v;
  };
  return `${JSON.stringify(value, write)}\n`;
}

// Formats text for a terminal: tables with even columns, times, ages and amounts. Text from outside can't move the
// cursor.
import { showMoney } from '../../shared/domain/money.js';

/** Replaces control characters, and characters that reorder or hide text, with a visible `?`. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu, '?');
}

/** Draws rows under their column heads. Without rows it returns the line `none`. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'none\n';
  const cells = [heads, ...rows].map((row) => row.map(plain));
  const last = heads.length - 1;
  const widths = heads.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)));
  const rule = widths.map((n, i) => '-'.repeat(i === last ? 4 : n));
  const lines = [cells[0] ?? [], rule, ...cells.slice(1)].map((row) =>
    row
      .map((cell, i) => (i === last ? cell : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

/** Draws a table of names and numbers. */
export function counts(heads: readonly [string, string], numbers: Iterable<readonly [string, number]>): string {
  return table(
    heads,
    [...numbers].map(([name, n]) => [name, String(n)]),
  );
}

export function time(at: Date | null): string {
  return at === null ? '-' : at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export function amount(minor: bigint | null, currency: string | null): string {
  return minor === null || currency === null ? '-' : showMoney({ minor, currency });
}

/** Formats a number with its noun: `1 customer`, `2 customers`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Formats an age: `3 h 20 min`. Shows an age below a minute in seconds. */
export function age(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Writes JSON in the API's form: whole numbers for amounts, ISO 8601 in UTC for times. */
export function json(value: unknown): string {
  const write = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value);
    return value instanceof Map ? Object.fromEntries(value) : value;
  };
  return `${JSON.stringify(value, write)}\n`;
}

/** Renames the members of a report to the API's form: `lossWindows` becomes `loss_windows`. */
export function named(value: unknown): unknown {
  if (value instanceof Map) return named(Object.fromEntries(value));
  if (Array.isArray(value)) return value.map(named);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const snake = (name: string): string => name.replace(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [snake(name), named(inner)]));
}

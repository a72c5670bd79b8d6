// Converts rows of PostgreSQL to plain values and back, for the log and for statements with many rows. The row's
// declaration names the columns.
import { type Column, type Row } from '../../shared/domain/row.js';
import { shownWords } from '../../shared/domain/foreign-words.js';
import { snake } from './columns.js';

/** Turns a row into JSON for `json_populate_recordset`: bigints as text, times as ISO 8601. */
export function toJson<T>(codec: Row<T, unknown>, value: T): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, column, of] of columnsOf(codec)) {
    const v = value[name];
    if (v === null) continue; // a missing value means null
    out[column] = jsonOf(of, v); // a time becomes ISO 8601 text
  }
  return out;
}

// Matches NUL and half a surrogate pair in the output of JSON.stringify, after an even number of backslashes.
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * Turns a value into JSON for a `json` or `jsonb` parameter. PostgreSQL refuses NUL and half a surrogate pair, so
 * U+FFFD replaces them. Otherwise a text from outside, such as a message cut in the middle of an emoji, would block the
 * write of a decision.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u') ? text.replace(UNSTORABLE, '$1\ufffd') : text;
}

type Named<T> = readonly [name: keyof T & string, column: string, of: Column<unknown>];
const made = new WeakMap<object, unknown>();

function columnsOf<T>(codec: Pick<Row<T, unknown>, 'columns'>): readonly Named<T>[] {
  const known = made.get(codec) as readonly Named<T>[] | undefined;
  if (known !== undefined) return known;
  const names = Object.keys(codec.columns) as (keyof T & string)[];
  const columns: readonly Named<T>[] = names.map((name) => {
    const of = codec.columns[name];
    return [name, of.options.name ?? snake(name), of];
  });
  made.set(codec, columns);
  return columns;
}

function jsonOf({ options: { way } }: Column<unknown>, value: unknown): unknown {
  if (way !== undefined && value !== null) return way.to(value);
  return typeof value === 'bigint' ? value.toString() : value;
}

function same(of: Column<unknown>, one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one === null || other === null || one === undefined || other === undefined) return false;
  if (of.kind === 'time') return (one as Date).getTime() === (other as Date).getTime();
  return (
    (of.kind === 'json' || of.kind === 'texts') && JSON.stringify(jsonOf(of, one)) === JSON.stringify(jsonOf(of, other))
  );
}

/** The changed fields of a row, and its key. For a new row (without `was`): all fields except nulls. */
export function changedFields<T extends object>(
  codec: Row<T, unknown>,
  was: T | undefined,
  row: T,
): Record<string, unknown> {
  if (was === undefined) return toJson(codec, row);
  const out: Record<string, unknown> = {};
  for (const [name, column, of] of columnsOf(codec)) {
    if (codec.key.includes(name) || !same(of, was[name], row[name])) out[column] = jsonOf(of, row[name]);
  }
  return out;
}

/** Applies the result of `changedFields` to a row. Unchanged columns keep their value. In a new row they are null. */
export function withFields<T extends object>(
  codec: Row<T, unknown>,
  was: T | undefined,
  fields: Readonly<Record<string, unknown>>,
): T {
  const out: Record<string, unknown> = Object.assign({ ...codec.none }, was);
  for (const [name, column, of] of columnsOf(codec)) if (column in fields) out[name] = valueOf(of, fields[column]);
  return out as T;
}

/** Makes a value from PostgreSQL's row. The table's own types and checks guarantee its columns. */
export function fromRow<T>(codec: Row<T, unknown>, row: Record<string, unknown>): T {
  const out: Record<string, unknown> = { ...codec.none };
  for (const [name, column, of] of columnsOf(codec)) out[name] = valueOf(of, row[column]);
  return out as T;
}

function valueOf({ kind, options: { way, said } }: Column<unknown>, stored: unknown): unknown {
  if (stored === null || stored === undefined) return null;
  const v = said === true ? shownWords(stored) : stored;
  if (way !== undefined) return way.from(v);
  if (kind === 'bigint') return BigInt(v as string);
  return kind === 'time' && typeof v === 'string' ? new Date(v) : v;
}

/** The SQL of `insert … on conflict do update` for many rows in one statement. Its parameter `$n` is a JSON array. */
export function upsertSql<T>(codec: Row<T, unknown>, first: number): string {
  const columns = columnsOf(codec).map(([, column]) => column);
  const key = codec.key.map(snake);
  const set = columns.filter((c) => !key.includes(c)).map((c) => `${c} = excluded.${c}`);
  return `${insertSql(codec, first)} on conflict (${key.join(', ')}) do update set ${set.join(', ')}`;
}

export function insertSql<T>(codec: Row<T, unknown>, first = 1): string {
  const columns = columnsOf(codec)
    .map(([, column]) => column)
    .join(', ');
  const { table } = codec;
  return `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $${first}::json)`;
}

/** The declaration of any kind of row. */
export type AnyRow = Pick<Row<Readonly<Record<string, unknown>>, unknown>, 'table' | 'columns' | 'key'>;

/** Removes personal data from fields by column name. Accepts fields as JSON, or as read from the database. */
export function withoutPersonal(codec: AnyRow, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const out = { ...fields };
  for (const [, column, { options }] of columnsOf(codec)) {
    // Erases only a field with a value. A field without a value stays as it is, since an erasure must not change the
    // row.
    if (options.erase !== undefined && (fields[column] ?? null) !== null)
      out[column] = options.erase(fields[column], fields);
  }
  return out;
}

/** The columns with personal data. */
export function personalColumns(codec: AnyRow): readonly string[] {
  return columnsOf(codec).flatMap(([, column, { options }]) => (options.erase === undefined ? [] : [column]));
}

// Between rows of PostgreSQL and plain values, for the log and the statements that write many rows at once: what is a column, the
// entities say.
import { getMetadataArgsStorage } from 'typeorm';
import { factFromJson, factToJson } from '../domain/fact.js';
import {
  type AttemptRow,
  type InvoiceRow,
  type LedgerEntry,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type SignupRow } from '../domain/signup.js';
import { snake } from './entities/columns.js';
import { InvoiceEntity } from './entities/invoice.entity.js';
import { LedgerEntryEntity } from './entities/ledger-entry.entity.js';
import { MorObjectEntity } from './entities/mor-object.entity.js';
import { PaymentEntity } from './entities/payment.entity.js';
import { RefundEntity } from './entities/refund.entity.js';
import { ReviewEntity } from './entities/review.entity.js';
import { SignupEntity } from './entities/signup.entity.js';

/** `fact`: JSON with amounts in it, which are text there. */
type Kind = 'text' | 'int' | 'bigint' | 'time' | 'bool' | 'json' | 'fact' | 'texts';

/** How a kind of row is stored. Field names are camelCase in values and snake_case in the table. */
export type Codec<T> = {
  readonly table: string;
  readonly key: readonly (keyof T & string)[];
  readonly columns: { readonly [K in keyof T & string]: Kind };
  /** What a column is in rows that were written before it was there; left out: null. */
  readonly defaults?: Partial<T>;
};

/** A row as JSON for `json_populate_recordset`: bigints as text, times as ISO 8601. */
export function toJson<T>(codec: Codec<T>, value: T): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    const v = value[name];
    if (v === null) continue; // what is left out is null
    out[column] = jsonOf(kind, v); // a time becomes its ISO 8601 text
  }
  return out;
}

// What JSON.stringify writes for NUL and for half a surrogate pair, after an even number of backslashes.
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * A value as JSON for a `json` or `jsonb` parameter. PostgreSQL refuses NUL and half a surrogate pair in it: in their place stands U+FFFD, so
 * that no text from outside (a link in an event, a peer's words cut in the middle of an emoji) keeps a decision from being written.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\u') ? text.replace(UNSTORABLE, '$1\ufffd') : text;
}

type Column<T> = readonly [name: keyof T & string, column: string, kind: Kind];
const made = new WeakMap<object, unknown>();

function columnsOf<T>(codec: Codec<T>): readonly Column<T>[] {
  const known = made.get(codec) as readonly Column<T>[] | undefined;
  if (known !== undefined) return known;
  const names = Object.keys(codec.columns) as (keyof T & string)[];
  const columns: readonly Column<T>[] = names.map((name) => [name, snake(name), codec.columns[name]]);
  made.set(codec, columns);
  return columns;
}

const jsonOf = (kind: Kind, v: unknown): unknown =>
  kind === 'fact' ? factToJson(v) : typeof v === 'bigint' ? v.toString() : v;

function same(kind: Kind, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null || a === undefined || b === undefined) return false;
  if (kind === 'time') return (a as Date).getTime() === (b as Date).getTime();
  if (kind === 'fact') return JSON.stringify(factToJson(a)) === JSON.stringify(factToJson(b));
  return (kind === 'json' || kind === 'texts') && JSON.stringify(a) === JSON.stringify(b);
}

/** What a row differs in from what it was, and its key; all of it when it is new (`was` left out), where null is left out. */
export function changedFields<T extends object>(codec: Codec<T>, was: T | undefined, row: T): Record<string, unknown> {
  if (was === undefined) return toJson(codec, row);
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    if (codec.key.includes(name) || !same(kind, was[name], row[name])) out[column] = jsonOf(kind, row[name]);
  }
  return out;
}

/** The other way: the row with what `changedFields` gave. What is not named stays as it was; in a new row it is null. */
export function withFields<T extends object>(
  codec: Codec<T>,
  was: T | undefined,
  fields: Readonly<Record<string, unknown>>,
): T {
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    if (!(column in fields)) out[name] = was === undefined ? (codec.defaults?.[name] ?? null) : was[name];
    else out[name] = fromJson(kind, fields[column]);
  }
  return out as T;
}

function fromJson(kind: Kind, v: unknown): unknown {
  if (v === null || v === undefined) return null;
  if (kind === 'bigint') return BigInt(v as string);
  if (kind === 'fact') return factFromJson(v);
  return kind === 'time' ? new Date(v as string) : v;
}

/** A row as it was read. The table's own types and checks vouch for what the columns hold. */
export function fromRow<T>(codec: Codec<T>, row: Record<string, unknown>): T {
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    const v = row[column];
    if (v === null || v === undefined) out[name] = null;
    else if (kind === 'fact') out[name] = factFromJson(v);
    else out[name] = kind === 'bigint' ? BigInt(v as string) : v;
  }
  return out as T;
}

/** `insert … on conflict do update` of many rows in one statement; its parameter `$n` is a JSON array. */
export function upsertSql<T>(codec: Codec<T>, n: number): string {
  const columns = Object.keys(codec.columns).map(snake);
  const key = codec.key.map(snake);
  const set = columns.filter((c) => !key.includes(c)).map((c) => `${c} = excluded.${c}`);
  return `${insertSql(codec, n)} on conflict (${key.join(', ')}) do update set ${set.join(', ')}`;
}

export function insertSql<T>(codec: Codec<T>, n = 1): string {
  const columns = Object.keys(codec.columns).map(snake).join(', ');
  const { table } = codec;
  return `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $${n}::json)`;
}

const KINDS: Readonly<Record<string, Kind>> = {
  text: 'text',
  char: 'text',
  integer: 'int',
  bigint: 'bigint',
  timestamptz: 'time',
  boolean: 'bool',
  jsonb: 'json',
};

/** The columns of an entity that are written; those that the database counts are not. */
function codecOf<T extends object>(entity: new () => T): Codec<T> {
  const { tables, columns, generations } = getMetadataArgsStorage();
  const table = tables.find((t) => t.target === entity)?.name ?? '';
  const counted = new Set(generations.flatMap((g) => (g.target === entity ? [g.propertyName] : [])));
  const written = columns.filter((c) => c.target === entity && !counted.has(c.propertyName));
  const kinds = written.map(({ propertyName, options }) => {
    const isFact = options.type === 'jsonb' && options.transformer !== undefined;
    const kind = isFact ? 'fact' : options.array === true ? 'texts' : KINDS[String(options.type)];
    if (kind === undefined) throw new Error(`${table}.${propertyName} is of a type that no codec knows`);
    return [propertyName, kind] as const;
  });
  const key = written.flatMap((c) => (c.options.primary === true ? [c.propertyName as keyof T & string] : []));
  return { table, key, columns: Object.fromEntries(kinds) as Codec<T>['columns'] };
}

export const INVOICE = codecOf<InvoiceRow>(InvoiceEntity);
export const PAYMENT = codecOf<PaymentRow>(PaymentEntity);
export const REFUND = codecOf<RefundRow>(RefundEntity);
export const REVIEW = codecOf<ReviewRow>(ReviewEntity);
export const OBJECT = codecOf<MorObjectRow>(MorObjectEntity);
export const SIGNUP = codecOf<SignupRow>(SignupEntity);

type FlatEntry = Omit<LedgerEntryEntity, 'id'>;
export const ENTRY = codecOf<FlatEntry>(LedgerEntryEntity);

export const ATTEMPT: Codec<AttemptRow> = {
  table: '',
  key: ['invoiceId', 'eventId'],
  columns: {
    eventId: 'text',
    invoiceId: 'text',
    paymentId: 'text',
    outcome: 'text',
    amount: 'bigint',
    currency: 'text',
    failureMessage: 'text',
    declineCode: 'text',
    processorPaymentIntentId: 'text',
    at: 'time',
  },
};

/** A ledger entry with its amount laid flat. */
export function flatEntry(e: LedgerEntry): FlatEntry {
  const { debit, credit, amount, at, ...rest } = e;
  return {
    ...rest,
    debitAccount: debit,
    creditAccount: credit,
    amount: amount.minor,
    currency: amount.currency,
    recordedAt: at,
  };
}

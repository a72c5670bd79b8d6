// Between rows of PostgreSQL and plain values: one small table of columns per kind of row.
import {
  type AttemptRow,
  type InvoiceRow,
  type LedgerEntry,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type TaxRecord } from '../domain/tax-record.js';

type Kind = 'text' | 'int' | 'bigint' | 'time' | 'bool' | 'json' | 'texts';

/** How a kind of row is stored. Field names are camelCase in values and snake_case in the table. */
export type Codec<T> = {
  readonly table: string;
  readonly key: readonly (keyof T & string)[];
  readonly columns: { readonly [K in keyof T & string]: Kind };
  /** What a column is in rows that were written before it was there; left out: null. */
  readonly defaults?: Partial<T>;
};

export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
}

/** A row as JSON for `jsonb_populate_recordset`: bigints as text, times as ISO 8601. */
export function toJson<T>(codec: Codec<T>, value: T): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, column] of columnsOf(codec)) {
    const v = value[name];
    if (v === null) continue; // what is left out is null
    out[column] = typeof v === 'bigint' ? v.toString() : v; // a time becomes its ISO 8601 text
  }
  return out;
}

// What JSON.stringify writes for NUL and for half a surrogate pair, after an even number of backslashes.
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g;

/**
 * A value as JSON for a `jsonb` parameter. PostgreSQL refuses NUL and half a surrogate pair in it: in their place stands U+FFFD, so
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

const jsonOf = (v: unknown): unknown => (typeof v === 'bigint' ? v.toString() : v);

function same(kind: Kind, a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (a === null || b === null || a === undefined || b === undefined) return false;
  if (kind === 'time') return (a as Date).getTime() === (b as Date).getTime();
  return (kind === 'json' || kind === 'texts') && JSON.stringify(a) === JSON.stringify(b);
}

/** What a row differs in from what it was, and its key; all of it when it is new (`was` left out), where null is left out. */
export function changedFields<T extends object>(codec: Codec<T>, was: T | undefined, row: T): Record<string, unknown> {
  if (was === undefined) return toJson(codec, row);
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    if (codec.key.includes(name) || !same(kind, was[name], row[name])) out[column] = jsonOf(row[name]);
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
  return kind === 'time' ? new Date(v as string) : v;
}

/** A row as it was read. The table's own types and checks vouch for what the columns hold. */
export function fromRow<T>(codec: Codec<T>, row: Record<string, unknown>): T {
  const out: Record<string, unknown> = {};
  for (const [name, column, kind] of columnsOf(codec)) {
    const v = row[column];
    out[name] = v === null || v === undefined ? null : kind === 'bigint' ? BigInt(v as string) : v;
  }
  return out as T;
}

/**
 * The columns of a table that this release knows. A prepared statement must name them: with `*` it fails on every connection that
 * knows it as soon as a later release adds a column, while both releases are at work.
 */
export function columnList<T>(codec: Codec<T>): string {
  return columnsOf(codec)
    .map(([, column]) => column)
    .join(', ');
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
  return `insert into ${table} (${columns}) select ${columns} from jsonb_populate_recordset(null::${table}, $${n}::jsonb)`;
}

export const INVOICE: Codec<InvoiceRow> = {
  table: 'invoice',
  key: ['invoiceId'],
  columns: {
    invoiceId: 'text',
    customerId: 'text',
    status: 'text',
    platformStatus: 'text',
    billingReason: 'text',
    currency: 'text',
    amountDue: 'bigint',
    amountPaid: 'bigint',
    amountRemaining: 'bigint',
    amountOverpaid: 'bigint',
    total: 'bigint',
    subscriptionId: 'text',
    collectionMethod: 'text',
    platformCreatedAt: 'time',
    finalizesAt: 'time',
    finalizationError: 'text',
    factsAt: 'time',
    readAt: 'time',
    readDueAt: 'time',
    readAttempts: 'int',
    expectedBy: 'time',
    paysByDebit: 'bool',
    holdUntil: 'time',
    firstSeenAt: 'time',
  },
};

export const PAYMENT: Codec<PaymentRow> = {
  table: 'payment',
  key: ['id'],
  columns: {
    id: 'text',
    paymentId: 'text',
    identifiedBy: 'text',
    invoiceId: 'text',
    customerId: 'text',
    origin: 'text',
    status: 'text',
    amount: 'bigint',
    currency: 'text',
    processorChargeId: 'text',
    processorPaymentIntentId: 'text',
    reference: 'text',
    succeededAt: 'time',
    verdictAt: 'time',
    failureMessage: 'text',
    declineCode: 'text',
    mark: 'text',
    markMode: 'text',
    paymentRecordId: 'text',
    markTries: 'int',
    proveDueAt: 'time',
    proveAttempts: 'int',
    pendingSince: 'time',
    waived: 'texts',
    amountRefunded: 'bigint',
    refundedTotal: 'bigint',
    signupId: 'text',
    recordedAt: 'time',
  },
};

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

export const REFUND: Codec<RefundRow> = {
  table: 'refund',
  key: ['id'],
  columns: {
    id: 'text',
    paymentRowId: 'text',
    invoiceId: 'text',
    morRefundId: 'text',
    processorRefundId: 'text',
    amount: 'bigint',
    currency: 'text',
    status: 'text',
    reason: 'text',
    origin: 'text',
    counted: 'bool',
    totalAfter: 'bigint',
    mirror: 'text',
    creditNoteId: 'text',
    failure: 'json',
    createdAt: 'time',
    succeededAt: 'time',
  },
};

export const REVIEW: Codec<ReviewRow> = {
  table: 'review',
  key: ['id'],
  columns: {
    id: 'text',
    kind: 'text',
    status: 'text',
    subject: 'text',
    invoiceId: 'text',
    paymentRowId: 'text',
    refundId: 'text',
    summary: 'text',
    proposal: 'text',
    dueAt: 'time',
    createdAt: 'time',
    resolvedAt: 'time',
    resolvedBy: 'text',
    resolution: 'text',
    note: 'text',
  },
};

export const OBJECT: Codec<MorObjectRow> = {
  table: 'mor_object',
  key: ['id'],
  columns: {
    id: 'text',
    kind: 'text',
    morId: 'text',
    invoiceId: 'text',
    paymentRowId: 'text',
    status: 'text',
    amount: 'bigint',
    currency: 'text',
    number: 'text',
    url: 'text',
    deadline: 'time',
    detail: 'json',
    readDueAt: 'time',
    readAttempts: 'int',
    createdAt: 'time',
    updatedAt: 'time',
  },
};

export const TAX: Codec<TaxRecord> = {
  table: 'tax_record',
  key: ['id'],
  columns: {
    id: 'text',
    kind: 'text',
    invoiceId: 'text',
    paymentRowId: 'text',
    refundId: 'text',
    stage: 'text',
    reference: 'text',
    taxCalculationId: 'text',
    morId: 'text',
    currency: 'text',
    lines: 'json',
    calculations: 'int',
    dueAt: 'time',
    attempts: 'int',
    createdAt: 'time',
    updatedAt: 'time',
  },
};

type FlatEntry = {
  debitAccount: string;
  creditAccount: string;
  amount: bigint;
  currency: string;
  reason: string;
  subject: string;
  invoiceId: string;
  paymentRowId: string;
  paymentId: string | null;
  processorChargeId: string | null;
  refundId: string | null;
  eventId: string | null;
  recordedAt: Date;
};

export const ENTRY: Codec<FlatEntry> = {
  table: 'ledger_entry',
  key: ['reason', 'subject'],
  columns: {
    debitAccount: 'text',
    creditAccount: 'text',
    amount: 'bigint',
    currency: 'text',
    reason: 'text',
    subject: 'text',
    invoiceId: 'text',
    paymentRowId: 'text',
    paymentId: 'text',
    processorChargeId: 'text',
    refundId: 'text',
    eventId: 'text',
    recordedAt: 'time',
  },
};

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

// How a statement's columns are read. No document of the MoR shows the format, so the operator says it, by flags or in a small file.
import { parseCurrency } from '../../domain/money.js';
import {
  AMOUNT_STYLES,
  DATE_STYLES,
  type Field,
  FIELDS,
  LINE_TYPES,
  type LineType,
  type Mapping,
} from '../../domain/statement.js';

/** A mapping, or a statement under it, that cannot be used. The message names the field and what to do. */
export class MappingRefused extends Error {
  readonly code = 'mapping';
}

const refuse = (message: string): never => {
  throw new MappingRefused(message);
};

const isRecord = (v: unknown): v is Readonly<Record<string, unknown>> =>
  typeof v === 'object' && v !== null && !Array.isArray(v);

function oneOf<T extends string>(value: unknown, words: readonly T[], name: string): T {
  return words.find((w) => w === value) ?? refuse(`${name} must be one of ${words.join(', ')}`);
}

/** A mapping as JSON: every member may be left out. Throws MappingRefused. */
export function parseMapping(value: unknown): Mapping {
  if (!isRecord(value)) return refuse('the mapping must be a JSON object');
  const known = ['columns', 'types', 'amounts', 'dates', 'currency', 'delimiter'];
  const stranger = Object.keys(value).find((k) => !known.includes(k));
  if (stranger !== undefined) return refuse(`the mapping has no member "${stranger}"; it has ${known.join(', ')}`);
  const { columns = {}, types = {}, amounts = 'dot', dates = 'iso', currency = null, delimiter = null } = value;
  return {
    columns: parseColumns(columns),
    types: parseTypes(types),
    amounts: oneOf(amounts, AMOUNT_STYLES, 'amounts'),
    dates: oneOf(dates, DATE_STYLES, 'dates'),
    currency: currency === null ? null : (parseCurrency(currency) ?? refuse('currency must be a code such as EUR')),
    delimiter: delimiter === null ? null : parseDelimiter(delimiter),
  };
}

function parseDelimiter(value: unknown): string {
  if (value === 'tab') return '\t';
  return typeof value === 'string' && /^[^"\r\n]$/u.test(value)
    ? value
    : refuse('delimiter must be one character, or "tab"');
}

function parseColumns(value: unknown): Mapping['columns'] {
  if (!isRecord(value)) return refuse('columns must be an object such as {"charge": "PSP reference"}');
  const columns: Partial<Record<Field, string>> = {};
  for (const [name, column] of Object.entries(value)) {
    const field = oneOf(name, FIELDS, `the field "${name}" of columns`);
    if (typeof column !== 'string' || column === '') return refuse(`columns.${field} must be the name of a column`);
    columns[field] = column;
  }
  return columns;
}

function parseTypes(value: unknown): Mapping['types'] {
  if (!isRecord(value)) return refuse('types must be an object such as {"payment": ["charge"]}');
  const types: Partial<Record<LineType, readonly string[]>> = {};
  const taken = new Map<string, LineType>();
  for (const [name, words] of Object.entries(value)) {
    const type = oneOf(name, LINE_TYPES, `the kind "${name}" of types`);
    const list: readonly unknown[] = Array.isArray(words) ? words : [words];
    const texts = list.map((w) =>
      typeof w === 'string' && word(w) !== '' ? word(w) : refuse(`types.${type} must be words`),
    );
    for (const text of texts) {
      const other = taken.get(text);
      if (other !== undefined && other !== type) return refuse(`types: "${text}" stands for ${other} and for ${type}`);
      taken.set(text, type);
    }
    types[type] = texts;
  }
  return types;
}

const word = (text: string): string => text.trim().toLowerCase();

/** Where each field stands in a line, and what the words of its type column mean. */
export type Bound = {
  readonly mapping: Mapping;
  readonly at: Readonly<Partial<Record<Field, number>>>;
  readonly types: ReadonlyMap<string, LineType>;
  readonly width: number;
};

/** Joins a mapping with a statement's first line. Throws MappingRefused with the columns that there are. */
export function bind(mapping: Mapping, header: readonly string[]): Bound {
  const names = header.map(word);
  const there = `The statement has: ${header.map((h) => h.trim()).join(', ')}.`;
  const at: Partial<Record<Field, number>> = {};
  for (const field of FIELDS) {
    const named = mapping.columns[field];
    const wanted = named === undefined ? [field, `${field}_id`, `${field}_reference`] : [word(named)];
    const found = names.flatMap((name, i) => (wanted.includes(name) ? [i] : []));
    if (found.length > 1) return refuse(`The column for ${field} is there ${found.length} times. ${there}`);
    if (found.length === 0 && named !== undefined)
      return refuse(`There is no column "${named}" for ${field}. ${there}`);
    if (found[0] !== undefined) at[field] = found[0];
  }
  if (at.amount === undefined)
    return refuse(`No column is known to hold the amount: say --column amount=<name>. ${there}`);
  if (at.charge === undefined && at.payment === undefined && at.refund === undefined)
    return refuse(`No column is known to name a charge, a payment or a refund: say --column charge=<name>. ${there}`);
  if (at.currency === undefined && mapping.currency === null)
    return refuse(`No column is known to hold the currency: say --column currency=<name> or --currency EUR. ${there}`);
  const given = LINE_TYPES.flatMap((type) => (mapping.types[type] ?? []).map((text) => [text, type] as const));
  const own = LINE_TYPES.map((type) => [type, type] as const);
  return { mapping, at, types: new Map([...own, ...given]), width: header.length };
}

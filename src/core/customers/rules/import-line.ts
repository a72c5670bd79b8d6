// Reads the columns of a file of customers, and each of its lines.
import { whatIsWrongWithId } from '../../../shared/domain/id-text.js';

/** The error if the first line lacks a required column. The message lists the columns. */
export class ColumnsRefused extends Error {
  readonly code = 'columns';
}

const COLUMNS = {
  customerId: ['customer', 'customer_id'],
  morCustomerId: ['mor_customer_id', 'mor_customer'],
  reference: ['reference'],
} as const;

type Column = keyof typeof COLUMNS;

export type Columns = {
  readonly at: Readonly<Record<'customerId' | 'morCustomerId', number>> & { readonly reference: number | null };
  /** The number of columns, up to the last column with a name. */
  readonly width: number;
  /** Columns Crossbill ignores. */
  readonly unused: readonly string[];
};

/** Finds each column by its name. Throws ColumnsRefused. */
export function bindColumns(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase());
  const there = `The file has: ${header.map((name) => name.trim()).join(', ')}.`;
  const find = (column: Column): number | null => {
    const wanted: readonly string[] = COLUMNS[column];
    const found = names.flatMap((name, i) => (wanted.includes(name) ? [i] : []));
    if (found.length > 1)
      throw new ColumnsRefused(`The column ${wanted[0] ?? ''} is there ${found.length} times. Keep one. ${there}`);
    return found[0] ?? null;
  };
  const need = (column: Column): number => {
    const at = find(column);
    if (at !== null) return at;
    const wanted = 'The first line must name the columns customer and mor_customer_id, and reference if there is one.';
    throw new ColumnsRefused(`There is no column ${COLUMNS[column][0]}. ${wanted} ${there}`);
  };
  const at = { customerId: need('customerId'), morCustomerId: need('morCustomerId'), reference: find('reference') };
  const used = new Set<number | null>(Object.values(at));
  const unused = header.map((name) => name.trim()).filter((name, i) => name !== '' && !used.has(i));
  return { at, width: names.findLastIndex((name) => name !== '') + 1, unused };
}

/**
 * Reads one line as a link, or returns its problem. Spreadsheets write blanks around a cell, missing last cells and
 * empty extra cells. Crossbill ignores blanks and empty extra cells, and reads a missing cell as empty.
 */
export function readImportLine(
  record: readonly string[],
  line: number,
  { at, width }: Columns,
): { readonly ok: true; readonly row: ImportRow } | { readonly ok: false; readonly problem: LineProblem } {
  const cell = (index: number | null): string => (index === null ? '' : (record[index] ?? '').trim());
  const [customerId, morCustomerId, reference] = [cell(at.customerId), cell(at.morCustomerId), cell(at.reference)];
  const shown = whatIsWrongWithId(customerId) === null ? customerId : null;
  const problem = (said: string) => ({ ok: false, problem: { line, customerId: shown, problem: said } }) as const;
  const beyond = record.findIndex((text, i) => i >= width && text.trim() !== '');
  if (beyond !== -1) return problem(`cell ${beyond + 1} has a value, and the first line names ${width} columns`);
  if (customerId === '') return problem('customer is empty');
  if (morCustomerId === '') return problem('mor_customer_id is empty');
  for (const [name, text] of Object.entries({ customer: customerId, mor_customer_id: morCustomerId, reference })) {
    const wrong = text === '' ? null : whatIsWrongWithId(text);
    if (wrong !== null) return problem(`${name} ${wrong}`);
  }
  if (customerId === morCustomerId) return problem('customer and mor_customer_id are the same');
  return { ok: true, row: { line, customerId, morCustomerId, reference: reference === '' ? null : reference } };
}

/** A link from one line of the file. */
export type ImportRow = {
  readonly line: number;
  readonly customerId: string;
  readonly morCustomerId: string;
  /** The merchant's own reference. Null: none. */
  readonly reference: string | null;
};

/** The reason to refuse a line. */
export type LineProblem = { readonly line: number; readonly customerId: string | null; readonly problem: string };

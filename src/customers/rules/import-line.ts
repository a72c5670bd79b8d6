// The columns of a file of customers, and one line of it.
import { type ImportRow, type LineProblem } from '../../domain/ports/customer-links.js';

/** A file whose first line does not name the columns that are needed. The message says which there are. */
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
  readonly width: number;
  /** Columns that nobody reads here. */
  readonly unused: readonly string[];
};

/** Throws ColumnsRefused. */
export function bindColumns(header: readonly string[]): Columns {
  const names = header.map((name) => name.trim().toLowerCase());
  const there = `The file has: ${header.map((name) => name.trim()).join(', ')}.`;
  const find = (column: Column): number | null => {
    const wanted: readonly string[] = COLUMNS[column];
    const found = names.flatMap((name, i) => (wanted.includes(name) ? [i] : []));
    if (found.length > 1)
      throw new ColumnsRefused(`The column ${wanted[0] ?? ''} is there ${found.length} times. ${there}`);
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
  return { at, width: header.length, unused: header.map((name) => name.trim()).filter((_, i) => !used.has(i)) };
}

const LONGEST = 255;

/** One line as a link, or what is wrong with it. Blanks around a cell do no harm. */
export function readImportLine(
  record: readonly string[],
  line: number,
  { at, width }: Columns,
): { readonly ok: true; readonly row: ImportRow } | { readonly ok: false; readonly problem: LineProblem } {
  const cell = (i: number | null): string => (i === null ? '' : (record[i] ?? '').trim());
  const [customerId, morCustomerId, reference] = [cell(at.customerId), cell(at.morCustomerId), cell(at.reference)];
  const problem = (said: string) =>
    ({ ok: false, problem: { line, customerId: isClean(customerId) ? customerId : null, problem: said } }) as const;
  if (record.length !== width) return problem(`it has ${record.length} cells, the first line has ${width}`);
  if (customerId === '') return problem('customer is empty');
  if (morCustomerId === '') return problem('mor_customer_id is empty');
  for (const [name, text] of Object.entries({ customer: customerId, mor_customer_id: morCustomerId, reference })) {
    if (text !== '' && !isClean(text))
      return problem(`${name} is longer than ${LONGEST} characters, or holds characters that no id has`);
  }
  if (customerId === morCustomerId) return problem('customer and mor_customer_id are the same');
  return { ok: true, row: { line, customerId, morCustomerId, reference: reference === '' ? null : reference } };
}

/** As the API takes an id. */
function isClean(text: string): boolean {
  return text.length >= 1 && text.length <= LONGEST && !/[\p{Cc}\p{Cs}\ufffd]/u.test(text);
}

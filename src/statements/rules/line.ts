// One line of a statement, read by its mapping: what it is about, or why it cannot be read.
import { parseCurrency } from '../../domain/money.js';
import { readAmount } from './amount.js';
import { readDate } from './day.js';
import { type Field, type LineType } from '../../domain/statement.js';
import { type Bound } from './mapping.js';

export type StatementLine = {
  /** Where its record begins in the file, counted from 1. */
  readonly line: number;
  /** Null: the statement has no type column. */
  readonly type: LineType | null;
  readonly charge: string | null;
  readonly payment: string | null;
  readonly refund: string | null;
  /** Smallest units, with its sign. */
  readonly amount: bigint;
  readonly currency: string;
  /** Null: the line has no date. */
  readonly at: Date | null;
  /** Of the fee column, smallest units; null: none. */
  readonly fee: bigint | null;
};

export type ReadLine =
  | { readonly ok: true; readonly line: StatementLine }
  | { readonly ok: false; readonly kind: 'unreadable' | 'unknown_type'; readonly why: string }
  /** Nothing here has a counterpart for it. */
  | { readonly ok: null };

const LONGEST_ID = 255;

export function readLine(record: readonly string[], line: number, bound: Bound): ReadLine {
  const { at, mapping, types, width } = bound;
  const bad = (why: string): ReadLine => ({ ok: false, kind: 'unreadable', why });
  // Spreadsheets leave out empty cells at the end, or add some.
  const rest = record.slice(width).some((text) => text.trim() !== '');
  if (rest) return bad(`it has ${record.length} columns, the first line has ${width}`);
  const cell = (field: Field): string => {
    const i = at[field];
    return i === undefined ? '' : (record[i] ?? '').trim();
  };
  const said = cell('type');
  const type = at.type === undefined ? null : (types.get(said.toLowerCase()) ?? 'unknown');
  if (type === 'ignore') return { ok: null };
  if (type === 'unknown') {
    const why =
      said === ''
        ? 'its type is empty'
        : `its type ${JSON.stringify(said.slice(0, 60))} is not mapped: say --type payment=${JSON.stringify(said.slice(0, 60))}, or refund, fee, returned, ignore`;
    return { ok: false, kind: 'unknown_type', why };
  }
  const code = at.currency === undefined ? mapping.currency : parseCurrency(cell('currency'));
  if (code === null) return bad(`its currency ${JSON.stringify(cell('currency').slice(0, 20))} is no code such as EUR`);
  const amount = readAmount(cell('amount'), mapping.amounts, code);
  if (!amount.ok) return bad(amount.why);
  const feeText = cell('fee');
  const fee = feeText === '' ? null : readAmount(feeText, mapping.amounts, code);
  if (fee !== null && !fee.ok) return bad(`fee: ${fee.why}`);
  const dateText = cell('date');
  const date = dateText === '' ? null : readDate(dateText, mapping.dates);
  if (dateText !== '' && date === null)
    return bad(`the date ${JSON.stringify(dateText.slice(0, 40))} is not written as ${mapping.dates} (--dates)`);
  const ids = { charge: idOf(cell('charge')), payment: idOf(cell('payment')), refund: idOf(cell('refund')) };
  const odd = Object.entries(ids).find(([, id]) => id !== null && /[\p{Cc}\p{Cs}]/u.test(id));
  if (odd !== undefined) return bad(`its ${odd[0]} id holds a control character`);
  const long = Object.entries(ids).find(([, id]) => id !== null && id.length > LONGEST_ID);
  if (long !== undefined) return bad(`its ${long[0]} id is longer than ${LONGEST_ID} characters`);
  return {
    ok: true,
    line: { line, type, ...ids, amount: amount.minor, currency: code, at: date, fee: fee?.minor ?? null },
  };
}

/** What a spreadsheet or an export puts for nothing. */
function idOf(text: string): string | null {
  return text === '' || text === '-' || /^(null|n\/a)$/i.test(text) ? null : text;
}

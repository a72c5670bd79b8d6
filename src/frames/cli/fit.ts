// Fits a list into the width of a terminal: status and sentence first, ids shortened, times of this machine's zone.
import { plain, table } from './table.js';

type Table = { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] };
type Column = { readonly head: string; readonly cells: readonly string[]; readonly rank: number };

const GAP = 2;
/** No cell but a sentence is wider. */
const WIDEST_CELL = 24;
/** A sentence keeps at least this width while other columns stand next to it. */
const LEAST_SENTENCE = 28;
const ID_SHOWN = 6;

/** The heads of the columns that hold a sentence. */
const SENTENCES: ReadonlySet<string> = new Set(['summary', 'reason', 'detail']);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const ID = /^([a-z]{2,6}_)\w{7,}$|^[\da-f]{8}-[\da-f-]{27}$/;

/** Draws the table so that no line is wider than `width`. A last line names the columns without room. */
export function fitted(given: Table, width: number): string {
  if (given.rows.length === 0) return table(given.heads, given.rows);
  const columns = given.heads
    .map((head, n): Column =>
      columnOf(
        head,
        given.rows.map((row) => plain(row[n] ?? '')),
      ),
    )
    .toSorted((a, b) => a.rank - b.rank);
  const shown: Column[] = [];
  let room = width;
  for (const column of columns) {
    const needed = Math.min(widthOf(column), column.rank === 1 ? LEAST_SENTENCE : WIDEST_CELL);
    const gap = shown.length === 0 ? 0 : GAP;
    if (shown.length > 0 && needed + gap > room) break;
    room -= needed + gap;
    shown.push(column);
  }
  const cells = shown.map((column) =>
    column.cells.map((cell) => cut(cell, column.rank === 1 ? LEAST_SENTENCE + room : WIDEST_CELL)),
  );
  const rows = given.rows.map((_, row) => cells.map((column) => column[row] ?? ''));
  const left = columns.slice(shown.length).map(({ head }) => head);
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const missing = left.length === 0 ? '' : ` Not shown: ${left.join(', ')}.`;
  return `${table(
    shown.map(({ head }) => head),
    rows,
  )}Times are local (${zone}).${missing} Everything in full: --wide\n`;
}

/** Ranks: status, sentence, the row's own id, other facts, other ids. */
function columnOf(head: string, cells: readonly string[]): Column {
  if (SENTENCES.has(head)) return { head, cells, rank: 1 };
  const isId = cells.some((cell) => ID.test(cell));
  const rank = head === 'status' ? 0 : head === 'id' ? 2 : isId ? 4 : 3;
  return { head, cells: cells.map(shortened), rank };
}

function shortened(cell: string): string {
  if (TIME.test(cell)) return localTime(new Date(cell));
  if (!ID.test(cell)) return cell;
  const from = cell.indexOf('_') + 1;
  return cut(cell, from + ID_SHOWN + 1);
}

/** A time in this machine's zone: `2026-11-30 14:05`. */
export function localTime(at: Date): string {
  const two = (count: number): string => String(count).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** At least 4: the rule under the last column is so wide. */
const widthOf = ({ head, cells }: Column): number => Math.max(4, head.length, ...cells.map((cell) => cell.length));

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);

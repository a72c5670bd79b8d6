// Fits text and tables into the width of a terminal: status and sentence first, ids shortened, times of this machine's
// zone, long lines broken between words.
import { plain, table } from './table.js';

export type Table = { readonly heads: readonly string[]; readonly rows: readonly (readonly string[])[] };
/** A part of a report: lines of text, or a table. */
export type Block = string | Table;
type Column = { readonly head: string; readonly cells: readonly string[]; readonly rank: number };

const GAP = 2;
/** No cell but a sentence is wider. */
const WIDEST_CELL = 24;
/** A sentence keeps at least this width while other columns stand next to it. */
const LEAST_SENTENCE = 28;
const ID_SHOWN = 6;

/** The heads of the columns that hold a sentence. */
const SENTENCES: ReadonlySet<string> = new Set(['summary', 'reason', 'detail', 'why', 'last answer']);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
/** An id has a digit or a capital. A word such as `mor_receivable` has none. */
const ID = /^([a-z]{2,6}_)(?=[a-z_]*[\dA-Z])\w{7,}$|^[\da-f]{8}-[\da-f-]{27}$/;

/** Draws the table so that no line is wider than `width`. A last line names the columns without room. */
export function fitted(given: Table, width: number): string {
  const { text, missing } = fit(given, width);
  return given.rows.length === 0 ? text : `${text}${broken(hint(missing), width)}`;
}

/** Draws a report. `width`: of the terminal, or null for everything in full. Nothing is wider than the terminal. */
export function drawn(blocks: readonly Block[], width: number | null): string {
  if (width === null)
    return blocks.map((block) => (typeof block === 'string' ? block : table(block.heads, block.rows))).join('');
  const missing: string[] = [];
  const text = blocks.map((block) => {
    if (typeof block === 'string') return broken(block, width);
    const shown = fit(block, width);
    missing.push(...shown.missing);
    return shown.text;
  });
  const hasRows = blocks.some((block) => typeof block !== 'string' && block.rows.length > 0);
  return `${text.join('')}${hasRows ? `\n${broken(hint(missing), width)}` : ''}`;
}

function hint(missing: readonly string[]): string {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const left = missing.length === 0 ? '' : ` Not shown: ${[...new Set(missing)].join(', ')}.`;
  return `Times without a Z are local (${zone}).${left} Everything in full: --wide\n`;
}

/** Breaks lines wider than `width` between words. Further lines keep the indent of the first, and `more` blanks. */
export function broken(text: string, width: number, more = 0): string {
  return text
    .split('\n')
    .map((line) => {
      if (line.length <= width) return line;
      const indent = ' '.repeat((/^ */.exec(line)?.[0].length ?? 0) + more);
      const lines = [''];
      for (const word of line.split(/(?<=\S)(?= )/)) {
        const last = lines.at(-1) ?? '';
        if (last !== '' && last.length + word.length > width) lines.push(indent + word.trimStart());
        else lines[lines.length - 1] = last + word;
      }
      return lines.join('\n');
    })
    .join('\n');
}

function fit(given: Table, width: number): { readonly text: string; readonly missing: readonly string[] } {
  if (given.rows.length === 0) return { text: table(given.heads, given.rows), missing: [] };
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
  const text = table(
    shown.map(({ head }) => head),
    rows,
  );
  return { text, missing: columns.slice(shown.length).map(({ head }) => head) };
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

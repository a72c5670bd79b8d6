// Reads a CSV file: its size, its first line, and its records as a stream from any place on. Memory use is bounded.
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';

/** The error for a file unreadable as CSV. The message names the place and the remedy. */
export class CsvRefused extends Error {
  constructor(
    readonly code: 'no_file' | 'empty' | 'encoding' | 'not_csv',
    message: string,
  ) {
    super(message);
  }
}

/** One record and the place after it. An interrupted run resumes at this place. */
export type Placed = {
  readonly record: readonly string[];
  /** The line where the record begins, counted from 1. */
  readonly line: number;
  readonly nextLine: number;
  readonly nextByte: number;
};

/** The most bytes of one record. A longer record means a quote without an end. */
const MOST_RECORD_BYTES = 64 * 1024;

/** Returns the file's size in bytes. Throws CsvRefused for an unreadable file. */
export async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch {
    // Ignore this error: the message below covers it.
  }
  throw new CsvRefused('no_file', `Crossbill cannot read a file at ${path}. Check the path.`);
}

/** A first line some spreadsheets write and hide: it names the separator of the columns. */
const SEPARATOR_LINE = /^\ufeff?"?sep=([^\r\n])"?(?:\r\n|\n|\r|$)/i;

/** Reads the first line: the names of the columns, and their separator. Throws CsvRefused. */
export async function headerOf(
  path: string,
  delimiter: string | null,
): Promise<{ readonly header: readonly string[]; readonly delimiter: string; readonly next: Placed }> {
  const start = await firstBytes(path);
  if (start.includes(0) || (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff))
    throw new CsvRefused(
      'encoding',
      `The file is not in UTF-8, but in UTF-16 or a spreadsheet's own format. ${SAVE_AGAIN}`,
    );
  await mustBeUtf8(path);
  const text = start.toString('utf8').replace(/^\ufeff/, '');
  const [separator = '', named] = SEPARATOR_LINE.exec(start.toString('utf8')) ?? [];
  const sign = delimiter ?? named ?? guessDelimiter(/^[^\r\n]*/.exec(text)?.[0] ?? '');
  const from = { delimiter: sign, byte: Buffer.byteLength(separator), line: separator === '' ? 1 : 2 };
  for await (const next of recordsOf(path, from)) {
    if (!isBlank(next)) return { header: next.record, delimiter: sign, next };
  }
  throw new CsvRefused('empty', 'The file is empty: its first line must name the columns.');
}

const SAVE_AGAIN = 'Save it again as CSV in UTF-8.';

/** Checks the whole file before an import begins. Throws CsvRefused with the line. */
async function mustBeUtf8(path: string): Promise<void> {
  let line = 1;
  let remaining: Buffer = Buffer.alloc(0);
  const check = (bytes: Buffer): void => {
    if (!isUtf8(bytes)) {
      const wrong = linesOf(bytes).findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')));
      const message = `Line ${line + wrong} is not in UTF-8, but in another encoding, such as Windows-1252. ${SAVE_AGAIN}`;
      throw new CsvRefused('encoding', message);
    }
    line += linesOf(bytes).length - 1;
  };
  for await (const chunk of createReadStream(path)) {
    const bytes = Buffer.concat([remaining, chunk as Buffer]);
    const end = bytes.length - unfinished(bytes);
    check(bytes.subarray(0, end));
    remaining = bytes.subarray(end);
  }
  check(remaining);
}

/** Splits bytes into lines. Bytes outside UTF-8 stay unchanged. */
const linesOf = (bytes: Buffer): readonly string[] => bytes.toString('latin1').split(/\r\n|\n|\r/);

/** The number of bytes at the end of a chunk that belong to an unfinished character or line end. */
function unfinished(bytes: Buffer): number {
  if (bytes.at(-1) === 0x0d) return 1;
  for (const back of [1, 2, 3]) {
    const byte = bytes.at(-back) ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MOST_RECORD_BYTES), 0, MOST_RECORD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export function isBlank({ record }: Placed): boolean {
  return record.every((cell) => cell.trim() === '');
}

type Parsed = { readonly record: string[]; readonly raw: string; readonly info: { readonly bytes: number } };

/**
 * Reads the records from byte `from.byte` to the end. Quotes are strict: a stray quote could swallow the lines after
 * it. Throws CsvRefused.
 */
export async function* recordsOf(
  path: string,
  from: { readonly delimiter: string; readonly byte: number; readonly line: number },
): AsyncGenerator<Placed> {
  let { line } = from;
  const places: Placed[] = [];
  const parser = parse({
    delimiter: from.delimiter,
    bom: from.byte === 0,
    // Lists every kind of line end. By default the parser keeps the first kind it meets, and a resumed run may meet
    // another kind first.
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    raw: true,
    relax_column_count: true,
    max_record_size: MOST_RECORD_BYTES,
    // Keeps each finished record with its place in the file. If a later record is broken, the parser itself drops
    // finished records without passing them on. The place comes from our own line count, because the parser's count is
    // wrong after a Windows line end within quotes.
    on_record: (found: string[]) => {
      const { record, raw, info } = found as unknown as Parsed; // with `info` and `raw`, missing in the types
      const begun = line;
      line += raw.match(/\r\n|\n|\r/g)?.length ?? 0;
      places.push({ record, line: begun, nextLine: line, nextByte: from.byte + info.bytes });
      return found;
    },
  });
  const file = createReadStream(path, { start: from.byte });
  file.on('error', (e) => parser.destroy(e));
  try {
    for await (const _ of file.pipe(parser)) {
      const placed = places.shift();
      if (placed !== undefined) yield placed;
    }
  } catch (e) {
    if (!(e instanceof CsvError)) throw e;
    const message = `Line ${line} is not valid CSV: a quote has no end, or is in the middle of a cell. Write a quote inside a quoted cell twice. Crossbill imported nothing.`;
    throw new CsvRefused('not_csv', message);
  } finally {
    file.destroy();
    parser.destroy();
  }
}

/** Guesses the separator from a first line: the most frequent of comma, semicolon, tab and bar outside quotes. */
export function guessDelimiter(line: string): string {
  const bare = line.replace(/"[^"]*"/g, '');
  const count = (separator: string): number => bare.split(separator).length;
  return [',', ';', '\t', '|'].reduce((best, d) => (count(d) > count(best) ? d : best), ',');
}

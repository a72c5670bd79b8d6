// A CSV file: its hash, its first line, and its records as a stream from any place on, in bounded memory.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { CsvError, parse } from 'csv-parse';

/** A file that cannot be read as CSV. The message says where and what to do. */
export class CsvRefused extends Error {
  constructor(
    readonly code: 'no_file' | 'empty' | 'encoding' | 'not_csv' | 'changed',
    message: string,
  ) {
    super(message);
  }
}

/** One record and the place after it, where a run that is interrupted resumes. */
export type Placed = {
  readonly record: readonly string[];
  /** Where it begins, counted from 1. */
  readonly line: number;
  readonly nextLine: number;
  readonly nextByte: number;
};

/** Bytes of one record: beyond this a quote was never closed. */
const MOST_RECORD_BYTES = 64 * 1024;

/** Throws CsvRefused. */
export async function hashOf(
  path: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const bytes = await sizeOf(path);
  const hash = createHash('sha256');
  let done = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Buffer);
    onProgress((done += (chunk as Buffer).length), bytes);
  }
  return { sha256: hash.digest('hex'), bytes };
}

/** Bytes. Throws CsvRefused. */
export async function sizeOf(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) return found.size;
  } catch {
    // said below
  }
  throw new CsvRefused('no_file', `There is no file ${path} that can be read.`);
}

/** The first line: the names of the columns, and the sign between them. Throws CsvRefused. */
export async function headerOf(
  path: string,
  delimiter: string | null,
): Promise<{ readonly header: readonly string[]; readonly delimiter: string; readonly next: Placed }> {
  const start = await firstBytes(path);
  const save = 'Save it as CSV in UTF-8.';
  if (start.includes(0) || (start[0] === 0xff && start[1] === 0xfe) || (start[0] === 0xfe && start[1] === 0xff))
    throw new CsvRefused('encoding', `The file is no text in UTF-8 (UTF-16, or a spreadsheet's own format). ${save}`);
  const text = start.toString('utf8').replace(/^\ufeff/, '');
  const sign = delimiter ?? guessDelimiter(/^[^\r\n]*/.exec(text)?.[0] ?? '');
  for await (const next of recordsOf(path, { delimiter: sign, byte: 0, line: 1 })) {
    if (!isBlank(next)) return { header: next.record, delimiter: sign, next };
  }
  throw new CsvRefused('empty', 'The file is empty: its first line must name the columns.');
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

/** Records from a place on. Quotes are strict: a loose one could swallow the lines after it. Throws CsvRefused. */
export async function* recordsOf(
  path: string,
  from: { readonly delimiter: string; readonly byte: number; readonly line: number },
): AsyncGenerator<Placed> {
  let { line } = from;
  const places: Placed[] = [];
  const parser = parse({
    delimiter: from.delimiter,
    bom: from.byte === 0,
    // All of them: the parser would take the first one that it meets for the only one, and meet another where a run resumes.
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    raw: true,
    relax_column_count: true,
    max_record_size: MOST_RECORD_BYTES,
    // Placed as it is parsed: records that nobody has taken yet are lost when a later one breaks. The parser's own count of lines is
    // wrong after a Windows line end within quotes.
    on_record: (found: string[]) => {
      const { record, raw, info } = found as unknown as Parsed; // with `info` and `raw`, which the types do not follow
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
    const message = `Line ${line} is no CSV: a quote is not closed, or stands inside a cell that does not begin with one. Nothing of the file was kept.`;
    throw new CsvRefused('not_csv', message);
  } finally {
    file.destroy();
    parser.destroy();
  }
}

/** The sign between the columns of a first line: the most frequent of comma, semicolon, tab and bar outside quotes. */
export function guessDelimiter(line: string): string {
  const bare = line.replace(/"[^"]*"/g, '');
  const count = (d: string): number => bare.split(d).length;
  return [',', ';', '\t', '|'].reduce((best, d) => (count(d) > count(best) ? d : best), ',');
}

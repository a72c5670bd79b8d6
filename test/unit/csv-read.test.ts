// A CSV file is read the same in one go and from any record on, where an interrupted run resumes.
import { afterAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Placed, recordsOf } from '../../src/csv/read-csv.js';

const folder = mkdtempSync(join(tmpdir(), 'crossbill-csv-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function fileOf(text: string): string {
  const path = join(folder, `${++files}.csv`);
  writeFileSync(path, text);
  return path;
}

async function read(path: string, byte = 0, line = 1): Promise<Placed[]> {
  const records: Placed[] = [];
  for await (const placed of recordsOf(path, { delimiter: ',', byte, line })) records.push(placed);
  return records;
}

describe('a CSV file with line ends of several kinds', () => {
  it('has each line as a record, and a line end within quotes stays in its cell', async () => {
    const records = await read(fileOf('id,note\r\na,"two\nlines"\nb,"two\r\nmore"\r\nc,old\rd,last'));
    expect(records.map((r) => [r.line, ...r.record])).toEqual([
      [1, 'id', 'note'],
      [2, 'a', 'two\nlines'],
      [4, 'b', 'two\r\nmore'],
      [6, 'c', 'old'],
      [7, 'd', 'last'],
    ]);
  });

  it('reads the same from any record on', async () => {
    const path = fileOf('id,note\r\na,"two\r\nlines"\nb,"\n"\r\nc,1\rd,2\n');
    const whole = await read(path);
    expect(whole).toHaveLength(5);
    for (const [n, { nextByte, nextLine }] of whole.entries())
      expect(await read(path, nextByte, nextLine)).toEqual(whole.slice(n + 1));
  });
});

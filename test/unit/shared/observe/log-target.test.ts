// The target of the log never stops the work: a reader that stands still, a reader that is gone, a disk without room.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { FileTarget, StreamTarget } from '../../../../src/shared/observe/log-target.js';

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;
const line = (count: number): string => `{"n":${count},"text":"${'x'.repeat(1000)}"}\n`;

let folder: string;
let fifo: string;
let reader: number;
let writer: number;
let backs: readonly number[];
let onBack: (lost: number) => void;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-log-'));
  fifo = join(folder, 'fifo');
  if (spawnSync('mkfifo', [fifo]).status !== 0) throw new Error('no FIFO here');
  reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  writer = openSync(fifo, O_WRONLY | O_NONBLOCK);
  const own: number[] = []; // a target of another test may be heard late
  onBack = (lost) => void own.push(lost);
  backs = own;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** All that is there now. */
function readAll(): string {
  const bytes = Buffer.alloc(1024 * 1024);
  let text = '';
  try {
    for (let n = readSync(reader, bytes); n > 0; n = readSync(reader, bytes)) text += bytes.toString('utf8', 0, n);
  } catch {
    // empty for now
  }
  return text;
}

const numbers = (text: string): number[] =>
  text.split('\n').flatMap((one) => (one === '' ? [] : [(JSON.parse(one) as { n: number }).n]));

it('while nobody reads the log, Crossbill keeps a bounded part of the lines, counts the dropped lines, and reports their number later', async () => {
  const target = new FileTarget(writer, onBack);
  for (let n = 0; n < 5000; n++) target.write(line(n));
  const kept = 5000 - target.dropped;
  expect(kept).toBeGreaterThan(1000);
  expect(kept).toBeLessThan(1200);
  let text = readAll();
  while (backs.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    text += readAll();
  }
  while (numbersSoFar(text) < kept) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    text += readAll();
  }
  expect(numbers(text)).toEqual(Array.from({ length: kept }, (_, n) => n));
  expect(backs).toEqual([5000 - kept]);
  target.write(line(5000));
  expect(numbers(readAll())).toEqual([5000]);
  expect([target.dropped, backs]).toEqual([5000 - kept, [5000 - kept]]);
});

it('while nobody reads a log stream, Crossbill keeps a bounded part of the lines', () => {
  const stream = new Socket({ fd: writer, readable: false, writable: true });
  const target = new StreamTarget(stream, onBack);
  for (let n = 0; n < 5000; n++) target.write(line(n));
  expect(target.dropped).toBeGreaterThan(3500);
  expect(stream.writableLength).toBeLessThanOrEqual(1024 * 1024);
  stream.destroy();
});

const numbersSoFar = (text: string): number => text.split('\n').length - 1;

it('after the log’s reader goes away, Crossbill counts the lost lines and writes whole lines for the next reader', () => {
  const target = new FileTarget(writer, onBack);
  target.write(line(1));
  closeSync(reader);
  for (let n = 2; n < 5; n++) target.write(line(n));
  expect([target.dropped, backs]).toEqual([3, []]);
  reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  target.write(line(5));
  target.write(line(6));
  expect(numbers(readAll())).toEqual([1, 5, 6]);
  expect([target.dropped, backs]).toEqual([3, [3]]);
});

it('after a partial line, the log starts the next line on a new line', async () => {
  const target = new FileTarget(writer, onBack);
  const long = `{"n":1,"text":"${'x'.repeat(500_000)}"}\n`; // more than a FIFO holds
  target.write(long);
  closeSync(reader);
  target.write(line(2));
  while (target.dropped === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  reader = openSync(fifo, O_RDONLY | O_NONBLOCK);
  expect(readAll()).not.toContain('\n');
  target.write(line(3));
  expect(readAll()).toBe(`\n${line(3)}`);
  expect([target.dropped, backs]).toEqual([2, [2]]);
});

it('a log on a full disk drops and counts each line, and throws nothing', () => {
  const full = openSync('/dev/full', O_WRONLY);
  const target = new FileTarget(full, onBack);
  for (let n = 0; n < 1000; n++) target.write(line(n));
  expect([target.dropped, backs]).toEqual([1000, []]);
  closeSync(full);
});

// Rows into a file that has its name once all is in it, or into what has a reader: a FIFO, a device, the standard output behind a link.
import { constants, openSync } from 'node:fs';
import { lstat, open, readlink, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliError, EXIT } from './exit-codes.js';

export type Write = (text: string) => Promise<void>;

/** How often a FIFO is looked at that nobody reads. */
const LOOK_EVERY_MS = 100;

/** The person wants to end. */
export class Stopped extends CliError {
  constructor() {
    super(EXIT.failed, 'stopped', 'Stopped: the export is not complete.');
  }
}

type Out = { readonly write: Write; readonly close: () => Promise<void> };

/** Links are followed. Gives what `write` gives, and whether the file is a plain one. */
export async function intoFile(
  file: string,
  signal: AbortSignal,
  write: (to: Write) => Promise<number>,
): Promise<{ readonly written: number; readonly isPlain: boolean }> {
  const onDisk = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (e) {
      if (signal.aborted) throw new Stopped();
      const why = codeOf(e) === null ? '' : ` (${String(codeOf(e))})`;
      const message = `${file} cannot be written${why}. See that its folder is there, is yours to write, and has room.`;
      throw new CliError(EXIT.failed, 'not_written', message);
    }
  };
  const found = await onDisk(stat(file).catch(nullIfNone));
  const isPlain = found === null || found.isFile();
  const target = isPlain ? await onDisk(endOfLinks(file)) : file;
  const part = isPlain ? `${target}.part` : target;
  const out = await onDisk(found?.isFIFO() === true ? openFifo(file, signal) : openFile(part));
  try {
    const written = await write((text) => onDisk(out.write(text)));
    await onDisk(out.close());
    if (isPlain) await onDisk(rename(part, target));
    return { written, isPlain };
  } catch (e) {
    await out.close().catch(() => undefined); // it may be closed
    if (isPlain) await rm(part, { force: true });
    throw e;
  }
}

async function openFile(path: string): Promise<Out> {
  const handle = await open(path, 'w');
  return { write: (text) => handle.writeFile(text), close: () => handle.close() };
}

/** A thread that waits for a reader within the system could not be ended by a signal, and the process not with it. */
async function openFifo(path: string, signal: AbortSignal): Promise<Out> {
  for (;;) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      const socket = new Socket({ fd, readable: false, writable: true, signal });
      socket.on('error', () => undefined); // said by the write
      type End = (e?: Error | null) => void;
      const ended = (work: (end: End) => void): Promise<void> =>
        new Promise((settle, fail) => work((e) => (e === null || e === undefined ? settle() : fail(e))));
      return {
        write: (text) => ended((end) => socket.write(text, end)),
        close: () => ended((end) => socket.end(end)),
      };
    } catch (e) {
      if (codeOf(e) !== 'ENXIO') throw e; // nobody reads yet
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  }
}

/** Where a name leads in the end, also when nothing is there yet. */
async function endOfLinks(file: string, follow = 40): Promise<string> {
  const found = await lstat(file).catch(nullIfNone);
  if (found === null || !found.isSymbolicLink() || follow === 0) return file;
  return endOfLinks(resolve(dirname(file), await readlink(file)), follow - 1);
}

function nullIfNone(e: unknown): null {
  if (codeOf(e) === 'ENOENT') return null;
  throw e;
}

function codeOf(e: unknown): string | null {
  return typeof e === 'object' && e !== null && 'code' in e ? String(e.code) : null;
}

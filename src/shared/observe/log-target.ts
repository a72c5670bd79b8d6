// Writes the log without stopping the work: drops and counts lines after a failed write, keeps at most 1 MiB waiting,
// and delays no shutdown.
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { type Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { types } from 'node:util';

/** The most bytes waiting for a slow reader. */
const MOST_WAITING = 1024 * 1024;
const TRY_AGAIN_MS = 100;
const NEW_LINE = Buffer.from('\n');

export abstract class LogTarget {
  #dropped = 0;
  #untold = 0;

  /** @param onBack receives the number of lost lines, as soon as a line is written again */
  constructor(private readonly onBack: (lost: number) => void) {}

  /** The number of lost lines since the start of the process. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes one line with its newline. Never throws, never waits. */
  abstract write(line: string): void;

  protected lost(lines: number): void {
    this.#dropped += lines;
    this.#untold += lines;
  }

  protected written(): void {
    const lost = this.#untold;
    this.#untold = 0;
    if (lost > 0) this.onBack(lost);
  }
}

/** Writes to a file or a device, and never waits: the target takes the bytes, is full, or fails. */
export class FileTarget extends LogTarget {
  #waiting: Buffer[] = [];
  #bytes = 0;
  #begun = false;
  #again: NodeJS.Timeout | null = null;

  constructor(
    private readonly fd: number,
    onBack: (lost: number) => void,
  ) {
    super(onBack);
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#bytes + bytes.length > MOST_WAITING) return this.lost(1);
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    if (this.#again === null) this.#send();
  }

  #send(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const sent = bytesSent(this.fd, first);
      if (sent === 'full for now') return this.#sendLater();
      if (sent === 'failed') return this.#drop(first);
      this.#bytes -= sent;
      this.#begun = sent < first.length;
      if (this.#begun) this.#waiting[0] = first.subarray(sent);
      else {
        this.#waiting.shift();
        this.written();
      }
    }
  }

  #sendLater(): void {
    const again = (): void => {
      this.#again = null;
      this.#send();
    };
    this.#again = setTimeout(again, TRY_AGAIN_MS).unref();
  }

  /** Drops all waiting lines. If the first line was written in part, a newline ends it. */
  #drop(first: Buffer): void {
    const cutOff = this.#begun || first === NEW_LINE;
    this.lost(this.#waiting.length - (first === NEW_LINE ? 1 : 0));
    this.#waiting = cutOff ? [NEW_LINE] : [];
    this.#bytes = cutOff ? NEW_LINE.length : 0;
    this.#begun = false;
  }
}

function bytesSent(fd: number, bytes: Buffer): number | 'full for now' | 'failed' {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const code = types.isNativeError(error) && 'code' in error ? error.code : null;
    return code === 'EAGAIN' || code === 'EBUSY' || code === 'EINTR' ? 'full for now' : 'failed';
  }
}

/** Writes to a pipe or a socket. If the reader is slow, the stream keeps the bytes in memory. */
export class StreamTarget extends LogTarget {
  constructor(
    private readonly stream: Writable,
    onBack: (lost: number) => void,
  ) {
    super(onBack);
    stream.on('error', () => undefined); // write() counts each lost line
  }

  write(line: string): void {
    if (this.stream.writableLength + Buffer.byteLength(line) > MOST_WAITING) return this.lost(1);
    this.stream.write(line, (error) => (error ? this.lost(1) : this.written()));
  }
}

let standard: LogTarget | null = null;

/** The one target for this process's standard output. */
export function standardOutput(onBack: (lost: number) => void): LogTarget {
  standard ??= isPipeOrSocket(1) ? new StreamTarget(process.stdout, onBack) : new FileTarget(descriptor(1), onBack);
  return standard;
}

/** The number of lines lost on the standard output since the start of the process. */
export const linesDropped = (): number => standard?.dropped ?? 0;

function isPipeOrSocket(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return found.isFIFO() || found.isSocket();
  } catch {
    return false;
  }
}

/** Opens the terminal a second time: a write to the first opening would wait while the terminal is paused (Ctrl-S). */
function descriptor(fd: number): number {
  if (!isatty(fd)) return fd;
  try {
    return openSync(`/dev/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return fd;
  }
}

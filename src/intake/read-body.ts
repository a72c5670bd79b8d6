// The bytes of one request as they came over the wire, with limits of size and time.
import { type IncomingMessage } from 'node:http';

export type ReadResult = Buffer | 'too-large' | 'slow' | 'crowded' | 'aborted';

/** The room that all bodies being read share, so that a flood of large unsigned ones cannot fill the memory. */
export class ReadingRoom {
  #taken = 0;
  constructor(private readonly bytes: number) {}

  take(bytes: number): boolean {
    if (this.#taken + bytes > this.bytes) return false;
    this.#taken += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** Says at once that a body is too large when its sender announced so. */
export function announcesMore(req: IncomingMessage, limitBytes: number): boolean {
  const announced = req.headers['content-length'];
  return announced !== undefined && Number(announced) > limitBytes;
}

/**
 * Reads the body and tells `done` once. Content-Encoding is not looked at: what was signed is what was sent. After anything but a
 * Buffer the rest of the body is still unread.
 */
export function readBody(
  req: IncomingMessage,
  limits: { readonly bytes: number; readonly timeoutMs: number; readonly room: ReadingRoom },
  done: (result: ReadResult) => void,
): void {
  const chunks: Buffer[] = [];
  let length = 0;
  let over = false;
  const finish = (result: ReadResult) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    limits.room.give(length);
    req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    if (!Buffer.isBuffer(result)) req.pause().on('error', () => undefined); // a late reset is no news
    done(result);
  };
  const onData = (chunk: Buffer) => {
    if (length + chunk.length > limits.bytes) return finish('too-large');
    if (!limits.room.take(chunk.length)) return finish('crowded');
    length += chunk.length;
    chunks.push(chunk);
  };
  const onEnd = () => {
    const [first] = chunks;
    finish(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  };
  const onGone = () => finish('aborted');
  const timer = setTimeout(() => finish('slow'), limits.timeoutMs);
  req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
}

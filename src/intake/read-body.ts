// The bytes of one request as they came over the wire, with limits of size and time.
import { type IncomingMessage } from 'node:http';

export type ReadResult = Buffer | 'too-large' | 'slow' | 'crowded' | 'aborted';

/**
 * The room that all bodies being read share, so that a flood of large unsigned ones cannot fill the memory. When it is full, the one
 * that has been on its way longest gives way: senders who take their time, from however many addresses, keep out nobody who does not.
 */
export class ReadingRoom {
  #taken = 0;
  /** How to end each body of which more is to come, oldest first. */
  readonly #unfinished = new Set<() => void>();
  constructor(private readonly bytes: number) {}

  /** False when there is no room, even if all who came before `giveWay` left. */
  take(bytes: number, giveWay: () => void): boolean {
    if (bytes > this.bytes) return false;
    while (this.#taken + bytes > this.bytes) {
      const [oldest] = this.#unfinished;
      if (oldest === undefined || oldest === giveWay) return false;
      oldest();
    }
    this.#taken += bytes;
    return true;
  }

  /** More of this body is to come. `giveWay` has to give its bytes back. */
  stay(giveWay: () => void): void {
    this.#unfinished.add(giveWay);
  }

  give(bytes: number, giveWay: () => void): void {
    this.#taken -= bytes;
    this.#unfinished.delete(giveWay);
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
    limits.room.give(length, giveWay);
    req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    if (!Buffer.isBuffer(result)) req.pause().on('error', () => undefined); // a late reset is no news
    done(result);
  };
  const giveWay = () => finish('crowded');
  const onData = (chunk: Buffer) => {
    if (length + chunk.length > limits.bytes) return finish('too-large');
    if (!limits.room.take(chunk.length, giveWay)) return finish('crowded');
    length += chunk.length;
    chunks.push(chunk);
    // Nearly every delivery is complete with its first chunk, and has no need to be found.
    if (chunks.length === 1 && length !== Number(req.headers['content-length'])) limits.room.stay(giveWay);
  };
  const onEnd = () => {
    const [first] = chunks;
    finish(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  };
  const onGone = () => finish('aborted');
  const timer = setTimeout(() => finish('slow'), limits.timeoutMs);
  req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
}

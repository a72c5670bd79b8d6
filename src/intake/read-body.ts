// The bytes of one request as they came over the wire, with limits of size and time.
import { type IncomingMessage } from 'node:http';

/** How long a body may take to arrive. */
export const BODY_TIMEOUT_MS = 8_000;

export type ReadResult = Buffer | 'too-large' | 'slow' | 'crowded' | 'aborted';

/**
 * A body's sender: a `caller` is known by key or session before the read, a `stranger` (webhooks, the login form) is
 * not.
 */
export type Sender = 'caller' | 'stranger';

/** All bodies of the process in reading at one time, in bytes. */
const ROOM_BYTES = 16 * 1024 * 1024;
/** A further piece's cost besides its bytes: somebody may send them one by one. */
const PIECE_BYTES = 512;
/** Unfinished ones of either side: the request around a small body costs more than its bytes. */
const UNFINISHED = 500;

/** `unfinished`: how to end each incomplete body, oldest first. */
type Side = { taken: number; readonly unfinished: Set<() => void> };

/**
 * The common room of all bodies in reading: a flood of large ones cannot fill the memory. If it is full, the longest
 * one under way gives way: slow senders, from any number of addresses, keep out nobody faster. Half of it is always
 * there for callers and half for strangers; either side may use the other's spare part.
 */
export class ReadingRoom {
  readonly #sides: Readonly<Record<Sender, Side>> = {
    caller: { taken: 0, unfinished: new Set() },
    stranger: { taken: 0, unfinished: new Set() },
  };
  constructor(private readonly bytes = ROOM_BYTES) {}

  /** A room large enough for the largest body of the settings. */
  static forBodiesUpTo(bytes: number): ReadingRoom {
    return new ReadingRoom(Math.max(ROOM_BYTES, 2 * bytes));
  }

  /** False if there is no room, even if all before `giveWay` left. */
  take(sender: Sender, bytes: number, giveWay: () => void): boolean {
    const own = this.#sides[sender];
    const other = this.#sides[sender === 'caller' ? 'stranger' : 'caller'];
    if (bytes > this.bytes) return false;
    while (own.taken + other.taken + bytes > this.bytes) {
      const { unfinished } = own.taken + bytes > this.bytes / 2 ? own : other;
      const [oldest] = unfinished;
      if (oldest === undefined || oldest === giveWay) return false;
      oldest();
    }
    own.taken += bytes;
    return true;
  }

  /** More of this body is to come. `giveWay` has to give its bytes back. */
  stay(sender: Sender, giveWay: () => void): void {
    const { unfinished } = this.#sides[sender];
    unfinished.add(giveWay);
    const [oldest] = unfinished;
    if (unfinished.size > UNFINISHED) oldest?.();
  }

  give(sender: Sender, bytes: number, giveWay: () => void): void {
    this.#sides[sender].taken -= bytes;
    this.#sides[sender].unfinished.delete(giveWay);
  }
}

/** True if the head announces a body. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
}

/** Reports a too large body at once from its sender's announcement. */
export function announcesMore(req: IncomingMessage, limitBytes: number): boolean {
  const announced = req.headers['content-length'];
  return announced !== undefined && Number(announced) > limitBytes;
}

/**
 * Reads the body and calls `done` once. Ignores Content-Encoding: the signature covers the sent bytes. After anything
 * but a Buffer the rest of the body is still unread.
 */
export function readBody(
  req: IncomingMessage,
  limits: {
    readonly bytes: number;
    readonly timeoutMs: number;
    readonly room: ReadingRoom;
    readonly sender: Sender;
    /**
     * True: it may have to give way before its first byte. At the webhook endpoints this would cost every delivery its
     * place in the list.
     */
    readonly early?: boolean;
  },
  done: (result: ReadResult) => void,
): void {
  const { room, sender } = limits;
  const chunks: Buffer[] = [];
  let length = 0;
  let taken = 0;
  let over = false;
  const finish = (result: ReadResult) => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    room.give(sender, taken, giveWay);
    req.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
    if (!Buffer.isBuffer(result)) req.pause().on('error', () => undefined); // a late reset is no news
    chunks.length = 0; // the answering code may keep the request for a while, but not its bytes
    done(result);
  };
  const giveWay = () => finish('crowded');
  const onData = (chunk: Buffer) => {
    if (length + chunk.length > limits.bytes) return finish('too-large');
    const cost = chunk.length + (chunks.length === 0 ? 0 : PIECE_BYTES);
    if (!room.take(sender, cost, giveWay)) return finish('crowded');
    taken += cost;
    length += chunk.length;
    chunks.push(chunk);
    // Nearly every delivery is complete with its first chunk, and needs no entry.
    if (chunks.length === 1 && length !== Number(req.headers['content-length'])) room.stay(sender, giveWay);
  };
  const onEnd = () => {
    const [first] = chunks;
    finish(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length));
  };
  const onGone = () => finish('aborted');
  const timer = setTimeout(() => finish('slow'), limits.timeoutMs);
  if (limits.early === true) room.stay(sender, giveWay);
  req.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
}

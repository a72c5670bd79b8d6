// Reads the bytes of one request unchanged, with limits of size and time.
import { type IncomingMessage } from 'node:http';

/** The time for the arrival of a body. */
export const BODY_TIMEOUT_MS = 8_000;

export type ReadResult = Buffer | 'too-large' | 'slow' | 'crowded' | 'aborted';

/**
 * The sender of a body. Crossbill knows a `caller` by key or session before the read. It does not know a `stranger`
 * (webhooks, the login form).
 */
export type Sender = 'caller' | 'stranger';

/** The most bytes of all bodies being read at one time. */
const ROOM_BYTES = 16 * 1024 * 1024;
/**
 * Each further piece of a body counts this much in addition to its bytes. Without this, a body in many tiny pieces
 * would need far more memory than Crossbill counts.
 */
const PIECE_BYTES = 512;
/**
 * The most unfinished bodies of each kind of sender. A limit of bytes does not stop a flood of small bodies: each
 * request needs more memory than its body.
 */
const UNFINISHED = 500;

/**
 * The memory in use by one kind of sender. `unfinished`: one function for each incomplete body, the oldest body first.
 * A call of the function ends that body.
 */
type Side = { taken: number; readonly unfinished: Set<() => void> };

/**
 * The memory limit that all unfinished bodies share: a flood of large bodies cannot fill the process. At the limit
 * Crossbill ends the oldest unfinished body. So slow senders, from any number of addresses, never keep out faster
 * senders. One half is reserved for callers and one half for strangers. Callers may use the free part of the strangers'
 * half, and strangers may use the free part of the callers' half.
 */
export class ReadingRoom {
  readonly #sides: Readonly<Record<Sender, Side>> = {
    caller: { taken: 0, unfinished: new Set() },
    stranger: { taken: 0, unfinished: new Set() },
  };
  constructor(private readonly bytes = ROOM_BYTES) {}

  /** Makes a limit large enough for the largest body of the settings. */
  static forBodiesUpTo(bytes: number): ReadingRoom {
    return new ReadingRoom(Math.max(ROOM_BYTES, 2 * bytes));
  }

  /**
   * Reserves memory for a body. If memory is short, this ends older unfinished bodies. Returns false if the memory is
   * still too short.
   */
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

  /** Registers an unfinished body, and ends the oldest if there are too many. `giveWay` ends this body with `give`. */
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

/** True if the request announces a body over the limit: Crossbill can refuse it at once. */
export function announcesMore(req: IncomingMessage, limitBytes: number): boolean {
  const announced = req.headers['content-length'];
  return announced !== undefined && Number(announced) > limitBytes;
}

/**
 * Reads the body and calls `done` exactly one time. Ignores Content-Encoding: the signature covers the bytes as sent.
 * If the result is no Buffer, the rest of the body is still unread.
 */
export function readBody(
  req: IncomingMessage,
  limits: {
    readonly bytes: number;
    readonly timeoutMs: number;
    readonly room: ReadingRoom;
    readonly sender: Sender;
    /**
     * True: Crossbill may refuse this request to make room for others, even before the first byte of its body. The
     * webhook endpoints do not set this: each delivery would then need an entry in the list of unfinished bodies.
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
    if (!Buffer.isBuffer(result)) req.pause().on('error', () => undefined); // ignore a late reset
    chunks.length = 0; // the caller may keep the request for a while: free the bytes of the body now
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
    // Nearly every delivery is complete with its first chunk. Only longer bodies need an entry in the list of
    // unfinished bodies.
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

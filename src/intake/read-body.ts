// The bytes of one request as they came over the wire, with limits of size and time.
import { type IncomingMessage } from 'node:http';

/** How long a body may take to arrive. */
export const BODY_TIMEOUT_MS = 8_000;

export type ReadResult = Buffer | 'too-large' | 'slow' | 'crowded' | 'aborted';

/** Who sends a body: a `caller` is known by key or session before it is read, a `stranger` (webhooks, the login form) is not. */
export type Sender = 'caller' | 'stranger';

/** All bodies of the process that are being read at one time, in bytes. */
const ROOM_BYTES = 16 * 1024 * 1024;
/** What a further piece of a body takes beside its bytes: somebody may send them one by one. */
const PIECE_BYTES = 512;
/** Unfinished ones of either side: what holds a request costs more than the bytes of a small one. */
const UNFINISHED = 500;

/** `unfinished`: how to end each body of which more is to come, oldest first. */
type Side = { taken: number; readonly unfinished: Set<() => void> };

/**
 * The room that all bodies being read share, so that a flood of large ones cannot fill the memory. When it is full, the one that has
 * been on its way longest gives way: senders who take their time, from however many addresses, keep out nobody who does not. Half of
 * it is always there for callers and half for strangers; what one side does not need, the other may use.
 */
export class ReadingRoom {
  readonly #sides: Readonly<Record<Sender, Side>> = {
    caller: { taken: 0, unfinished: new Set() },
    stranger: { taken: 0, unfinished: new Set() },
  };
  constructor(private readonly bytes = ROOM_BYTES) {}

  /** A room in which the largest body that the settings allow fits. */
  static forBodiesUpTo(bytes: number): ReadingRoom {
    return new ReadingRoom(Math.max(ROOM_BYTES, 2 * bytes));
  }

  /** False when there is no room, even if all who came before `giveWay` left. */
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

/** True when the head says that a body follows. */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
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
  limits: {
    readonly bytes: number;
    readonly timeoutMs: number;
    readonly room: ReadingRoom;
    readonly sender: Sender;
    /** True: it may be told to give way before its first byte. At the doors that would cost every delivery its place in the list. */
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
    chunks.length = 0; // whoever answers may keep the request for a while, but not what it sent
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
    // Nearly every delivery is complete with its first chunk, and has no need to be found.
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

// The fixed answers of the doors. Their bytes are made once.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { hasBody } from './read-body.js';

export type Answer = {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
};

function answer(status: number, body: object, headers: Record<string, string> = {}): Answer {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    status,
    body: bytes,
    headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...headers },
  };
}

/** What senders are asked to wait; they keep their own schedules, and a proxy may look at it. */
const retry = { 'retry-after': '5' };

/** 200 and never 201 or 204: Document 3 names no other acknowledgement. */
export const received = answer(200, { received: true });

export const refusals = {
  signatureMissing: answer(400, {
    code: 'signature_missing',
    message: 'The signature header of this door is missing.',
  }),
  signatureMalformed: answer(400, {
    code: 'signature_malformed',
    message: 'The signature header is repeated or not of the form t=...,v1=....',
  }),
  tooLarge: answer(413, { code: 'body_too_large', message: 'The body is over the limit.' }),
  // Document 3 ends the delivery at any 4xx, such as the usual 417 and 431; with a 503 there is time to find out who adds such headers.
  expectation: answer(503, { code: 'unknown_expectation', message: 'Expect asks for what is not known here.' }, retry),
  headers: answer(503, { code: 'headers_too_large', message: 'The headers are over the limit of 16 KB.' }, retry),
  unreadable: answer(400, { code: 'bad_request', message: 'This is no HTTP request.' }),
  method: answer(405, { code: 'method_not_allowed', message: 'This door takes POST.' }, { allow: 'POST' }),
  // Not a 4xx: to the MoR that would end the delivery, and nothing shows that the sender is at fault.
  slow: answer(503, { code: 'body_too_slow', message: 'The request did not arrive in time.' }, retry),
  stale: answer(
    503,
    { code: 'timestamp_outside_tolerance', message: 'The timestamp is too far from our clock.' },
    retry,
  ),
  notStored: answer(503, { code: 'not_stored', message: 'The event could not be stored; send it again.' }, retry),
  notOpen: answer(503, { code: 'unavailable', message: 'Starting or stopping; send it again.' }, retry),
} as const;

/** The answer to a MAC that no secret makes, with the status the operator chose. */
export function mismatch(status: number): Answer {
  const body = { code: 'signature_mismatch', message: 'The signature matches no secret of this door.' };
  return answer(status, body, status >= 500 ? retry : {});
}

/** Sends an answer to a request whose body was read to its end. */
export function send(res: ServerResponse, { status, headers, body }: Answer): void {
  if (res.destroyed || res.headersSent) return;
  res.writeHead(status, headers);
  res.end(body);
}

/** The same where there is no request to answer, since its head could not be read: written onto the socket, the last on it. */
export function sendRaw(socket: Duplex, { status, headers, body }: Answer): void {
  if (!socket.writable) return; // it was answered already: what is still coming is only thrown away
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}connection: close\r\n\r\n${body.toString()}`,
  );
  // As below: closed at once, it would be reset under a sender who is still writing.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 4 * 1024 * 1024;
/** Beyond so many it is a flood, and what it still sends is not worth the memory of reading it. */
const LINGERING_AT_ONCE = 64;
let lingering = 0;

/**
 * Sends an answer before the body was read to its end, and ends the connection. Closing it at once would reset it under a sender
 * who is still writing, and the answer would be lost: so the rest is thrown away for a short while first.
 */
export function sendAndClose(req: IncomingMessage, res: ServerResponse, { status, headers, body }: Answer): void {
  if (res.destroyed || res.headersSent) return;
  closeUnlessRead(req, res, () => false);
  res.writeHead(status, { ...headers, connection: 'close' });
  res.end(body);
}

/**
 * The same for an answer that somebody else writes: one that goes out before the body was read says `Connection: close`, and ends the
 * connection. One that goes out later keeps it as `mayKeep` says then.
 */
export function closeUnlessRead(req: IncomingMessage, res: ServerResponse, mayKeep: () => boolean): void {
  if (req.complete || !hasBody(req)) return;
  const { socket } = req;
  const keep = res.shouldKeepAlive;
  res.shouldKeepAlive = false;
  let read = false;
  req.once('end', () => {
    read = true;
    res.shouldKeepAlive = keep && mayKeep();
  });
  const destroySoon = socket.destroySoon.bind(socket);
  // Node calls it when the last answer is written; it resets whoever is still sending.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (read) destroySoon();
    else throwAway(req);
  };
}

/** Takes what is still coming, for a short while, and then ends the connection. */
function throwAway(req: IncomingMessage): void {
  const { socket } = req;
  if (lingering >= LINGERING_AT_ONCE || socket.destroyed) {
    socket.destroy();
    return;
  }
  lingering++;
  const until = socket.bytesRead + LINGER_BYTES;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => {
    clearTimeout(timer);
    lingering--;
  });
  socket.end();
  req.on('error', () => undefined);
  req.on('end', () => socket.destroySoon());
  req.on('data', () => {
    if (socket.bytesRead > until) socket.destroy();
  });
  req.resume();
}

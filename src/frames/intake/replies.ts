// The replies of the webhook endpoints.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { type Duplex } from 'node:stream';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { type Refusal } from '../../shared/domain/refusal.js';
import { type EndpointOutcome, isTaken } from './options.js';
import { hasBody } from './read-body.js';

export type HttpReply = {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
};

function sendReply(status: number, body: object, headers: Record<string, string> = {}): HttpReply {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    status,
    body: bytes,
    headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...headers },
  };
}

/** The status is always 200, never 201 or 204: Document 3 names no other acknowledgement. */
export const received = sendReply(200, { received: true });

const MESSAGES: Readonly<Record<Refusal, string>> = {
  signature_missing: 'The signature header of this endpoint is missing.',
  signature_malformed: 'The signature header is repeated, or is not of the form t=...,v1=....',
  signature_mismatch: 'The signature matches no secret of this endpoint.',
  timestamp_out_of_tolerance: 'The timestamp of the signature is too far from our clock.',
  too_large: 'The body is over the limit.',
  headers_too_large: 'The headers are over the limit of 16 KB.',
  body_too_slow: 'The request did not arrive in time.',
  unknown_expectation: 'The Expect header asks for something unknown.',
  method_not_allowed: 'This endpoint takes POST only.',
  bad_request: 'The request is not valid HTTP.',
  crowded: 'Too many bodies arrive at once.',
  database: 'Crossbill could not store the event. Send it again.',
  stopping: 'Crossbill starts or stops. Send the event again.',
};

/**
 * The statuses of refusals to Stripe. Each status names the cause of the refusal. Stripe repeats a delivery for three
 * days after any status except a 2xx, so no status ends the delivery.
 */
const AT_STRIPE: Partial<Record<Refusal, number>> = {
  signature_missing: 400,
  signature_malformed: 400,
  signature_mismatch: 401,
  too_large: 413,
  method_not_allowed: 405,
};

/** The MoR never repeats a delivery after a 4xx (Documents 2 and 3), so at its endpoints every refusal is a 503. */
export function statusOf(endpoint: InboxSource | null, outcome: EndpointOutcome): number {
  if (isTaken(outcome)) return 200;
  if (outcome === 'aborted') return 499;
  return (endpoint === 'stripe' ? AT_STRIPE[outcome] : undefined) ?? 503;
}

/** The reply to a refused delivery. `endpoint` null: the endpoint may be the MoR's, so the status is 503. */
export function refusal(endpoint: InboxSource | null, reason: Refusal): HttpReply {
  const status = statusOf(endpoint, reason);
  return sendReply(
    status,
    { code: reason, message: MESSAGES[reason] },
    {
      // Stripe and the MoR keep their own schedules, but a proxy may use this header.
      ...(status === 503 ? { 'retry-after': '5' } : {}),
      ...(reason === 'method_not_allowed' ? { allow: 'POST' } : {}),
    },
  );
}

/** Sends a reply to a fully read request. */
export function send(res: ServerResponse, { status, headers, body }: HttpReply): void {
  if (res.destroyed || res.headersSent) return;
  res.writeHead(status, headers);
  res.end(body);
}

/** Replies to a request with an unreadable head: writes the reply onto the socket and ends the connection. */
export function sendRaw(socket: Duplex, { status, headers, body }: HttpReply): void {
  if (!socket.writable) return; // the request already has its reply: drop the rest
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}connection: close\r\n\r\n${body.toString()}`,
  );
  // Closing at once would reset the connection while the sender is still writing, and the sender would lose the reply.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

const LINGER_MS = 1_000;
const LINGER_BYTES = 4 * 1024 * 1024;
/**
 * The most refused requests at the same time for which Crossbill still reads and drops the rest of the body. Beyond
 * this number a flood is under way, and Crossbill closes each further connection at once.
 */
const LINGERING_AT_ONCE = 64;
let lingering = 0;

/**
 * Replies before the end of the body, and ends the connection. Closing at once would reset the connection while the
 * sender is still writing, and the reply would get lost. So Crossbill reads and drops the rest of the body for a short
 * while.
 */
export function sendAndClose(req: IncomingMessage, res: ServerResponse, { status, headers, body }: HttpReply): void {
  if (res.destroyed || res.headersSent) return;
  closeUnlessRead(req, res, () => false);
  res.writeHead(status, { ...headers, connection: 'close' });
  res.end(body);
}

/**
 * Prepares a request for a reply before the end of its body. Such a reply says `Connection: close`. Crossbill then
 * reads and drops the rest of the body for a short while, and ends the connection. If the body ends before the reply,
 * `mayKeep` decides whether the connection stays open.
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
  // Node calls `destroySoon` after the last reply. Node's own version would reset the connection while the sender is
  // still writing.
  socket.destroySoon = () => {
    socket.destroySoon = destroySoon;
    if (read) destroySoon();
    else throwAway(req);
  };
}

/** Reads and drops the rest of the body for a short while, then ends the connection. */
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

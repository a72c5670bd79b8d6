// Reads the bytes of a request's body after Crossbill knows the sender. An unreadable body gives an error reply.
import { type Request } from 'express';
import {
  announcesMore,
  BODY_TIMEOUT_MS,
  hasBody,
  readBody,
  type ReadingRoom,
  type Sender,
} from '../../intake/read-body.js';
import { Problem } from './problem.js';

/** The largest body of the API. Webhook bodies have their own limit. */
export const BODY_LIMIT_BYTES = 256 * 1024;

const RETRY_SEC = 5;

/**
 * Returns the body; empty if the request has none. Rejects with 413 over `limitBytes`, with 415 for a compressed body
 * (Crossbill decompresses nothing), with 503 if the body takes too long or too many bodies arrive at once, and with 400
 * if the body breaks off.
 */
export function bodyOf(
  req: Request,
  room: ReadingRoom,
  sender: Sender,
  limitBytes = BODY_LIMIT_BYTES,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (!hasBody(req)) return resolve(Buffer.alloc(0));
    if ((req.headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
      return reject(new Problem(415, 'unsupported_media_type', 'The body must not be compressed.'));
    }
    if (announcesMore(req, limitBytes)) return reject(refusals['too-large']());
    if (req.destroyed) return reject(refusals.aborted());
    readBody(req, { bytes: limitBytes, timeoutMs: BODY_TIMEOUT_MS, room, sender, early: true }, (result) => {
      if (Buffer.isBuffer(result)) resolve(result);
      else reject(refusals[result]());
    });
  });
}

const refusals = {
  'too-large': () => new Problem(413, 'payload_too_large', 'The body is too large.'),
  slow: () => new Problem(503, 'body_too_slow', 'The body did not arrive in time: send it again.', [], RETRY_SEC),
  crowded: () => new Problem(503, 'too_busy', 'Too many bodies are arriving at once: send it again.', [], RETRY_SEC),
  aborted: () => new Problem(400, 'invalid_request', 'The body ended too early: send it again.'),
};

// Handles thousands of callers without a key: refuses them before any other work on their requests.
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Denials } from './denials.js';
import { type KeyRing } from './key-ring.js';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

const BODY = Buffer.from(
  JSON.stringify({
    code: 'unauthorized',
    message: 'Send a valid API key: Authorization: Bearer <key>.',
    errors: [],
  }),
);
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': BODY.length,
  'cache-control': 'no-store',
};

/**
 * Wraps the handler `next`, which costs about 30 KB and a millisecond for each request: too much for thousands of
 * unknown callers at once. If this minute's rows in the audit log are used up, the wrapper itself replies 401 to a
 * request below `/v1` without a valid key, and counts the refusal.
 */
export function refusingStrangers(keys: KeyRing, denials: Denials, next: Handler): Handler {
  return (req, res) => {
    const known = (): boolean => {
      const given = req.headersDistinct['authorization'] ?? [];
      return given.length === 1 && keys.fromHeader(given[0]) !== null;
    };
    if (!/^\/v1(\/|$)/i.test(req.url ?? '') || known() || !denials.full(req.socket.remoteAddress ?? '')) {
      next(req, res);
      return;
    }
    res.writeHead(401, HEADERS);
    res.end(BODY);
  };
}

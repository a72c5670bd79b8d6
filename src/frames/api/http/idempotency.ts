// Names each creating POST, so Crossbill recognises a repeated request. The name consists of API key, method, path and
// Idempotency-Key.
import { createHash } from 'node:crypto';
import { type Request } from 'express';
import { type NamedRequest } from '../../../shared/domain/request-name.js';
import { type Caller } from '../access/caller.js';
import { canonicalJson } from './json-body.js';
import { Problem, invalid } from './problem.js';

const HEADER = 'Idempotency-Key';

/** Reads the Idempotency-Key. Null: there is no key. Throws 400 for several keys, a blank key or a too long key. */
export function idempotencyKey(req: Request): string | null {
  const values = req.headersDistinct['idempotency-key'];
  if (values === undefined) return null;
  const [key] = values;
  if (values.length > 1 || key === undefined || !/^[\x20-\x7e]{1,255}$/.test(key) || key.trim() === '') {
    throw invalid(HEADER, 'must be one text of 1 to 255 printable ASCII characters');
  }
  return key;
}

export function requiredIdempotencyKey(req: Request): string {
  const key = idempotencyKey(req);
  if (key === null)
    throw invalid(HEADER, 'is required here: send a new key for a new request, the same key for a repeat');
  return key;
}

/**
 * Returns a part of the name of a request for a refund or a returned debit: API key, Idempotency-Key and the body's
 * hash. The service adds the path, always with Crossbill's id of the payment: a repeat with the MoR's id (`pay_…`) in its
 * URL gets the same name.
 */
export function paymentRequestName(caller: Caller, key: string, body: unknown): Omit<NamedRequest, 'method' | 'path'> {
  return { apiKey: caller.name, idempotencyKey: key, bodySha256: bodyHash(body) };
}

/**
 * Returns the name of a request. `path` is the path of the route, not the path in the URL. A URL with other letter case
 * or a final slash therefore gives the same name.
 */
export function requestName(caller: Caller, path: string, key: string, body: unknown): NamedRequest {
  return { ...paymentRequestName(caller, key, body), method: 'POST', path };
}

function bodyHash(body: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(body)).digest();
}

/** The error for a key that another request already used. */
export function idempotencyConflict(): Problem {
  return new Problem(409, 'idempotency_conflict', 'Another request used this Idempotency-Key: use a new key.');
}

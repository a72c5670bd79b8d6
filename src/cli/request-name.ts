// The name of a person's request at the command line, by which the same one is known when it comes again.
import { createHash } from 'node:crypto';
import { type NamedRequest } from '../domain/request-name.js';

/** `asked`: what was asked for, as text. Its path follows from what it is about. */
export function cliRequest(key: string, asked: string): Omit<NamedRequest, 'method' | 'path'> {
  return { apiKey: 'cli', idempotencyKey: key, bodySha256: createHash('sha256').update(asked).digest() };
}

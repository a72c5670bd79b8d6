// Files behind expiring links, and the common answer "not ready yet" of their endpoints (Document 2).
import { Fields, type Parse, parseText } from './read.js';
import { type MorAnswer } from './transport.js';

/** A holder of the link has the file for the link's life: hand it on, do not log or store it. */
export type FileLink = {
  readonly fileName: string | null;
  readonly url: string;
  /** Null when the answer did not say. */
  readonly expiresAt: Date | null;
};

export function parseFileLink(value: unknown, path: string): FileLink {
  const fields = new Fields(value, path);
  return {
    fileName: fields.textOrNull('fileName'),
    url: fields.must('url', parseText),
    expiresAt: fields.timeOrNull('expiresAt'),
  };
}

/** Made in the background: ready, or pending with the wait the MoR asks for (null: it named none). */
export type WhenReady<T> =
  { readonly state: 'ready'; readonly value: T } | { readonly state: 'pending'; readonly retryAfterMs: number | null };

/** 202 means "in work"; any other success carries the thing. */
export function parseWhenReady<T>(answer: MorAnswer, parse: Parse<T>): WhenReady<T> {
  if (answer.status !== 202) return { state: 'ready', value: parse(answer.body, '') };
  return { state: 'pending', retryAfterMs: answer.retryAfterMs };
}

// Files behind links that expire, and the answer "not ready yet" that their endpoints share (Document 2).
import { Fields, type Parse, parseText } from './read.js';
import { type MorAnswer } from './transport.js';

/** Whoever has the link has the file for as long as it lives: hand it on, do not log or store it. */
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

/** 202 means "being made"; any other success carries the thing. */
export function parseWhenReady<T>(answer: MorAnswer, parse: Parse<T>): WhenReady<T> {
  if (answer.status !== 202) return { state: 'ready', value: parse(answer.body, '') };
  return { state: 'pending', retryAfterMs: answer.retryAfterMs };
}

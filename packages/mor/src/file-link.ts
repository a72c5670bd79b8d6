// Files behind expiring links, and the common answer "not ready yet" of their endpoints (Document 2).
import { Fields, type Parse, parseText } from './read.js';
import { type MorReply } from './transport.js';

/** Whoever has the link can read the file until the link expires. Pass it on, and do not log or store it. */
export type FileLink = {
  readonly fileName: string | null;
  readonly url: string;
  /** When the link expires. Null: the reply has no time. */
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

/**
 * The MoR makes the file in the background. `retryAfterMs`: the wait the MoR asks for, in milliseconds. Null: the MoR
 * names no wait.
 */
export type WhenReady<T> =
  { readonly state: 'ready'; readonly value: T } | { readonly state: 'pending'; readonly retryAfterMs: number | null };

/** 202 means "not ready yet". Any other success contains the result. */
export function parseWhenReady<T>(reply: MorReply, parse: Parse<T>): WhenReady<T> {
  if (reply.status !== 202) return { state: 'ready', value: parse(reply.body, '') };
  return { state: 'pending', retryAfterMs: reply.retryAfterMs };
}

// Parses the bytes of a delivery to a JSON object, or returns the reason of a refusal. Checks encoding, depth and
// repeated keys.
import { isUtf8 } from 'node:buffer';
import { isObject, type JsonObject } from '@crossbill/mor/read.js';

export type BodyResult =
  { readonly ok: true; readonly value: JsonObject } | { readonly ok: false; readonly reason: string };

/** Real events nest about ten levels. A much deeper body is an attack on code walking the tree. */
export const MAX_DEPTH = 100;

// Parsers disagree about a repeated key: some take the first value, others the last. So an event with a repeated key is
// ambiguous. Crossbill checks the keys of the envelope (level 1), of `data` (level 2), and of each object in `data`,
// such as `data.object` (level 3). All facts about money stand in these levels.
export const KEY_DEPTH = 3;

/**
 * Parses the body to a JSON object. Never throws. The time is linear in the body's length. Refuses a byte order mark,
 * UTF-16, compressed bytes and invalid UTF-8. The reason never quotes the body.
 */
export function parseBody(body: Buffer): BodyResult {
  if (body.length === 0) return refuse('the body is empty');
  if (!isUtf8(body)) return refuse('the body is not UTF-8');
  const text = body.toString('utf8');
  const structure = scan(text);
  if (structure.tooDeep) return refuse(`the body nests deeper than ${MAX_DEPTH} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('the body is not JSON');
  }
  if (!isObject(value)) return refuse('the body is not a JSON object');
  if (structure.repeatsKey) return refuse('a key appears twice');
  return { ok: true, value };
}

function refuse(reason: string): BodyResult {
  return { ok: false, reason };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Looks for deep nesting and repeated keys. The result counts only if JSON.parse accepts the same text. */
function scan(text: string): { tooDeep: boolean; repeatsKey: boolean } {
  const keysAt: (Set<string> | null)[] = [];
  let depth = 0;
  let repeatsKey = false;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        if (depth > MAX_DEPTH) return { tooDeep: true, repeatsKey };
        keysAt[depth] = null;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      case QUOTE: {
        const start = i + 1;
        i = endOfString(text, start);
        if (depth > KEY_DEPTH || depth < 1 || !isKey(text, i)) break;
        const key = keyText(text.slice(start, i));
        const keys = keysAt[depth] ?? (keysAt[depth] = new Set());
        if (keys.has(key)) repeatsKey = true;
        keys.add(key);
        break;
      }
      default:
        break;
    }
  }
  return { tooDeep: false, repeatsKey };
}

/** The index of the closing quote of the string from `start` on. The end of the text: it does not close. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start);
  while (at !== -1 && isEscaped(text, at, start)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

/** True if an odd number of backslashes stands before this quote, within the string from `start` on. */
function isEscaped(text: string, quote: number, start: number): boolean {
  let before = quote;
  while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (quote - before) % 2 === 1;
}

/** True for a key: in JSON a colon follows only a key. */
function isKey(text: string, closingQuote: number): boolean {
  for (let i = closingQuote + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code === COLON;
  }
  return false;
}

/** The key with its escapes resolved: `\u0069d` and `id` are the same key. */
function keyText(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw; // not JSON: JSON.parse of the whole text reports this
  }
}

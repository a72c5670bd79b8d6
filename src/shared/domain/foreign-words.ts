// Words of a person, a bank, Stripe or the MoR, as opposed to codes and ids. Crossbill stores words only in columns
// marked with `.said()`: an erasure removes them, and a card number in them never shows.
import { maskCards } from '../masks/card-numbers.js';

/** An erasure writes this text in place of a customer's personal data. */
export const ERASED = 'erased';

const CODE = /^[A-Za-z0-9][\w.:/+-]{0,63}$/;

/** True for a word of a fixed vocabulary, such as `card_declined`: short and without a blank. */
export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** What an erasure leaves of a code: the code itself, but no sentence that somebody sent in its place. */
export function keepCode(text: string): string {
  return isCode(text) ? text : ERASED;
}

/** The members of a fact or of a detail with words. */
const WORDS: ReadonlySet<string> = new Set([
  'merchantReference',
  'message',
  'note',
  'reviewerNote',
  'said',
  'unread',
  'url',
]);
/** The members with a code, unless the sender put a sentence there. */
const CODES: ReadonlySet<string> = new Set(['afterOutcome', 'code', 'error', 'error_code', 'outcome', 'reason', 'why']);

type Change = { readonly words: (text: string) => string; readonly codes: (text: string) => string };

function changed(value: unknown, change: Change, name = ''): unknown {
  if (typeof value === 'string')
    return WORDS.has(name) ? change.words(value) : CODES.has(name) ? change.codes(value) : value;
  if (Array.isArray(value)) return value.map((one) => changed(one, change));
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([of, inner]) => [of, changed(inner, change, of)]));
}

/** A copy of a fact or a detail without words. */
export function withoutWords(value: unknown): unknown {
  return changed(value, { words: () => ERASED, codes: keepCode });
}

/** A copy of a text, a fact or a detail with masked card numbers in its words. */
export function shownWords(value: unknown): unknown {
  return typeof value === 'string' ? maskCards(value) : changed(value, { words: maskCards, codes: maskCards });
}

// Masks a body that is not JSON, to show it to people. The structure stays; each word that may be a name or a secret
// becomes `[masked]`.
import { maskCards } from './card-numbers.js';
import { isIdentifierName } from './names.js';

const SHOWN = 2_048;
const MASK = '[masked]';

// The parts of a text that may need a mask: quoted text, even without its closing quote; a run of digits; a bare word.
const TOKENS = /"(?:[^"\\]|\\.)*(?:"|$)(\s*:)?|\d[\d.,-]*|[\p{L}\p{M}_@][\p{L}\p{M}\p{N}_@.'-]*/gu;
/**
 * Words without a mask, because an operator needs them: ids (`in_1A…`), types (`invoice.created`), times, and short
 * numbers.
 */
const PLAIN =
  /^(?:[a-z]{2,12}_[A-Za-z0-9]{4,60}|[a-z_]{1,40}(?:\.[a-z_]{1,40}){1,3}|\d{4}-\d\d-\d\dT[\d:.Z+-]+|\d{1,11})$/;
const SECRET = /secret|token|key|whsec|^(?:sk|rk|pk)_/i;
const IDENTIFIED = /^[\p{L}\p{N}_.:/-]{1,100}$/u;
const LITERALS = new Set(['true', 'false', 'null', 'masked']);
const PAIR = /("[A-Za-z_]{1,40}"\s*:\s*"[^"\\]*")/;

/** Masks a body and returns its first 2048 characters. */
export function maskedText(bytes: Buffer): string {
  if (bytes.length === 0) return '(empty)';
  // The mask comes before the cut: half a card number has no check digit.
  const text = withoutCards(bytes.subarray(0, SHOWN * 4).toString('utf8')).slice(0, SHOWN);
  let name = '';
  const shown = text.replace(TOKENS, (token: string, colon: string | undefined) => {
    const of = name;
    name = '';
    if (!token.startsWith('"')) return LITERALS.has(token) || isPlain(token) ? token : MASK;
    const inner = token.slice(1).replace(/"?\s*:?$/, '');
    // The name of a JSON field stays visible: letters and `_` before a colon.
    if (colon !== undefined && /^[A-Za-z_]{1,40}$/.test(inner)) {
      name = inner;
      return token;
    }
    const isShown = isPlain(inner) || (isIdentifierName(of) && IDENTIFIED.test(inner) && !SECRET.test(inner));
    return `"${isShown ? inner : MASK}"${colon ?? ''}`;
  });
  return bytes.length > SHOWN ? `${shown}\n… (${bytes.length} bytes in all)` : shown;
}

/** Masks card numbers outside ids: their groups of digits alone look like plain short numbers. */
function withoutCards(text: string): string {
  const isId = (part: string): boolean => isIdentifierName(/^"(\w+)"/.exec(part)?.[1] ?? '');
  return text
    .split(PAIR)
    .map((part, n) => (n % 2 === 1 && isId(part) ? part : maskCards(part)))
    .join('');
}

function isPlain(text: string): boolean {
  return PLAIN.test(text) && !SECRET.test(text);
}

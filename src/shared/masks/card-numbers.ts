// Masks card numbers in text from a person, a bank, Stripe or the MoR. An id stays as it is, even if it looks like a
// card number by chance: the caller knows which values are ids.
import { textOf } from '@crossbill/mor/read.js';

const MASK = '[masked]';

/** Full-width digits (Japanese keyboards) and Arabic ones. The last four bits of each are its value. */
const FOREIGN_DIGIT = /[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]/g;
/** The signs between two groups of digits: blanks of any kind, dashes, dots, slashes, line breaks. No letter. */
const GAP = '[^\\p{L}\\p{N}]{0,5}';
/** Twelve digits or more. They may contain several numbers in a row: an order number, cards, a date, a code. */
const RUN = new RegExp(`\\d(?:${GAP}\\d){11,}`, 'gu');
/** The end of a card's validity and its security code, behind the number. */
const AFTER = new RegExp(
  `^(?:${GAP}(?:exp[a-z]*${GAP})?(?:0?[1-9]|1[0-2])${GAP}(?:20)?\\d\\d(?!\\d))?(?:${GAP}(?:cv[cv]2?${GAP})?\\d{3,4}(?!\\d))?`,
  'iu',
);

/** The shortest and the longest card number (ISO/IEC 7812). */
const SHORTEST = 12;
const LONGEST = 19;
/** Only Maestro has numbers of 12 digits. */
const MAESTRO = /^(?:5[06-9]|6)/;
/**
 * The first digits and the length of each network's numbers: Visa, Mastercard, Amex, Diners, JCB, Discover, UnionPay and
 * Maestro, Mir. A window within a longer number must look like this: otherwise chance would mask every tenth window.
 */
const NETWORKS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[0-9]\d{14}|2(?:2[0-9]|[3-6]\d|7[0-2])\d{13}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35\d{14}|6\d{15,18})$/;

/**
 * Masks every card number: each window of 12 to 19 digits with a correct check digit, whatever stands between, before
 * or behind the digits. Also masks the validity and the security code behind a number.
 */
export function maskCards(text: string): string {
  let shown = '';
  let from = 0;
  const ascii = text.replace(FOREIGN_DIGIT, (sign) => String(sign.charCodeAt(0) & 0xf));
  for (const run of ascii.matchAll(RUN)) {
    for (const [start, end] of cardsIn(run[0])) {
      const [at, behind] = [run.index + start, run.index + end];
      // The next card may begin within what looks like the security code of this one.
      if (at >= from) shown += text.slice(from, at) + MASK;
      from = Math.max(from, behind + (AFTER.exec(ascii.slice(behind, behind + 40))?.[0].length ?? 0));
    }
  }
  return shown + text.slice(from);
}

type Place = readonly [start: number, end: number];

/**
 * The places of card numbers in a run of digits, in order: each window in the form of a network, and each window of
 * whole groups of digits. A window of no network is left out where it overlaps a card of whole groups: by chance it has
 * a correct check digit, and it would hide the order number too.
 */
function cardsIn(run: string): readonly Place[] {
  const at = [...run.matchAll(/\d/g)].map(({ index }) => index);
  const digits = at.map((index) => run[index]).join('');
  const [cards, whole, others]: [Place[], Place[], Place[]] = [[], [], []];
  for (let first = 0; first + SHORTEST <= digits.length; first++) {
    for (let count = SHORTEST; count <= LONGEST && first + count <= digits.length; count++) {
      const window = digits.slice(first, first + count);
      if (!hasCheckDigit(window)) continue;
      const [start, end] = [at[first] ?? 0, (at[first + count - 1] ?? 0) + 1];
      const isWhole = at[first - 1] !== start - 1 && at[first + count] !== end;
      if (NETWORKS.test(window)) (isWhole ? whole : cards).push([start, end]);
      else if (isWhole && (count > SHORTEST || MAESTRO.test(window))) others.push([start, end]);
    }
  }
  const apart = others.filter(([start, end]) => whole.every((card) => end <= card[0] || card[1] <= start));
  return joined([...cards, ...whole, ...apart]);
}

/** Joins overlapping places. */
function joined(places: readonly Place[]): readonly Place[] {
  return places
    .toSorted(([a], [b]) => a - b)
    .reduce<readonly Place[]>((all, [start, end]) => {
      const last = all.at(-1);
      if (last === undefined || last[1] <= start) return [...all, [start, end]];
      return [...all.slice(0, -1), [last[0], Math.max(last[1], end)]];
    }, []);
}

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/**
 * The text from a person or a bank, with masked card numbers. Null: the value is no text. The inbox keeps the original
 * bytes.
 */
export function freeText(value: unknown): string | null {
  const text = textOf(value);
  return text === null ? null : maskCards(text);
}

// Any character of Unicode, like fast-check's `unit: 'binary'`. fast-check needs a second to list all characters before
// its first text; this file needs no list.
import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

/**
 * For `fc.string({ unit: anyCharacter })`. The second function maps a character back to its number, so fast-check can
 * insert texts such as `__proto__` and shrink texts.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(LAST - SURROGATES).map(
  (n) => String.fromCodePoint(n < SURROGATES_FROM ? n : n + SURROGATES),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
    const isOne = point !== undefined && String.fromCodePoint(point) === character;
    const isSurrogate = isOne && point >= SURROGATES_FROM && point < SURROGATES_FROM + SURROGATES;
    if (!isOne || isSurrogate) throw new Error('not one character');
    return point < SURROGATES_FROM ? point : point - SURROGATES;
  },
);

// Any character of Unicode, as fast-check's `unit: 'binary'` gives them; fast-check takes a second to list them all
// before its first text.
import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const LAST = 0x10ffff;

/**
 * For `fc.string({ unit: anyCharacter })`. Has the way back too: fast-check can put in texts such as `__proto__` and
 * shrink texts.
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

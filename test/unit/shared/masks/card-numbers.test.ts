// Card numbers in text, however people, banks and programs write them.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { maskCards } from '../../../../src/shared/masks/card-numbers.js';
import { maskedText } from '../../../../src/shared/masks/broken-body.js';
import { masked, rawBody } from '../../../../src/shared/masks/event-body.js';

/** Test numbers of the networks' own documents: 13 to 19 digits. */
const CARDS = [
  '4242424242424242',
  '4000056655665556',
  '4222222222222',
  '4000000000000000006',
  '5555555555554444',
  '2223003122003222',
  '5200828282828210',
  '378282246310005',
  '371449635398431',
  '30569309025904',
  '38520000023237',
  '6011111111111117',
  '3566002020360505',
  '6205500000000000004',
  '6759649826438453',
] as const;
const SEPARATORS = [
  '',
  ' ',
  '-',
  '\u00a0',
  '\u202f',
  '\u2009',
  '–',
  '—',
  '\u2011',
  '.',
  '/',
  '  ',
  ' - ',
  '\t',
  '\n',
  '*',
];

const card = fc.constantFrom(...CARDS);
/** A number of no known network, with a correct check digit. */
const unknownCard = fc.stringMatching(/^[1-9]\d{11,17}$/).map((digits) => {
  const check = [...'0123456789'].find((last) => hasCheckDigit(digits + last));
  return digits + (check ?? '');
});
const separator = fc.constantFrom(...SEPARATORS);
/** The card's digits in groups of any lengths, each followed by a separator. */
const written = (number: string) =>
  fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), separator), { minLength: 19, maxLength: 19 }).map((groups) => {
    let [remaining, text] = [number, ''];
    for (const [count, between] of groups) {
      text += remaining === '' ? '' : remaining.slice(0, count) + (remaining.length > count ? between : '');
      remaining = remaining.slice(count);
    }
    return text;
  });
const prefix = fc.oneof(
  fc.constantFrom('', 'Card ', 'order 10042 ', 'INV-2026-0007: ', '№ 7 – ', '2026-11-20 10:00 ', 'order 100420001 / '),
  fc.stringMatching(/^[0-9]{1,12}$/).chain((order) => separator.map((between) => order + between)),
);
const suffix = fc.constantFrom(
  '',
  '.',
  ' declined',
  ' 12/29 123',
  '–12/2029 1234',
  ' exp 03-31 cvc 987',
  ' 10042',
  ', 3 times',
);

function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, sign, at) => {
    const digit = Number(sign) * (at % 2 === 0 ? 1 : 2);
    return total + (digit > 9 ? digit - 9 : digit);
  }, 0);
  return sum % 10 === 0;
}

/** Half of the card's digits in a row would be too much. */
function showsCard(text: string, number: string): boolean {
  const digits = text.replace(/\D/g, '');
  const half = Math.ceil(number.length / 2);
  return Array.from({ length: number.length - half + 1 }, (_, at) => number.slice(at, at + half)).some((part) =>
    digits.includes(part),
  );
}

it('no card number is legible after the mask, whatever stands before, between and behind its digits', () => {
  fc.assert(
    fc.property(
      card.chain((number) => fc.tuple(fc.constant(number), prefix, written(number), suffix)),
      ([number, before, text, behind]) => {
        fc.pre(!showsCard(before, number) && !showsCard(behind, number));
        expect(showsCard(maskCards(before + text + behind), number)).toBe(false);
      },
    ),
    { numRuns: 2_000 },
  );
});

it.each([
  ['full-width', 0xff10],
  ['Arabic', 0x0660],
  ['Persian', 0x06f0],
])('a card number in %s digits is masked, with its validity and its code', (_, zero) => {
  const text = 'カード 4242 4242 4242 4242 12/29 123 ok';
  const typed = text.replace(/\d/g, (digit) => String.fromCharCode(zero + Number(digit)));
  expect(maskCards(typed)).toBe('カード [masked] ok');
});

it('a number with a correct check digit is masked behind an order number, even if no network is known for it', () => {
  fc.assert(
    fc.property(
      unknownCard.chain((number) => fc.tuple(fc.constant(number), fc.stringMatching(/^[0-9]{0,12}$/), suffix)),
      ([number, order, behind]) => {
        expect(maskCards(`${order} ${number}${behind}`)).not.toContain(number);
      },
    ),
  );
});

it('of two cards in a row, neither is legible after the mask', () => {
  fc.assert(
    fc.property(card, separator, card, (one, between, other) => {
      const text = maskCards(`of ${one}${between}${other} declined`);
      expect(showsCard(text, one)).toBe(false);
      expect(showsCard(text, other)).toBe(false);
    }),
  );
});

it.each([
  ['4242 4242 4242 4242 12/29 123', '[masked]'],
  ['order 10047 4242424242424242', 'order 10047 [masked]'],
  ['4242424242424242 5555555555554444', '[masked]'],
  ['4242\u00a04242\u00a04242\u00a04242', '[masked]'],
  ['4242–4242–4242–4242', '[masked]'],
  ['3782 822463 10005 exp 12/29 cvc 1234, thanks', '[masked], thanks'],
])('the mask turns “%s” into “%s”', (text, shown) => {
  expect(maskCards(text)).toBe(shown);
});

it('the mask leaves amounts, dates, phone numbers and tickets in a text as they are', () => {
  for (const text of [
    'paid 29.90 EUR on 2026-11-25, call +49 30 1234567',
    'ticket 1234567890123, ref 4242424242424241',
    'run from 2026-11-20T10:00:00.000Z to 2026-11-21T10:00:00.000Z',
    '',
  ])
    expect(maskCards(text)).toBe(text);
});

it('a page masks a card number in any text of an event, and shows an invoice number that looks like one', () => {
  const body = { metadata: { hint: 'order 7 4242–4242–4242–4242 12/29 123' }, number: '4111-2026-0001-1118' };
  const shown = { metadata: { hint: 'order 7 [masked]' }, number: '4111-2026-0001-1118' };
  expect(masked(body)).toEqual(shown);
  expect(rawBody(Buffer.from(JSON.stringify(body)))).toEqual(shown);
});

it('a page masks a card number in a body that is no JSON, even in groups and at the end of the shown part', () => {
  expect(maskedText(Buffer.from('id 7 4242 4242 4242 4242 12/29 123'))).not.toMatch(/4242|123/);
  expect(maskedText(Buffer.from(`${'7 '.repeat(1_018)}4242 4242 4242 4242`))).not.toContain('4242');
  expect(rawBody(Buffer.from('{"note": 4242 4242 4242 4242'))).toBe('{"note": [masked]');
});

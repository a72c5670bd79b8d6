// Card numbers in free text. Masks only texts of a person or a bank: an invoice number may pass the check of a card
// number by chance.

import { textOf } from '@crossbill/mor/read.js';

/** Members of bodies and answers with free text, in lower case without "_" and "-". */
const FREE_TEXT = new Set([
  'description',
  'failuremessage',
  'footer',
  'memo',
  'message',
  'note',
  'reason',
  'refundreason',
  'reviewernote',
  'reviewmessage',
  'reviewnote',
]);

/** Does a member of this name hold a person's or a bank's text? */
export function isFreeText(name: string): boolean {
  return FREE_TEXT.has(name.toLowerCase().replace(/[_-]/g, ''));
}

/**
 * The text with each run of 13 to 19 digits masked if it passes the check-digit test of card numbers (ISO/IEC 7812).
 */
export function maskCards(text: string): string {
  return text.replace(/\d(?:[ -]?\d){12,18}/g, (digits) => (looksLikeCard(digits) ? '[masked]' : digits));
}

/** What a person or a bank wrote, as `textOf` with card numbers masked. The bytes as they came are in the inbox. */
export function freeText(value: unknown): string | null {
  const text = textOf(value);
  return text === null ? null : maskCards(text);
}

function looksLikeCard(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

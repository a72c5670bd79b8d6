// Masks card numbers in free text from a person or a bank. Other texts stay as they are: an invoice number may look
// like a card number by chance.

import { textOf } from '@crossbill/mor/read.js';

/** The JSON members with free text: their names in lower case, without "_" and "-". */
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

/** True if a member with this name holds text from a person or a bank. */
export function isFreeText(name: string): boolean {
  return FREE_TEXT.has(name.toLowerCase().replace(/[_-]/g, ''));
}

/** Masks each run of 13 to 19 digits with a correct check digit of card numbers (ISO/IEC 7812). */
export function maskCards(text: string): string {
  return text.replace(/\d(?:[ -]?\d){12,18}/g, (digits) => (looksLikeCard(digits) ? '[masked]' : digits));
}

/**
 * The text from a person or a bank, with masked card numbers. Null: the value is no text. The inbox keeps the original
 * bytes.
 */
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

// An invoice that Stripe shows as paid although nobody paid it: nothing was due.
import { type NothingDue } from './facts/parts.js';
import { type InvoiceRow } from './invoice-row.js';

/** Why nothing is due on a paid invoice. Null: an amount was due, so somebody paid it. */
export function whyNothingDue({ amountDue, amountCredited, total }: InvoiceRow): NothingDue | null {
  if (amountDue === null || amountDue > 0n) return null;
  if (total === null || total <= 0n) return 'empty';
  if (amountCredited === 0n) return 'balance';
  return amountCredited !== null && amountCredited >= total ? 'credited' : 'covered';
}

const WORDS: Readonly<Record<NothingDue, string>> = {
  credited: 'credit notes took all of it',
  balance: "the customer's balance covered it",
  covered: "credit notes or the customer's balance covered it",
  empty: 'its total is zero or less',
};

/** The part of a sentence after "nothing was due: ". */
export function showNothingDue(why: NothingDue): string {
  return WORDS[why];
}

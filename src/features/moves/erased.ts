// What an erasure covers in the table of moves.
import { withoutWords } from '../../shared/domain/foreign-words.js';
import { json, key, rowOf, text } from '../../shared/domain/row.js';
import { type MoveFact } from './move.rules.js';

/** The columns with Stripe's words. */
export const MOVE_WORDS = rowOf('move', {
  subscriptionId: key(),
  customerId: text(),
  fact: json<MoveFact>().orNull.said(withoutWords),
});

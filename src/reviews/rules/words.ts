// Sentences of every review item, made from its fact when somebody reads it. No code decides by a sentence.
import { objectWords } from '../../mor-objects/words.js';
import { disputeWords } from '../../disputes/words.js';
import { type Fact, type FactCode, type Sentences, type Words } from '../../domain/fact.js';
import { type ReviewRow } from '../../domain/model.js';
import { laneWords } from './lane-words.js';
import { enrolmentWords } from '../../enrolment/words.js';
import { secondBodyWords } from '../../events/rules/second-body.js';
import { linkWords } from '../../links/words.js';
import { refundItemWords } from '../../refunds/words.js';
import { invoiceWords } from './invoice-words.js';
import { paymentWords } from '../../payments/words.js';
import { retryWords } from '../../retries/rules/retry-calls.js';
import { returnWords } from '../../returns/words.js';
import { signupWords } from '../../signups/words.js';
import { transferWords } from '../../transfers/words.js';

// A fact without words does not compile.
const WORDS: Words<FactCode> = {
  ...paymentWords,
  ...invoiceWords,
  ...refundItemWords,
  ...signupWords,
  ...retryWords,
  ...enrolmentWords,
  ...objectWords,
  ...linkWords,
  ...transferWords,
  ...disputeWords,
  ...returnWords,
  ...laneWords,
  ...secondBodyWords,
};

/** The sentences of an item: what happened, and what to do. */
export function sentencesOf({ fact }: Pick<ReviewRow, 'fact'>): Sentences {
  const render = WORDS[fact.code] as (fact: Fact) => Sentences;
  return render(fact);
}

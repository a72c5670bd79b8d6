// The sentences of every review item, made from its fact when somebody reads them. Nothing decides by them.
import { objectWords } from '../../mor-objects/rules/words.js';
import { disputeWords } from '../../disputes/rules/words.js';
import { type Fact, type FactCode, type Sentences, type Words } from '../../domain/fact.js';
import { type ReviewRow } from '../../domain/model.js';
import { laneWords } from './lane-words.js';
import { enrolmentWords } from '../../enrolment/rules/words.js';
import { secondBodyWords } from '../../events/rules/second-body.js';
import { chargeWords } from '../../ledger/rules/charge-words.js';
import { linkWords } from '../../links/rules/words.js';
import { refundItemWords } from '../../refunds/rules/words.js';
import { invoiceWords } from './invoice-words.js';
import { paymentWords } from '../../payments/rules/payment-words.js';
import { retryWords } from '../../retries/rules/retry-calls.js';
import { returnWords } from '../../returns/rules/words.js';
import { signupWords } from '../../signups/rules/words.js';
import { transferWords } from '../../transfers/rules/words.js';

// A fact without words does not compile.
const WORDS: Words<FactCode> = {
  ...paymentWords,
  ...invoiceWords,
  ...chargeWords,
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

/** What happened, and what to do. */
export function sentencesOf({ fact }: Pick<ReviewRow, 'fact'>): Sentences {
  const render = WORDS[fact.code] as (fact: Fact) => Sentences;
  return render(fact);
}

/** What happened, in words alone: the names and the deadline that a page shows beside it are left out. */
export function headlineOf(r: Pick<ReviewRow, 'fact'>): string {
  const { summary, headline = summary } = sentencesOf(r);
  return headline;
}

// Sentences of every review item, made from its fact when somebody reads it. No code decides by a sentence.
import { objectWords } from '../../mor-objects/words.js';
import { type Fact, type FactCode, type Sentences, type Words } from '../../../shared/domain/fact.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { known, newerCode } from '../../../shared/domain/sentence.js';
import { join } from '../../../feature.js';
import { FEATURES } from '../../../features.js';
import { laneWords } from './lane-words.js';
import { secondBodyWords } from '../../events/rules/second-body.js';
import { refundItemWords } from '../../refunds/words.js';
import { invoiceWords } from './invoice-words.js';
import { isReviewKind } from './impact.js';
import { paymentWords } from '../../payments/words.js';
import { signupWords } from '../../signups/words.js';

// A fact without words does not compile.
const WORDS: Words<FactCode> = {
  ...paymentWords,
  ...invoiceWords,
  ...refundItemWords,
  ...signupWords,
  ...objectWords,
  ...laneWords,
  ...secondBodyWords,
  ...join(FEATURES, 'words'),
};

/**
 * The sentences of an item: what happened, and what to do. A fact of a newer release, or of a hand edit, has an unknown
 * code or other fields; its item still stands in every list.
 */
export function sentencesOf({ fact }: Pick<ReviewRow, 'fact'>): Sentences {
  const render = known(WORDS, fact.code) as ((fact: Fact) => Sentences) | undefined;
  try {
    if (render !== undefined) return render(fact);
  } catch {
    // The fields are not the fields of this release.
  }
  return { summary: `An item of another release: ${fact.code}.`, proposal: newerCode('fact', fact.code) };
}

/** True if this release knows kind and fact of the item, and so the rules of its choices. */
export function isKnownItem({ kind, fact }: Pick<ReviewRow, 'kind' | 'fact'>): boolean {
  return isReviewKind(kind) && known(WORDS, fact.code) !== undefined;
}

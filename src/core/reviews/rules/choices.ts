// A person's choices for a review item, and the proposed choice. resolve-review.ts carries out the choice.
import { type Resolution, RESOLUTIONS, type ReviewRow } from '../../../shared/domain/review-row.js';
import { HOW_TO_NAME } from '../../../shared/domain/payment-name.js';
import { isKnownItem, sentencesOf } from './words.js';

/**
 * The possible choices for an open item. Only a newer release can carry out a choice for an item of its own.
 * @param named true if Crossbill knows the MoR's id of the payment: without the id there is no refund
 */
export function resolutionsOf(item: ReviewRow, named: boolean): readonly Resolution[] {
  return isKnownItem(item) ? item.actions.filter((x) => RESOLUTIONS.includes(x) && (x !== 'refund' || named)) : [];
}

/** True if the choice needs a note. The note must name the person at the MoR who reported the failed refund. */
export function isNoteNeeded(item: Pick<ReviewRow, 'kind'>, resolution: Resolution): boolean {
  return item.kind === 'refund_stuck' && resolution === 'apply';
}

const HOW_TO_CREDIT = '`credit` shows the loss on Stripe as a credit note.';

/** The proposal in words, with a hint if a refund is impossible for now. */
export function proposalOf(item: ReviewRow, named: boolean): string {
  const { proposal } = sentencesOf(item);
  const missing = item.status === 'open' && item.paymentRowId !== null && !named && item.actions.includes('refund');
  if (missing) return `${proposal} \`refund\` needs the MoR's id of the payment first. ${HOW_TO_NAME}`;
  return item.status === 'open' && item.actions.includes('credit') ? `${proposal} ${HOW_TO_CREDIT}` : proposal;
}

/**
 * The proposed choice. Null: there is no proposal, because a person must first find something out.
 * @param named true if Crossbill knows the payment's id at the MoR
 */
export function proposedOf(item: ReviewRow, named: boolean): Resolution | null {
  const may = resolutionsOf(item, named);
  const [only] = may;
  if (may.length === 1 && only !== undefined) return only;
  return item.proposed !== null && may.includes(item.proposed) ? item.proposed : null;
}

/** True if closing is the only choice: a person carries out the proposal outside Crossbill. */
export function isDoneElsewhere(item: ReviewRow, named: boolean): boolean {
  return resolutionsOf(item, named).length === 1;
}

// A person's choices for each kind of review item. Each choice's consequences stand with the item's subject.
import { type Resolution, type ReviewRow } from '../../domain/model.js';
import { HOW_TO_NAME } from '../../domain/payment-name.js';
import { sentencesOf } from './words.js';

/**
 * What a person may choose for an open item.
 * @param named Crossbill knows the MoR's id of its payment: without it there is no refund
 */
export function resolutionsOf(r: ReviewRow, named: boolean): readonly Resolution[] {
  return r.actions.filter((x) => x !== 'refund' || named);
}

/** Refused without a note on its source (refunds/rules/request.ts). */
export function isNoteNeeded(r: Pick<ReviewRow, 'kind'>, resolution: Resolution): boolean {
  return r.kind === 'refund_stuck' && resolution === 'apply';
}

const HOW_TO_CREDIT = '`credit` writes it off with a credit note on Stripe.';

/** The proposal, and the way to a refund beyond reach. */
export function proposalOf(r: ReviewRow, named: boolean): string {
  const { proposal } = sentencesOf(r);
  const missing = r.status === 'open' && r.paymentRowId !== null && !named && r.actions.includes('refund');
  if (missing) return `${proposal} \`refund\` needs the name of the payment first. ${HOW_TO_NAME}`;
  return r.status === 'open' && r.actions.includes('credit') ? `${proposal} ${HOW_TO_CREDIT}` : proposal;
}

/**
 * The proposed choice; null: a person must find something out first, and then any may be right.
 * @param named Crossbill knows the MoR's id of its payment
 */
export function proposedOf(r: ReviewRow, named: boolean): Resolution | null {
  const may = resolutionsOf(r, named);
  const [only] = may;
  if (may.length === 1 && only !== undefined) return only;
  return r.proposed !== null && may.includes(r.proposed) ? r.proposed : null;
}

// What a person may choose for each kind of review item. What comes of it stands with the subject that the item is about.
import { type Resolution, type ReviewRow } from '../../domain/model.js';
import { HOW_TO_NAME } from '../../refunds/rules/request-refund.js';
import { isOfSharedCharge } from '../../ledger/rules/one-charge.js';
import { isToldFailed } from '../../refunds/rules/stuck-refund.js';

/**
 * What a person may choose for an open item.
 * @param named the MoR's id of its payment is known: without one nothing can be refunded
 */
export function resolutionsOf(r: ReviewRow, named: boolean): readonly Resolution[] {
  return resolutionsOfKind(r).filter((x) => x !== 'refund' || named);
}

/** Whether it is refused without a word on who said so (refunds/rules/refund-review.ts). */
export function isNoteNeeded(r: Pick<ReviewRow, 'kind'>, resolution: Resolution): boolean {
  return r.kind === 'refund_stuck' && resolution === 'apply';
}

/** What is proposed, and how to come by a refund that cannot be chosen yet. */
export function proposalOf(r: ReviewRow, named: boolean): string {
  const missing = r.status === 'open' && r.paymentRowId !== null && !named && resolutionsOfKind(r).includes('refund');
  return missing ? `${r.proposal} \`refund\` can be chosen once the payment is named. ${HOW_TO_NAME}` : r.proposal;
}

export function resolutionsOfKind(r: ReviewRow): readonly Resolution[] {
  switch (r.kind) {
    case 'amount_mismatch':
    case 'customer_mismatch':
      return ['apply', 'refund', 'retry', 'dismiss'];
    case 'double_payment':
      return isOfSharedCharge(r) ? ['dismiss'] : ['refund', 'retry', 'dismiss'];
    case 'currency_mismatch':
    case 'invoice_not_payable':
      return ['refund', 'retry', 'dismiss'];
    case 'signup_unproven':
      return ['apply', 'retry', 'dismiss'];
    case 'refund_stuck':
      return isToldFailed(r) ? ['retry', 'dismiss'] : ['apply', 'retry', 'dismiss'];
    case 'effect_failed':
    case 'finalization_failed':
    case 'renewal_overdue':
    case 'double_charge_risk':
      return ['retry', 'dismiss'];
    case 'partial_transfer':
      return ['apply', 'dismiss'];
    case 'dispute':
    case 'debit_returned':
    case 'conflicting_event':
    case 'refund_gap':
    case 'signup_overdue':
      return ['dismiss'];
  }
}

// Which review items are about tax: they say nothing of the money itself.
import { type ReviewRow } from '../../domain/model.js';
import { type TaxRecord } from '../../domain/tax-record.js';

/** Whether a review item is about a tax record. */
export function isTaxReview(r: ReviewRow): boolean {
  return r.kind === 'effect_failed' && /^(calculate|commit|refund)_tax:/.test(r.subject);
}

export function isTaxOf(r: ReviewRow, t: TaxRecord): boolean {
  return isTaxReview(r) && r.subject.endsWith(`_tax:${t.reference}`);
}

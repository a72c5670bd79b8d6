// Carries out a person's choice for an open review item. The item lists the possible choices. Each kind of item has a
// rule for its choices. An item about a failed call uses the rule of the call.
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { refuse, type Result, type Choice, type ChoiceRule, nothingMore } from '../../engine/commanded.js';
import { type Subjects } from '../../engine/decider.js';
import { type Lane } from '../../engine/lane.js';
import { newerCode } from '../../shared/domain/sentence.js';
import { isKnownItem } from './rules/words.js';

/** Carries out the choice and closes the item. The item stays closed even if a call for the choice fails later. */
export function resolveReview(subjects: Subjects, lane: Lane, reviewId: string, choice: Choice): Result<ReviewRow> {
  const r = lane.reviews.find((x) => x.id === reviewId);
  if (r === undefined) return refuse(404, 'not_found', 'There is no such review item.');
  if (r.status === 'resolved') {
    if (r.resolution === choice.resolution) return { ok: true, value: r };
    const message = `This item was already resolved (${r.resolution ?? ''}) by ${r.resolvedBy ?? ''}.`;
    return refuse(409, 'review_already_resolved', message);
  }
  if (!isKnownItem(r)) return refuse(409, 'newer_format', newerCode('item', `${r.kind} (${r.topic})`));
  if (!r.actions.includes(choice.resolution)) {
    const message = `A ${r.kind} item can be resolved by: ${r.actions.join(', ')}.`;
    return refuse(409, 'resolution_not_available', message, 'resolution');
  }
  const refusal = ruleOf(subjects, r)(lane, r, choice);
  if (refusal !== null) return refusal;
  lane.closeItems((x) => x.id === r.id, choice);
  return { ok: true, value: r };
}

/**
 * Finds the rule for the item's choices. An `effect_failed` item is about a failed call, and the item's field `subject`
 * begins with the kind of this call. If the item is about the lane itself, there is no call.
 */
function ruleOf({ calls, reviews }: Subjects, item: ReviewRow): ChoiceRule {
  if (item.kind !== 'effect_failed') return reviews[item.kind];
  const call = Object.entries(calls).find(([kind]) => item.subject.startsWith(`${kind}:`));
  return call?.[1].chosen ?? nothingMore;
}

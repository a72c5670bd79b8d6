// Settles an open review item as a person chose: what may be chosen stands in the item, what comes of it is its subject's.
import { type Subjects } from './decider.js';
import { type LaneState, type ReviewRow } from '../domain/model.js';
import { type Choice, nothingMore, type ReviewRule } from './subject.js';
import { closeReviews, type Ctx } from './change.js';
import { type Commanded, refuse } from './commanded.js';

/** The item is closed by this, whatever comes of what it starts. */
export function resolveReview(
  subjects: Subjects,
  s: LaneState,
  reviewId: string,
  choice: Choice,
  ctx: Ctx,
): Commanded<ReviewRow> {
  const r = s.reviews.find((x) => x.id === reviewId);
  if (r === undefined) return refuse(404, 'not_found', 'There is no such review item.');
  if (r.status === 'resolved') {
    if (r.resolution === choice.resolution) return { ok: true, state: s, value: r };
    const message = `This item was already resolved (${r.resolution ?? ''}) by ${r.resolvedBy ?? ''}.`;
    return refuse(409, 'review_already_resolved', message);
  }
  const allowed = r.actions; // a refund of a payment without a name is refused with how to name it
  if (!allowed.includes(choice.resolution)) {
    const message = `A ${r.kind} item can be resolved by: ${allowed.join(', ')}.`;
    return refuse(409, 'resolution_not_available', message, 'resolution');
  }
  const acted = ruleOf(subjects, r)(s, r, choice, ctx);
  if (!acted.ok) return acted;
  const state = closeReviews(acted.state, ctx, (x) => x.id === r.id, choice);
  return { ok: true, state, value: state.reviews.find((x) => x.id === r.id) ?? r };
}

/** An `effect_failed` item names the call that failed first in its subject; one about the lane itself names none. */
function ruleOf({ calls, reviews }: Subjects, r: ReviewRow): ReviewRule {
  if (r.kind !== 'effect_failed') return reviews[r.kind];
  const call = Object.entries(calls).find(([kind]) => r.subject.startsWith(`${kind}:`));
  return call?.[1].resolve ?? nothingMore;
}

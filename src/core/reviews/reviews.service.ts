// Carries out a person's choice for an item as a decision of its lane. An item without a lane closes directly.
import { Injectable } from '@nestjs/common';
import { freeText } from '../../shared/masks/card-numbers.js';
import { laneOfItem } from '../../shared/domain/events/own-event.js';
import { emptyLane } from '../../engine/context.js';
import { Lane } from '../../engine/lane.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { NotUnique } from '../../engine/lane.repository.js';
import { ReviewsRepository } from './reviews.repository.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { type Choice, refuse, type Result } from '../../engine/commanded.js';
import { resolveReview } from './resolve-review.js';

@Injectable()
export class ReviewsService {
  constructor(
    private readonly lanes: LaneChanges,
    private readonly reviews: ReviewsRepository,
    private readonly context: DecisionContext,
  ) {}

  async resolve(id: string, chosen: Choice): Promise<Result<ReviewRow>> {
    const choice = { ...chosen, note: freeText(chosen.note) };
    const review = await this.reviews.find(id);
    if (review === null) return refuse(404, 'not_found', 'There is no such review item.');
    const lane = laneOfItem(review);
    if (lane === null) return this.resolveLoose(review, choice);
    try {
      return await this.lanes.change(lane, (lane) => resolveReview(this.context.decider.subjects, lane, id, choice));
    } catch (e) {
      if (e instanceof NotUnique) {
        return refuse(
          409,
          'charge_already_used',
          'Another invoice already has a payment with this charge. Ask the MoR which invoice the charge paid.',
        );
      }
      throw e;
    }
  }

  /**
   * Closes an item without a lane. Two people may close it at the same time. Then the second person gets a refusal with
   * the first person's choice, unless both made the same choice.
   */
  private async resolveLoose(review: ReviewRow, choice: Choice): Promise<Result<ReviewRow>> {
    const alone = new Lane({ ...emptyLane(review.subject), reviews: [review] }, this.context.now());
    const done = resolveReview(this.context.decider.subjects, alone, review.id, choice);
    if (!done.ok || review.status !== 'open') return done;
    if (await this.reviews.close(done.value)) return done;
    const now = await this.reviews.find(review.id);
    if (now === null || now.status === 'open') return refuse(404, 'not_found', 'There is no such review item.');
    return this.resolveLoose(now, choice);
  }
}

// An operator's work on review items: lists the open items, and resolves an item.
import { Unexpected } from './http.js';
import { type Reading } from './read.js';
import { type Story } from './story.js';

export function openReviews(story: Story, kind: string): Promise<Reading[]> {
  return story.world.api.all(`/v1/reviews?status=open&kind=${kind}`);
}

/** Resolves a review item. Accepts a 409 if the item is resolved: an earlier try had its effect and lost its reply. */
export async function resolve(story: Story, review: Reading, resolution: string, note: string): Promise<void> {
  try {
    await story.world.api.post(`/v1/reviews/${review.text('id')}/resolve`, { resolution, note });
  } catch (error) {
    if (!(error instanceof Unexpected && error.status === 409)) throw error;
    const now = await story.world.api.get(`/v1/reviews/${review.text('id')}`);
    if (now.text('status') !== 'resolved') throw error;
  }
}

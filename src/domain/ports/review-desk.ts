// Closing a review item that belongs to no invoice: no lane holds it, so the row itself says whether it is open still.
import { type ReviewRow } from '../model.js';

export abstract class ReviewDesk {
  /** Writes the closed item; false, and nothing is written, when somebody else closed it first. */
  abstract close(closed: ReviewRow): Promise<boolean>;
}

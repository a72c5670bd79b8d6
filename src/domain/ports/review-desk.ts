// Closing a review item that belongs to no invoice: no lane holds it, so the row itself says whether it is open still.
import { type ReviewRow } from '../model.js';

export abstract class ReviewDesk {
  /** Writes the closed item down and tells of it under its subject; false, and nothing is written, when it is open no more. */
  abstract close(closed: ReviewRow, said: string): Promise<boolean>;
}

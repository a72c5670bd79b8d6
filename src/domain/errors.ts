// The common error of rooms and store.

/** The database was out of reach or did not answer: perhaps nothing is written, and nothing is wrong with the lane. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

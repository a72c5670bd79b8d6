// The error that a room and the store share.

/** The database could not be reached or did not answer: nothing is known to be written, and nothing is wrong with the lane. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

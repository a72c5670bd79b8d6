// A common error of the store and the subjects.

/** The database was unreachable or did not answer. The write may be missing. The lane itself is fine. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

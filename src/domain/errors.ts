// The database error that store and subjects share.

/** The database was unreachable or did not answer. The write may be missing. The lane itself is fine. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

// The database error shared by the store and the subjects.

/** The database was unreachable or did not reply. The write may be missing. The lane itself has no error. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

// The error of an unreachable database, for all modules.

/**
 * The database was unreachable or did not reply, so the write may be missing. The cause is the database, not an error
 * in the lane's data.
 */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

// The base of every error the bridge throws: a stable code, and whether trying again helps.

/**
 * An error says what is known, what to do next and which rows it is about; never a secret, a card or an address. What can be
 * expected (declined, already paid) is a value, not an error.
 */
export abstract class BridgeError extends Error {
  /** Stable: tests, alarms and callers match on it, not on the message. */
  abstract readonly code: string;
  /** `same-key`: the same call may be made again under the same idempotency key. `by-a-person`: somebody must look first. */
  abstract readonly retry: 'never' | 'same-key' | 'by-a-person';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The database could not be reached or did not answer: nothing is known to be written, and nothing is wrong with the lane. */
export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
}

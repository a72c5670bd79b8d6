// Why a wait ended without what it waited for.

/** What a step waits for did not come. */
export class NotArrived extends Error {
  readonly code = 'not_arrived';
}

/** The person ended it. */
export class Interrupted extends Error {
  readonly code = 'interrupted';
}

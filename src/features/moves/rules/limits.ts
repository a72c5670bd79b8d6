// Every wait, number of tries and limit of moves, with unit, reason and source.
import { DAY_MS, MINUTE_MS } from '../../../shared/policy.js';

/** Crossbill moves a subscription at least a day before its next renewal. A person has a day to undo the move. */
export const MOVE_BEFORE_RENEWAL_MS = DAY_MS;

/** The most tries of one request of a move, with pauses of 1, 2, 4 and 8 s. Then the command ends; run it again. */
export const MOVE_TRIES = 5;
export const MOVE_FIRST_PAUSE_MS = 1_000;
/**
 * The longest pause of a move after a Retry-After from Stripe, since a person waits for the command. If Stripe still
 * refuses after all tries, the next run of the command continues.
 */
export const MOVE_LONGEST_PAUSE_MS = MINUTE_MS;

// Failures of calls to the MoR as errors, for callers that cannot go on without the answer.
import { BridgeError } from '../domain/errors.js';
import { type CallFailure, type CallOutcome } from '../domain/ports/call.js';
import { adviceFor, type ErrorAction, type MorCallName } from './error-guide.js';

/** What every error of the MoR carries; none of it is a secret or a body. */
abstract class MorError extends BridgeError {
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The MoR's own code; null when it gave none. */
  readonly peerCode: string | null;
  readonly errors: CallFailure['errors'];
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
  readonly action: ErrorAction;
  /** One sentence for the operator. */
  readonly advice: string;

  constructor(
    readonly call: MorCallName,
    failure: CallFailure,
  ) {
    super(`${call}: ${failure.message}`);
    this.status = failure.status;
    this.peerCode = failure.code;
    this.errors = failure.errors;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
    const { action, advice } = adviceFor(call, failure.status, failure.code, failure.errors[0]?.field ?? null);
    this.action = action;
    this.advice = advice;
  }
}

/** The MoR understood and will not do it; nothing was done. The same bytes will be refused again. */
export class MorRefused extends MorError {
  readonly code = 'mor.refused';
  readonly retry = 'never';
}

/** No usable answer. `maybeDone` false: surely nothing was done. */
export class MorUnavailable extends MorError {
  readonly code = 'mor.unavailable';
  readonly retry = 'same-key';
  readonly maybeDone: boolean;

  constructor(call: MorCallName, failure: CallFailure) {
    super(call, failure);
    this.maybeDone = failure.kind === 'unknown';
  }
}

/** The MoR does not accept our credentials or our account (401, 403). */
export class MorStopped extends MorError {
  readonly code = 'mor.stopped';
  readonly retry = 'by-a-person';
}

export function morErrorOf(call: MorCallName, failure: CallFailure): MorRefused | MorUnavailable | MorStopped {
  if (failure.kind === 'refused') return new MorRefused(call, failure);
  if (failure.kind === 'stopped') return new MorStopped(call, failure);
  return new MorUnavailable(call, failure);
}

/** The value of an answer; a failure is thrown as one of the three errors above. */
export function valueOrThrow<T>(call: MorCallName, outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw morErrorOf(call, outcome);
}

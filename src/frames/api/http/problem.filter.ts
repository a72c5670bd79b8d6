// Turns every error into a reply. For a known error the reply tells the caller what to do. For an unknown error it only
// says that Crossbill failed.
import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Inject } from '@nestjs/common';
import { type Response } from 'express';
import { BadCursor } from '../../../shared/domain/page.js';
import { invalid, Problem } from './problem.js';
import { LaneUnreadable, NewerFormat } from '../../../engine/lane.repository.js';
import { LOG, type Logger } from '../../../shared/observe/index.js';
import { isUnavailable } from '../../store/database-errors.js';

/** Error codes and messages for the framework's own replies, by status. */
const CODES: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['invalid_request', 'The request is malformed.'],
  401: ['unauthorized', 'Send a valid API key.'],
  403: ['forbidden', 'This API key has no right to do this.'],
  404: ['not_found', 'There is no such route: see /docs.'],
  405: ['method_not_allowed', 'This route does not take this method.'],
  413: ['payload_too_large', 'The body is too large.'],
  415: ['unsupported_media_type', 'The body must be application/json, not compressed.'],
};

/** Returns the reply for an error. The reply never contains a stack trace, an SQL statement or the name of a table. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof BadCursor) return invalid('cursor', 'is not from this list: leave it out to start again');
  if (error instanceof HttpException) {
    const status = error.getStatus();
    const [code, message] = CODES[status] ?? [
      status < 500 ? 'invalid_request' : 'internal_error',
      'The request failed.',
    ];
    return new Problem(status, code, message);
  }
  if (error instanceof LaneUnreadable) return unreadable(error);
  if (isUnavailable(error)) {
    return new Problem(503, 'unavailable', 'The database does not answer: try again.', [], 1);
  }
  return new Problem(500, 'internal_error', 'Something went wrong inside Crossbill. The log has the cause.');
}

/** The reply for an object whose log this release cannot read. The daemon has opened a review item about the log. */
function unreadable({ lane, cause }: LaneUnreadable): Problem {
  if (cause instanceof NewerFormat) {
    return new Problem(
      409,
      'newer_format',
      `Only a newer release can read the log of ${lane}. Start the newer release.`,
    );
  }
  return new Problem(409, 'log_unreadable', `The log of ${lane} is damaged. Restore it from a backup.`);
}

@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(LOG) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const problem = toProblem(error);
    const res = host.switchToHttp().getResponse<Response>();
    // Crossbill's own 503 means a slow body or too many bodies. Anybody can cause such a reply, so Crossbill logs none.
    if (problem.getStatus() === 500 || (problem.getStatus() === 503 && error !== problem))
      this.log.error({ event: 'api.request_failed', err: error }, 'a request failed');
    else if (problem.getStatus() === 502) {
      this.log.warn({ event: 'api.peer_failed', code: problem.code }, 'a call for a request failed');
      this.log.debug({ code: problem.code, said: problem.message }, 'the reply of a failed call');
    }
    if (res.headersSent) {
      res.end();
      return;
    }
    if (problem.retryAfterSec !== null) res.setHeader('Retry-After', String(problem.retryAfterSec));
    if (problem.getStatus() === 401) res.setHeader('WWW-Authenticate', 'Bearer');
    res.status(problem.getStatus()).json(problem.getResponse());
  }
}

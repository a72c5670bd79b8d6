// Turns every error of a command into an exit code, a stable code and a sentence. Shows no stack and no secret.
import { toProblem } from '../api/http/problem.filter.js';
import { Problem } from '../api/http/problem.js';
import { ConfigError } from '../../shared/config/index.js';
import { BadCursor } from '../../shared/domain/page.js';
import { type CallOutcome, mayPass } from '../../shared/domain/ports/call.js';
import { LaneUnreadable } from '../../engine/lane.repository.js';
import { DatabaseRefused, isUnavailable } from '../store/database.js';
import { CliError, EXIT } from './exit-codes.js';
import { plain } from './table.js';

export type Explained = { readonly exitCode: number; readonly code: string; readonly message: string };

export function explainError(error: unknown): Explained {
  if (error instanceof CliError) return error;
  if (error instanceof Problem) return explainProblem(error);
  if (error instanceof LaneUnreadable) return explainProblem(toProblem(error));
  if (error instanceof ConfigError) {
    const message = `${error.message}\nSet them in the environment, in .env of this folder, or in a file given with --env-file; \`crossbill init\` writes one.`;
    return { exitCode: EXIT.config, code: error.code, message };
  }
  if (error instanceof BadCursor)
    return { exitCode: EXIT.usage, code: error.code, message: 'Unknown cursor. Omit --cursor.' };
  if (isOfEmbeddedPostgres(error)) return { exitCode: EXIT.unreachable, code: error.code, message: error.message };
  if (error instanceof DatabaseRefused) return { exitCode: EXIT.failed, code: error.code, message: error.message };
  if (isUnavailable(error)) {
    const why = error instanceof Error ? error.message : 'no answer';
    const message = `The database does not answer (${why}). Check the database and DATABASE_URL.`;
    return { exitCode: EXIT.unreachable, code: 'database_unavailable', message };
  }
  return {
    exitCode: EXIT.failed,
    code: 'failed',
    message: error instanceof Error ? error.message : 'The command failed.',
  };
}

/** Explains a refusal by a service or a route. A status of 5xx counts as a missing reply of Stripe or the MoR. */
function explainProblem(problem: Problem): Explained {
  const fields = problem.errors.filter(({ message }) => !problem.message.includes(message));
  const lines = [problem.message, ...fields.map(({ field, message }) => `  ${field}: ${message}`)];
  const exitCode = problem.getStatus() >= 500 ? EXIT.unreachable : EXIT.failed;
  return { exitCode, code: problem.code, message: lines.map(plain).join('\n') };
}

/** Tests only the name: an import of the class would fail in an image without the embedded PostgreSQL. */
function isOfEmbeddedPostgres(error: unknown): error is Error & { readonly code: string } {
  return (
    error instanceof Error &&
    error.name === 'EmbeddedPostgresError' &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

/**
 * Returns the value of a call to `peer` (Stripe or the MoR). Throws a CliError if the call failed. `hint`: the remedy.
 */
export function valueOrError<T>(peer: string, outcome: CallOutcome<T>, hint = ''): T {
  if (outcome.ok) return outcome.value;
  const fields = outcome.errors.map((e) => `\n  ${plain(e.field)}: ${plain(e.message)}`).join('');
  const message = `${peer}: ${plain(outcome.message).replace(/\.$/, '')}.${fields}${hint === '' ? '' : ` ${hint}`}`;
  throw new CliError(mayPass(outcome) ? EXIT.unreachable : EXIT.failed, outcome.code ?? outcome.kind, message);
}

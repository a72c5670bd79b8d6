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

export function explainError(e: unknown): Explained {
  if (e instanceof CliError) return e;
  if (e instanceof Problem) return explainProblem(e);
  if (e instanceof LaneUnreadable) return explainProblem(toProblem(e));
  if (e instanceof ConfigError) {
    const message = `${e.message}\nSet them in the environment, in .env of this folder, or in a file given with --env-file; \`crossbill init\` writes one.`;
    return { exitCode: EXIT.config, code: e.code, message };
  }
  if (e instanceof BadCursor) return { exitCode: EXIT.usage, code: e.code, message: 'Unknown cursor. Omit --cursor.' };
  if (isOfEmbeddedPostgres(e)) return { exitCode: EXIT.unreachable, code: e.code, message: e.message };
  if (e instanceof DatabaseRefused) return { exitCode: EXIT.failed, code: e.code, message: e.message };
  if (isUnavailable(e)) {
    const why = e instanceof Error ? e.message : 'no answer';
    const message = `The database does not answer (${why}). Check the database and DATABASE_URL.`;
    return { exitCode: EXIT.unreachable, code: 'database_unavailable', message };
  }
  return { exitCode: EXIT.failed, code: 'failed', message: e instanceof Error ? e.message : 'The command failed.' };
}

/** Explains a refusal by a flow or a route. A status of 5xx counts as a missing reply of Stripe or the MoR. */
function explainProblem(e: Problem): Explained {
  const fields = e.errors.filter(({ message }) => !e.message.includes(message));
  const lines = [e.message, ...fields.map(({ field, message }) => `  ${field}: ${message}`)];
  const exitCode = e.getStatus() >= 500 ? EXIT.unreachable : EXIT.failed;
  return { exitCode, code: e.code, message: lines.map(plain).join('\n') };
}

/** Tests only the name: an import of the class would fail in an image without the embedded PostgreSQL. */
function isOfEmbeddedPostgres(e: unknown): e is Error & { readonly code: string } {
  return e instanceof Error && e.name === 'EmbeddedPostgresError' && 'code' in e && typeof e.code === 'string';
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

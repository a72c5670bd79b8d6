// Sorts the errors between Crossbill and PostgreSQL: either the database is in passing trouble, or only a person can
// repair the cause.
import { types } from 'node:util';
import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { StoreUnavailable } from '../../shared/domain/errors.js';

/**
 * - `url`: DATABASE_URL is unusable.
 * - `login`: user, password or the right to connect is wrong.
 * - `unknown_database`: there is no database with this name.
 * - `tls`: no encrypted connection, or an untrusted certificate.
 * - `pooling_mode`: a pooler gives each transaction another session.
 * - `encoding`: the database does not store UTF8.
 * - `server_version`: the server is too old.
 * - `others_tables`: the database holds tables of another program.
 * - `migration_cancelled`: somebody cancelled a running migration.
 */
export type RefusedBecause =
  | 'url'
  | 'login'
  | 'unknown_database'
  | 'tls'
  | 'pooling_mode'
  | 'encoding'
  | 'server_version'
  | 'others_tables'
  | 'migration_cancelled';

/**
 * The database is unusable, and waiting does not help. The message names the problem, then the remedy. It never
 * contains a password.
 */
export class DatabaseRefused extends Error {
  readonly code: `store.${RefusedBecause}`;
  constructor(
    because: RefusedBecause,
    readonly whatIsWrong: string,
    readonly whatToDo: string,
    cause?: unknown,
  ) {
    super(`${whatIsWrong}. ${whatToDo}.`, cause === undefined ? undefined : { cause });
    this.name = 'DatabaseRefused';
    this.code = `store.${because}`;
  }
}

/** The SQLSTATE of a database error, or the code of a socket error. Null: the error has no code. */
export function sqlState(error: unknown): string | null {
  // Not `instanceof`: a socket error may come from another JavaScript realm.
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** True for a serialization failure or a deadlock: the caller runs the whole transaction again. */
export function isTransient(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

// SQLSTATE classes of trouble in the database itself: connection, resources, operator intervention, read-only after a
// failover, and a missing login or database.
const TROUBLE = /^(08|53|57|58|25|28|3D|40|55|XX)/;

/** Node's codes for TLS errors. */
export const TLS = /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EPROTO$)/;

// The errors of `pg` and `pg-pool` without a code, for a lost or missing connection.
const LOST = new RegExp(
  [
    '^timeout exceeded when trying to connect',
    '^timeout expired',
    '^Query read timeout',
    '^Connection terminated',
    'is not queryable$',
    '^Cannot use a pool after calling end',
    '^The server does not support SSL connections',
    '^There was an error establishing an SSL connection',
  ].join('|'),
);

/** True for trouble of the database itself. False for a fault of the statement. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StoreUnavailable) return true;
  // The connection died between two queries of a transaction.
  if (error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError)
    return true;
  const state = sqlState(error);
  if (state === null) return types.isNativeError(error) && LOST.test(error.message);
  // Socket errors, such as ECONNREFUSED, match the last pattern.
  return TROUBLE.test(state) || TLS.test(state) || /^E[A-Z]{3,}$/.test(state);
}

export function violatedConstraint(error: unknown): string | null {
  if (sqlState(error) !== '23505' || !(error instanceof Error)) return null;
  return 'constraint' in error && typeof error.constraint === 'string' ? error.constraint : 'unknown';
}

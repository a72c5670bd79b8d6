// The ways in which the embedded PostgreSQL can fail to run, each with a stable code and what to do about it.

/**
 * - `unsupported_platform`: there are no binaries for this operating system and processor.
 * - `package_missing`: there are, but npm did not install them.
 * - `system_too_old`: the C library cannot run them (glibc before 2.27, or musl as in Alpine).
 * - `binaries_unusable`: they are there and cannot be executed from anywhere we can put them.
 * - `cannot_drop_root`: we are root, PostgreSQL refuses root, and no other user id can be taken on.
 * - `data_dir_unusable`: the data folder cannot be made, entered, or owned as PostgreSQL needs it.
 * - `data_dir_version`: the data was made by another major version of PostgreSQL.
 * - `init_failed`: initdb did not make a cluster.
 * - `start_failed`: the server ended before it was ready.
 * - `not_answering`: a server holds the data folder and does not become ready.
 */
export type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'package_missing'
  | 'system_too_old'
  | 'binaries_unusable'
  | 'cannot_drop_root'
  | 'data_dir_unusable'
  | 'data_dir_version'
  | 'init_failed'
  | 'start_failed'
  | 'not_answering';

const OWN_DATABASE = 'or set DATABASE_URL to a PostgreSQL 14 or later of your own';

/** The embedded PostgreSQL does not run. The message names what is wrong, then what to do; it never holds the password. */
export class EmbeddedPostgresError extends Error {
  constructor(
    readonly code: EmbeddedPostgresErrorCode,
    whatIsWrong: string,
    whatToDo: string,
    cause?: unknown,
  ) {
    super(`${whatIsWrong}. ${whatToDo}, ${OWN_DATABASE}.`, cause === undefined ? undefined : { cause });
    this.name = 'EmbeddedPostgresError';
  }
}

/** The `code` of a system error (`ENOENT`, …); null for anything else. */
export function systemCode(error: unknown): string | null {
  const hasCode = typeof error === 'object' && error !== null && 'code' in error;
  return hasCode && typeof error.code === 'string' ? error.code : null;
}

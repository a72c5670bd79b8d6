// The failures of the embedded PostgreSQL, each with a stable code and a remedy.

/**
 * - `unsupported_platform`: there are no binaries for this operating system and processor.
 * - `package_missing`: npm did not install the binaries for this platform.
 * - `system_too_old`: the C library cannot run the binaries (glibc before 2.27, or musl as in Alpine).
 * - `binaries_unusable`: the binaries cannot run from any folder open to us.
 * - `cannot_drop_root`: we are root, PostgreSQL refuses root, and no other user id is available.
 * - `data_dir_unusable`: PostgreSQL cannot make, enter or own the data folder.
 * - `data_dir_version`: another major version of PostgreSQL made the data.
 * - `init_failed`: initdb did not make a cluster.
 * - `start_failed`: the server ended before it was ready.
 * - `not_answering`: a server uses the data folder and does not become ready.
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

/**
 * The embedded PostgreSQL cannot run. The message names the problem, then the remedy. It never contains the password.
 */
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

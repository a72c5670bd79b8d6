// A real PostgreSQL for one program: no root, no installation, and no server left behind after a `kill -9`.
export { type Binaries, locateNative, prepareBinaries, SERVER_ENV } from './binaries.js';
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './errors.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';
export { freePort, isPostgres } from './postmaster.js';
export { chooseRunAs, parsePasswd, type RunAs } from './run-as.js';

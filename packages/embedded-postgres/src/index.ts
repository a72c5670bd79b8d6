// A real PostgreSQL for one program: no root, no installation, and it survives `kill -9` of its owner.
export { type Binaries, locateNative, prepareBinaries, SERVER_ENV } from './binaries.js';
export { EmbeddedPostgresError, type EmbeddedPostgresErrorCode } from './errors.js';
export { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.js';
export { freePort, isPostgres } from './postmaster.js';
export { chooseRunAs, parsePasswd, type RunAs } from './run-as.js';

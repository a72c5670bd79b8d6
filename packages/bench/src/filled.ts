// Databases with old renewals, in a data folder of the embedded PostgreSQL. Each is named after its number of ledger
// entries.
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/frames/store/connect.js';
import { migrate } from '#src/frames/store/migrations.js';
import { fillBooks, type Filling } from './fill-books.js';

/** Each renewal has two entries in the ledger and two events. */
export const PER_RENEWAL = 2;

/** Settings of the server during the fill: nothing has to survive a crash. */
const FILLING = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  max_wal_size: '4GB',
  shared_buffers: '512MB',
};

export const quiet = { info: () => undefined, warn: (text: string) => console.error(text) };

const named = (size: number): string => `books_${size}`;
export const urlOf = (adminUrl: string, size: number): string =>
  adminUrl.replace(/\/[^/?]+(\?|$)/, `/${named(size)}$1`);

/** Fills one database for each of the `sizes`, in ledger entries. Skips a full database. */
export async function fillDatabases(dataDir: string, sizes: readonly number[], filling?: Filling): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir, log: quiet, settings: FILLING });
  try {
    const admin = await connectAlone(server.adminUrl, { name: 'crossbill-bench', statementMs: 0 });
    for (const size of sizes) {
      const there = await admin.query('select from pg_database where datname = $1', [named(size)]);
      if (there.rowCount === 0) await admin.query(`create database ${named(size)}`);
      await migrate(urlOf(server.adminUrl, size));
      await fillBooks(urlOf(server.adminUrl, size), size / PER_RENEWAL, filling);
    }
    await admin.query('checkpoint'); // writes gigabytes now; otherwise stopping the server takes long
    await admin.end();
  } finally {
    await server.stop();
  }
}

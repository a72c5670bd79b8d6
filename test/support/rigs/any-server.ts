// A database like those of other people, on the run's server: with its own roles, settings and encodings.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { Secret } from '../../../src/shared/config/secret.js';
import { createLogger } from '../../../src/shared/observe/index.js';
import { openDatabase, type OpenDatabase } from '../../../src/open-database.js';
import { OWN_MIGRATIONS } from '../../../src/frames/store/migrations.js';
import { adminUrl } from './database.js';

/** Runs one statement as the server's superuser, in its own database or in another one of the server. */
export async function asAdmin<T extends pg.QueryResultRow>(sql: string, url = adminUrl()): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}

export type Role = {
  readonly name: string;
  readonly password: string;
  /** The URL of the same database with this user. */
  as(url: string): string;
  drop(): Promise<void>;
};

/** A user of the server who may only log in. */
export async function newRole(): Promise<Role> {
  const name = `crossbill_role_${randomBytes(6).toString('hex')}`;
  const password = `pw-${randomBytes(12).toString('hex')}`;
  await asAdmin(`create role ${name} login password '${password}'`);
  return {
    name,
    password,
    as(url) {
      const own = new URL(url);
      own.username = name;
      own.password = password;
      return own.toString();
    },
    // The role's objects went with the test's databases, dropped earlier.
    drop: async () => void (await asAdmin(`drop role ${name}`)),
  };
}

export type Opening = {
  /** The log so far, by line. */
  readonly lines: string[];
  readonly opened: Promise<OpenDatabase>;
  /** Resolves like `opened`. Throws an error with the log if the daemon waits. */
  readonly atOnce: () => Promise<OpenDatabase>;
  /** Resolves when the log contains this text. */
  readonly says: (words: string) => Promise<void>;
  /** Stops a waiting daemon. */
  readonly stop: () => Promise<void>;
};

/** What a starting daemon does with its database. */
export function opening(url: string, { folder = OWN_MIGRATIONS, poolSize = 3 } = {}): Opening {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'info', secrets: [], pretty: false, destination });
  const stop = new AbortController();
  const choice = { kind: 'url', url: new Secret(url) } as const;
  const opened = openDatabase({ database: choice, databasePoolSize: poolSize }, log, stop.signal, folder);
  opened.catch(() => undefined); // a test that stops the wait does not care how it ended
  const says = async (words: string): Promise<void> => {
    while (!lines.some((line) => line.includes(words)) && !stop.signal.aborted)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return {
    lines,
    opened,
    says,
    atOnce: () =>
      Promise.race([
        opened,
        says('trying again').then(() => {
          stop.abort();
          throw new Error(`it waits: ${lines.join('')}`);
        }),
      ]),
    async stop() {
      stop.abort();
      await opened.then(
        async (found) => {
          await found.db.close();
          await found.close();
        },
        () => undefined,
      );
    },
  };
}

/** Enough settings for the command line and the doctor. Only the database exists. */
export function settingsFor(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    STRIPE_API_KEY: 'sk_test_0123456789abcdefABCDEF',
    STRIPE_API_BASE: 'http://127.0.0.1:1',
    STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef0123456789',
    MOR_BASE_URL: 'http://127.0.0.1:1',
    MOR_AUTH_URL: 'http://127.0.0.1:1',
    MOR_CLIENT_ID: 'merchant',
    MOR_CLIENT_SECRET: 's3cret-value-of-the-merchant',
    MOR_PAYMENT_WEBHOOK_SECRETS: 'whsec_0123456789abcdef0123456789',
    API_KEYS: `ada:ops:${'k'.repeat(40)}`,
  };
}

// `crossbill migrate`: brings the schema up to date, one process at a time.
import { types } from 'node:util';
import { databaseUrl, LACKS_A_RIGHT, RIGHT_MISSING } from '../../open-database.js';
import { Database, sqlState } from '../store/database.js';
import { migrate, schemaState } from '../store/migrations.js';
import { type Cli } from './cli.js';
import { type Commands } from './commands.js';
import { CliError, EXIT } from './exit-codes.js';
import { cliLog } from './app-context.js';

export function addMigrate(on: Commands): void {
  on.add('migrate', on.about)
    .option('--status', 'only check; exit code 1 when the schema is behind')
    .action(
      on.run(async (cli, { status }) => {
        const { database } = cli.databaseConfig();
        const source = await databaseUrl(
          database,
          cliLog(cli.io, database.kind === 'url' ? [database.url.reveal()] : []),
        );
        try {
          return await (status === true ? check(cli, source.url) : bringUpToDate(cli, source.url));
        } finally {
          await source.stop();
        }
      }),
    );
}

async function check(cli: Cli, url: string): Promise<number> {
  const db = await Database.open({ url, poolSize: 2, onError: () => undefined });
  const { missing, unknown } = await schemaState(db.orm).finally(() => db.close());
  const current = missing.length === 0;
  await cli.print({ current, missing, unknown }, () => {
    if (!current) return `The schema lacks ${missing.join(', ')}. Run \`crossbill migrate\`.\n`;
    return unknown.length === 0
      ? 'The schema is current.\n'
      : `The schema is from a newer release (${unknown.join(', ')}); this one can use it.\n`;
  });
  return current ? EXIT.ok : EXIT.failed;
}

async function bringUpToDate(cli: Cli, url: string): Promise<number> {
  const migrations = await migrate(url, { signal: cli.io.signal }).catch((e: unknown) => {
    const lacksRight = sqlState(e) === LACKS_A_RIGHT && types.isNativeError(e);
    throw lacksRight ? new CliError(EXIT.failed, 'right_missing', `${e.message}: ${RIGHT_MISSING}.`) : e;
  });
  const done = migrations.length === 0 ? 'The schema is already current.\n' : `Done: ${migrations.join(', ')}\n`;
  await cli.print({ migrations }, () => done);
  return EXIT.ok;
}

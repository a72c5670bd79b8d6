// `crossbill migrate`: brings the schema up to date, one process at a time.
import { types } from 'node:util';
import { type Command } from 'commander';
import { databaseUrl, LACKS_A_RIGHT, RIGHT_MISSING } from '../open-database.js';
import { Database, sqlState } from '../store/database.js';
import { migrate, schemaState } from '../store/migrations.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Session } from './session.js';
import { cliLog } from './world.js';

export function addMigrate(program: Command, session: Session): void {
  session
    .leaf(program, 'migrate', 'bring the database schema up to date; replicas share a lock', async (cli) => {
      const config = cli.databaseConfig();
      const log = cliLog(cli.io, config.database.kind === 'url' ? [config.database.url.reveal()] : []);
      const source = await databaseUrl(config.database, log);
      try {
        if (cli.options['status'] === true) {
          const db = await Database.open({ url: source.url, poolSize: 2, onError: () => undefined });
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
        const done = await migrate(source.url, { signal: cli.io.signal }).catch((e: unknown) => {
          throw sqlState(e) === LACKS_A_RIGHT && types.isNativeError(e)
            ? new CliError(EXIT.failed, 'right_missing', `${e.message}: ${RIGHT_MISSING}.`)
            : e;
        });
        await cli.print({ migrations: done }, () =>
          done.length === 0 ? 'The schema is already current.\n' : `Done: ${done.join(', ')}\n`,
        );
        return EXIT.ok;
      } finally {
        await source.stop();
      }
    })
    .option('--status', 'only check; exit code 1 when the schema is behind');
}

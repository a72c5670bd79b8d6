// `crossbill migrate`: brings the schema up to date, one process at a time.
import { type Command } from 'commander';
import { databaseUrl } from '../open-database.js';
import { Database } from '../store/database.js';
import { isBehind, migrate } from '../store/migrations.js';
import { EXIT } from './exit-codes.js';
import { type Session } from './session.js';
import { cliLog } from './world.js';

export function addMigrate(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'migrate',
      'bring the schema of the database up to date, under a lock that replicas share',
      async (cli) => {
        const config = cli.databaseConfig();
        const log = cliLog(cli.io, config.database.kind === 'url' ? [config.database.url.reveal()] : []);
        const source = await databaseUrl(config.database, log);
        try {
          if (cli.options['status'] === true) {
            const db = await Database.open({ url: source.url, poolSize: 2, onError: () => undefined });
            const behind = await isBehind(db.orm).finally(() => db.close());
            await cli.print({ current: !behind }, () =>
              behind ? 'The schema is behind. Run `crossbill migrate`.\n' : 'The schema is current.\n',
            );
            return behind ? EXIT.failed : EXIT.ok;
          }
          const done = await migrate(source.url);
          await cli.print({ migrations: done }, () =>
            done.length === 0 ? 'The schema was current already.\n' : `Done: ${done.join(', ')}\n`,
          );
          return EXIT.ok;
        } finally {
          await source.stop();
        }
      },
    )
    .option('--status', 'only say whether it is current; exit code 1 when it is behind');
}

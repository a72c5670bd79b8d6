// `crossbill init` and `crossbill config print`: a settings file to start from, and the settings in force.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { redactedConfig } from '../config/index.js';
import { renderEnvExample } from '../config/env-example.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Session } from './session.js';
import { table } from './table.js';

export function addInit(program: Command, session: Session): void {
  session
    .leaf(program, 'init', 'write a commented .env with a generated API key; never overwrites', async (cli) => {
      const file = resolve(cli.io.cwd, String(cli.options['file']));
      const key = randomBytes(32).toString('hex');
      const text = renderEnvExample().replace(/^#?API_KEYS=.*$/m, `API_KEYS=operator:ops:${key}`);
      try {
        writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
      } catch (e) {
        const exists = typeof e === 'object' && e !== null && 'code' in e && e.code === 'EEXIST';
        const why = exists ? `${file} is there already and was left as it is.` : `${file} cannot be written.`;
        throw new CliError(EXIT.failed, exists ? 'exists' : 'not_written', `${why} Name another with --file.`);
      }
      await cli.print({ file }, () =>
        [
          `Wrote ${file} (only you can read it). Replace what stands in <angle brackets>, then:`,
          '',
          `  crossbill doctor --env-file ${String(cli.options['file'])}   # checks everything and says what to do`,
          '  docker compose up                # the daemon with PostgreSQL; docker-compose.yml reads .env',
          '  npm start                        # or without containers',
          '',
        ].join('\n'),
      );
      return EXIT.ok;
    })
    .option('--file <path>', 'where to write it', '.env');
  const config = program.command('config').description('the settings');
  session.leaf(config, 'print', 'the settings in force; secrets are named, never printed', async (cli) => {
    const shown = redactedConfig(cli.config());
    await cli.print(Object.fromEntries(shown.map((s) => [s.name, s.value])), () =>
      table(
        ['setting', 'value'],
        shown.map((s) => [s.name, s.value]),
      ),
    );
    return EXIT.ok;
  });
}

// `crossbill init` writes a first settings file and compose file. `crossbill config print` shows the settings in force.
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderEnvExample } from '../../shared/config/env-example.js';
import { redactedConfig } from '../../shared/config/index.js';
import { type Commands } from './commands.js';
import { CliError, EXIT } from './exit-codes.js';
import { table } from './table.js';

const COMPOSE = 'docker-compose.yml';

export function addInit(on: Commands): void {
  on.add('init', on.about)
    .option('--file <path>', 'the settings file; the compose file goes into the same folder', '.env')
    .action(
      on.run(async (cli, { file: name }) => {
        const file = resolve(cli.io.cwd, name);
        if (!written(file, startingSettings(), 0o600)) {
          const message = `${file} exists already, and Crossbill did not change it. Name another file with --file.`;
          throw new CliError(EXIT.failed, 'exists', message);
        }
        const compose = join(dirname(file), COMPOSE);
        const made = written(compose, composeFile(), 0o644);
        const steps = nextSteps(name, cli.io.cwd, file === join(cli.io.cwd, '.env')).join('\n');
        await cli.print(
          { file, compose_file: made ? compose : null },
          () => `Wrote ${file} (only you can read it)${made ? ` and ${compose}` : `; ${compose} was there already`}.
Replace the <angle brackets>, then:

${steps}
`,
        );
      }),
    );
}

export function addConfig(on: Commands): void {
  on.group('config', on.about)
    .add('print', 'the settings in force; secrets are named, never printed')
    .action(
      on.run(async (cli) => {
        const shown = redactedConfig(cli.config()).map((s) => [s.name, s.value] as const);
        await cli.print(Object.fromEntries(shown), () => table(['setting', 'value'], shown));
      }),
    );
}

/**
 * Writes a commented settings file with a new API key and new database passwords. The merchant fills in the <angle
 * brackets>.
 */
export function startingSettings(): string {
  const secret = (): string => randomBytes(32).toString('hex');
  return renderEnvExample(true)
    .replace(/^#?API_KEYS=.*$/m, `API_KEYS=operator:ops:${secret()}`)
    .replace(/^(POSTGRES_\w*PASSWORD)=$/gm, (_, name: string) => `${name}=${secret()}`);
}

/** The operator's next steps. `isRead`: true if the daemon and the command line read this file without an option. */
function nextSteps(file: string, cwd: string, isRead: boolean): string[] {
  // An installed package has no `npm start`, so the hint names the file of the daemon.
  const daemon = relative(cwd, fileURLToPath(new URL('../../main.js', import.meta.url)));
  const doctor = isRead ? 'crossbill doctor' : `crossbill doctor --env-file ${file}`;
  const steps = [
    [doctor, 'checks everything and says what to do'],
    ['docker compose up', 'the daemon with PostgreSQL; docker-compose.yml reads .env'],
    ...(isRead ? [[`node ${daemon}`, 'the daemon without containers; outside production it reads .env']] : []),
  ];
  const width = Math.max(...steps.map(([command = '']) => command.length));
  return steps.map(([command = '', what = '']) => `  ${command.padEnd(width)}   # ${what}`);
}

/** Writes a new file. Returns false if the file exists already. */
function written(file: string, text: string, mode: number): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx', mode });
    return true;
  } catch (e) {
    if (typeof e === 'object' && e !== null && 'code' in e && e.code === 'EEXIST') return false;
    throw new CliError(EXIT.failed, 'not_written', `Crossbill cannot write ${file}. Name another file with --file.`);
  }
}

/** Makes the compose file for an installation without the sources. The file has no build and no sandbox. */
function composeFile(): string {
  const own = readFileSync(new URL(`../../../${COMPOSE}`, import.meta.url), 'utf8');
  const services = own.slice(own.indexOf('name:')).replace(/^ +build: \.\n/gm, '');
  const head =
    '# The daemon with its PostgreSQL: docker compose up. Settings come from .env; DATABASE_URL is made here.\n\n';
  return head + services.replace(/\n {2}sandbox:\n[\s\S]*?(?=\nvolumes:)/, '');
}

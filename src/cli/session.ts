// One call of the command line: its settings, its output, and how each command is joined to the program.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Command, InvalidArgumentError, type OptionValues } from 'commander';
import { type Config, type DatabaseConfig, loadConfig, loadDatabaseConfig, withDotEnv } from '../config/index.js';
import { canBeKept } from '@crossbill/mor/kept-time.js';
import { readDay } from '../domain/day.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Io } from './io.js';
import { json, plain } from './table.js';
import { openWorld, type World } from './world.js';

/** What a command gets. */
export type Cli = {
  readonly io: Io;
  readonly json: boolean;
  readonly options: OptionValues;
  config(): Config;
  /** A variable that is no setting of the daemon's, of the environment or the settings file; blank is not set. */
  env(name: string): string | undefined;
  databaseConfig(): DatabaseConfig;
  /** Settings, database and flows; closed when the command ends. */
  open(): Promise<World>;
  /** Writes the result: as JSON when that was asked for, else as text. */
  print(value: unknown, text: () => string): Promise<void>;
  /** Asks for a yes unless `--yes` was given; says so when it is a no. Throws where nobody can be asked. */
  confirm(question: string): Promise<boolean>;
};

type Environment = Io['env'];

export type Action = (cli: Cli, args: readonly (string | undefined)[]) => Promise<number>;

export class Session {
  exitCode: number = EXIT.ok;
  /** Whether the command that ran was asked for JSON; errors are written that way then. */
  json = false;

  constructor(readonly io: Io) {}

  /** Adds a command that does something. Every one takes `--json` and `--env-file`. */
  leaf(
    parent: Command,
    usage: string,
    description: string,
    action: Action,
    /** What the parent does when it is given no command of its own. */
    isDefault = false,
  ): Command {
    return parent
      .command(usage, { isDefault })
      .description(description)
      .option('--json', 'write the result as JSON')
      .option('--env-file <path>', 'read settings from this file instead of .env; the environment wins')
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command;
        const options: OptionValues = command.optsWithGlobals();
        this.json = options['json'] === true;
        const opened: World[] = [];
        const cli = this.cliOf(options, opened);
        try {
          this.exitCode = await action(cli, command.processedArgs as (string | undefined)[]);
        } finally {
          for (const world of opened) await world.close();
        }
      });
  }

  private cliOf(options: OptionValues, opened: World[]): Cli {
    const { io } = this;
    let settings: Environment | null = null;
    const env = (): Environment => (settings ??= environment(io, options['envFile']));
    return {
      io,
      json: this.json,
      options,
      config: () => loadConfig(env()),
      env: (name) => env()[name]?.trim() || undefined,
      databaseConfig: () => loadDatabaseConfig(env()),
      async open() {
        const world = await openWorld(loadConfig(env()), io);
        opened.push(world);
        return world;
      },
      print: (value, text) => io.out(options['json'] === true ? json(value) : text()),
      async confirm(question) {
        if (options['yes'] === true) return true;
        if (!io.isTerminal) {
          throw new CliError(
            EXIT.usage,
            'needs_yes',
            `${plain(question)}\nThere is no terminal to ask on: add --yes to confirm.`,
          );
        }
        const yes = /^y(es)?$/i.test((await io.ask(`${plain(question)} [y/N] `)).trim());
        if (!yes) io.err('Nothing was done.\n');
        return yes;
      },
    };
  }
}

/** The environment, and beneath it the file that was named, or else `.env`: what is set in the environment wins. */
function environment(io: Io, file: unknown): Environment {
  if (typeof file !== 'string') {
    const { env, said } = withDotEnv(io.env, io.cwd);
    if (said !== null) io.err(`${said}\n`);
    return env;
  }
  let text: string;
  try {
    text = readFileSync(resolve(io.cwd, file), 'utf8');
  } catch {
    throw new CliError(EXIT.usage, 'env_file', `The file ${file} cannot be read. \`crossbill init\` makes one.`);
  }
  return { ...parseEnv(text), ...io.env };
}

/** One of these words; every other is an error, so that a misspelt filter never looks like an empty list. */
export function oneOf(words: readonly string[]): (text: string) => string {
  return (text) => {
    if (!words.includes(text)) throw new InvalidArgumentError(`Use one of ${words.join(', ')}.`);
    return text;
  };
}

/** `30d`, `12h`, or a date or time in UTC; the past only. */
export function parseSince(text: string): Date {
  const now = Date.now();
  const ago = /^(\d{1,5})([dh])$/.exec(text);
  const at =
    ago !== null
      ? now - Number(ago[1]) * (ago[2] === 'd' ? 86_400_000 : 3_600_000)
      : /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text)
        ? Date.parse(text)
        : NaN;
  if (!(at <= now && canBeKept(new Date(at))))
    throw new InvalidArgumentError('Use a past date such as 2026-01-01, or a span such as 30d or 12h.');
  return new Date(at);
}

/** With a point an amount as people write it, `12.50`; without one smallest units, `1250`. */
export function parseAmount(text: string): string {
  if (!/^(?:\d{1,15}\.\d{1,3}|[1-9]\d{0,14})$/.test(text)) {
    throw new InvalidArgumentError('Use an amount such as 12.50, or smallest units without a point: 1250.');
  }
  return text;
}

export function parseCount(max: number): (text: string) => number {
  return (text) => {
    const n = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (!(n >= 1 && n <= max)) throw new InvalidArgumentError(`Use a whole number from 1 to ${max}.`);
    return n;
  };
}

export function parseDay(text: string): Date {
  const day = readDay(text);
  if (day === null) throw new InvalidArgumentError('Use a day such as 2026-11-30.');
  return day;
}

/** The first argument; a command that needs it does not run without. */
export function need([value]: readonly (string | undefined)[]): string {
  if (value === undefined || value === '') throw new CliError(EXIT.usage, 'argument', 'an argument is missing');
  return value;
}

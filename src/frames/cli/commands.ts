// Adds a command to the program: its usage, the common options, and its action.
import { type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Cli } from './cli.js';
import { EXIT } from './exit-codes.js';
import { type Io } from './io.js';
import { parseCount } from './options.js';

/** The operator's tasks, in the order of `--help`, each with its heading. */
export const TASKS = {
  setup: 'To set up and go live:',
  look: 'To look:',
  act: 'To act:',
  try: 'To try it out:',
} as const;
export type Task = keyof typeof TASKS;

/** One run of the command line. */
export class Session {
  exitCode: number = EXIT.ok;
  /** True if the operator gave `--json`: then errors are JSON too. */
  json = false;

  /** @param argv the operator's words, without the program's name */
  constructor(
    readonly io: Io,
    readonly argv: readonly string[] = [],
  ) {}
}

/** One command in the list of `--help`. */
export type CommandRow = {
  readonly name: string;
  readonly about: string;
  /** Loads the command's module: it needs many others, and `--help` needs none. */
  readonly load: () => Promise<(on: Commands) => void>;
};

const WIDE = ['--wide', 'full values, on a terminal too; without it a table fits the width'] as const;

export class Commands {
  constructor(
    readonly parent: CommandUnknownOpts,
    readonly session: Session,
    /** What the command is for, from its row in the list. */
    readonly about: string,
  ) {}

  /** Adds a group of commands under one word, such as `events list`. */
  group(name: string, about: string): Commands {
    return new Commands(this.parent.command(name).description(about), this.session, about);
  }

  /**
   * Adds a command.
   * @param isDefault true: the group runs this command if the operator types only the group's name
   */
  add<Usage extends string>(usage: Usage, about: string, isDefault = false) {
    return this.parent
      .command(usage, { isDefault })
      .description(about)
      .option('--json', 'write the result as JSON')
      .option('--env-file <path>', 'read settings from this file instead of .env; the environment wins');
  }

  /** Adds a command for a list, with paging options under the API's names. */
  addList<Usage extends string>(usage: Usage, about: string, isDefault = false) {
    const limit = (text: string): string => String(parseCount(100)(text));
    return this.add(usage, about, isDefault)
      .option('--limit <n>', 'how many to list', limit, '20')
      .option('--cursor <cursor>', 'continue after this cursor')
      .option(...WIDE);
  }

  /** Adds a command for a report, which fits the width of a terminal. */
  addReport<Usage extends string>(usage: Usage, about: string) {
    return this.add(usage, about).option(...WIDE);
  }

  /** Sets the action of the command. `work` returns the exit code, or nothing for exit code 0. */
  run<Given extends unknown[]>(work: (cli: Cli, ...given: Given) => Promise<number | void>) {
    const { session } = this;
    return async function (this: CommandUnknownOpts, ...given: Given): Promise<void> {
      const options = this.optsWithGlobals();
      session.json = options['json'] === true;
      const { Cli } = await import('./cli.js'); // slow, and `--help` needs no action
      const cli = new Cli(session.io, options, session.argv);
      try {
        session.exitCode = (await work(cli, ...given)) ?? EXIT.ok;
      } finally {
        await cli.close();
      }
    };
  }
}

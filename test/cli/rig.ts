// The command line in this process: the test keeps its output and answers its questions.
import { type CommandUnknownOpts as Command } from '@commander-js/extra-typings';
import { runCli, wholeProgram } from '../../src/frames/cli/program.js';
import { Session } from '../../src/frames/cli/commands.js';
import { silentIo } from '../support/fakes/silent-io.js';

export type Ran = { readonly code: number; readonly out: string; readonly err: string };

export type CliOptions = {
  readonly cwd?: string;
  /** A person's answer at the terminal; left out: there is no terminal. */
  readonly reply?: string;
  /** The width of the terminal; left out: no terminal shows the results. */
  readonly columns?: number;
  /** Ends an endless command. */
  readonly signal?: AbortSignal;
  /** Receives each piece of the result as written. */
  readonly onOut?: (text: string) => void;
  /** Receives each message as written. */
  readonly onErr?: (text: string) => void;
};

export async function cli(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  { cwd = process.cwd(), reply, columns, signal = new AbortController().signal, onOut, onErr }: CliOptions = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCli(argv, {
    env,
    cwd,
    user: 'ada',
    out: (text) => {
      out += text;
      onOut?.(text);
      return Promise.resolve();
    },
    err: (text) => {
      err += text;
      onErr?.(text);
    },
    isTerminal: reply !== undefined,
    colours: false,
    columns: columns ?? null,
    ask: (question) => {
      err += question;
      return Promise.resolve(reply ?? '');
    },
    signal,
  });
  return { code, out, err };
}

/** The result of a command called for JSON. */
export async function cliJson<T = Record<string, unknown>>(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ran & { readonly body: T }> {
  const ran = await cli([...argv, '--json'], env);
  return { ...ran, body: JSON.parse(ran.out) as T };
}

/**
 * The names of the program's commands, and of those below them: `events`, `events list`. A new one is among them
 * automatically.
 */
export async function commandsOf(wanted: (command: Command) => boolean): Promise<string[]> {
  const walk = (command: Command, path: string): string[] =>
    command.commands.flatMap((c) => {
      const own = `${path} ${c.name()}`.trim();
      return [...(wanted(c) ? [own] : []), ...walk(c, own)];
    });
  return walk(await wholeProgram(new Session(silentIo())), '');
}

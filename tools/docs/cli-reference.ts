// Generates the reference of the command line from the commands themselves.
import { type CommandUnknownOpts as Command } from '@commander-js/extra-typings';
import { EXIT_HELP } from '#src/frames/cli/exit-codes.js';
import { type Io } from '#src/frames/cli/io.js';
import { wholeProgram } from '#src/frames/cli/program.js';
import { Session } from '#src/frames/cli/commands.js';
import { code, madeFrom, page, table } from './markdown.js';

const DAY_MS = 86_400_000;

/** The command line, built so that no command has an effect. */
export function commandLine(): Promise<Command> {
  const io: Io = {
    env: {},
    cwd: '/',
    user: 'docs',
    out: () => Promise.resolve(),
    err: () => undefined,
    isTerminal: false,
    colours: false,
    columns: null,
    ask: () => Promise.resolve(''),
    signal: new AbortController().signal,
  };
  return wholeProgram(new Session(io));
}

/** The commands that have an action, each with the words that call it: `events list`. */
export function commandsOf(command: Command, words: readonly string[] = []): { words: string; command: Command }[] {
  return command.commands.flatMap((c) => {
    const path = [...words, c.name()];
    return c.commands.length > 0 ? commandsOf(c, path) : [{ words: path.join(' '), command: c }];
  });
}

export async function renderCli(): Promise<string> {
  const program = await commandLine();
  return page([
    '# Command line',
    madeFrom('the commands in `src/frames/cli/`'),
    `\`crossbill\` stands for \`node dist/cli.js\`. ${program.description()}`,
    'Every command takes `--json` (the result as JSON), `--env-file <path>` (settings from a file; the environment wins) and `--help`. Results go to stdout; questions, progress and errors to stderr.',
    `\`\`\`text${EXIT_HELP}\`\`\``,
    ...commandsOf(program).map(section),
  ]);
}

function section({ words, command }: { words: string; command: Command }): string {
  const options = command.options.filter((o) => o.long !== '--json' && o.long !== '--env-file');
  return [
    `## ${words}`,
    ...(command.registeredArguments.length === 0 ? [] : [callOf(words, command)]),
    sentence(command.description()),
    ...(options.length === 0 ? [] : [table(['option', 'default', 'meaning'], options.map(row))]),
  ].join('\n\n');
}

function callOf(words: string, command: Command): string {
  return code(['crossbill', words, ...command.registeredArguments.map(argument)].join(' '));
}

function argument(command: Command['registeredArguments'][number]): string {
  const name = command.variadic ? `${command.name()}...` : command.name();
  return command.required ? `<${name}>` : `[${name}]`;
}

function row(command: Command['options'][number]): readonly string[] {
  return [
    code(command.flags),
    command.mandatory ? '**required**' : code(shownDefault(command.defaultValue)),
    command.description,
  ];
}

/** Writes a time as its distance from now, so the page is the same tomorrow. */
function shownDefault(value: unknown): string | null {
  if (value instanceof Date) return `${Math.round((Date.now() - value.getTime()) / DAY_MS)}d`;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return first.endsWith('.') ? first : `${first}.`;
}

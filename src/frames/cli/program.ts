// The command line as a function: it takes arguments and surroundings, and returns the exit code.
import { Command, CommanderError } from '@commander-js/extra-typings';
import { type Feature } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { VERSION } from '../../shared/config/version.js';
import { textCensor } from '../../shared/masks/secrets.js';
import { OF_CORE } from './command-list.js';
import { Commands, Session, type Task, TASKS } from './commands.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { type Io } from './io.js';
import { type CommandRows } from './slots.js';
import { json } from './table.js';

/** The command that reads all others. */
const COMPLETION = 'completion';

/** Runs one command. `argv` has no program name. Never throws; returns a code of `exit-codes.ts`. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const session = new Session(io, argv);
  const written: Promise<void>[] = [];
  const called = argv.find((word) => !word.startsWith('-'));
  try {
    const isCalled = (name: string): boolean => name === called || called === COMPLETION;
    const program = await programOf(session, (text) => void written.push(io.out(text)), isCalled);
    await program.parseAsync([...argv], { from: 'user' });
    await Promise.all(written);
    return session.exitCode;
  } catch (e) {
    await Promise.allSettled(written);
    // commander has already printed the reason
    if (e instanceof CommanderError) return e.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { explainError } = await import('./errors.js'); // slow
    const { exitCode, code, message } = explainError(e);
    const text = textCensor([])(message);
    if (session.json) await io.out(json({ error: { code, message: text } }));
    io.err(`${text}\n`);
    return exitCode;
  }
}

/** The program with all commands, for what reads them and calls none. */
export function wholeProgram(session: Session): Promise<Command> {
  return programOf(
    session,
    () => undefined,
    () => true,
  );
}

/** The program with its list of commands. Of the commands it loads only those that `isCalled` names. */
async function programOf(
  session: Session,
  write: (text: string) => void,
  isCalled: (name: string) => boolean,
): Promise<Command> {
  const program = new Command('crossbill')
    .description('Operate Crossbill, the bridge between Stripe Billing and the Merchant of Record.')
    .version(VERSION, '--version', 'the release')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('Add --help to see commands, options and examples.')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: (text) => session.io.err(text) });
  const ofFeatures = FEATURES.map(({ commands = {} }: Feature): CommandRows => commands);
  for (const [task, heading] of Object.entries(TASKS) as [Task, string][]) {
    program.commandsGroup(heading);
    for (const { name, about, load } of [OF_CORE, ...ofFeatures].flatMap((rows) => rows[task] ?? [])) {
      if (isCalled(name)) (await load())(new Commands(program, session, about));
      else program.command(name).description(about);
    }
  }
  return program;
}

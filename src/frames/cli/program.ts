// The command line as a function: it takes arguments and surroundings, and returns the exit code.
import { Command, CommanderError } from '@commander-js/extra-typings';
import { type Feature } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { VERSION } from '../../shared/config/index.js';
import { textCensor } from '../../shared/masks/secrets.js';
import { addAskMor } from './ask-mor.js';
import { Commands, Session, type Task, TASKS } from './commands.js';
import { addCompletion } from './completion.js';
import { addDoctor } from './doctor.js';
import { addErase } from './erase.js';
import { explainError } from './errors.js';
import { addEvents } from './events.js';
import { EXIT, EXIT_HELP } from './exit-codes.js';
import { addExplain } from './explain.js';
import { addExport } from './export.js';
import { addImport } from './import.js';
import { addInit } from './init.js';
import { type Io } from './io.js';
import { addLists } from './lists.js';
import { addMigrate } from './migrate.js';
import { addPrograms } from './programs.js';
import { addRebuild } from './rebuild.js';
import { addRefund } from './refund.js';
import { addRehearse } from './rehearse.js';
import { addReviews } from './reviews.js';
import { addSetup } from './setup.js';
import { type FeatureCommands } from './slots.js';
import { addStatus } from './status.js';
import { json } from './table.js';
import { addTrialBalance } from './trial-balance.js';
import { addWebhooks } from './webhooks.js';

/** The commands of the core, by task. Those of the features follow. */
const OF_CORE: Required<FeatureCommands> = {
  setup: [addInit, addSetup, addMigrate, addDoctor, addRehearse, addWebhooks, addImport],
  look: [addStatus, addExplain, addLists, addEvents, addReviews, addTrialBalance, addExport],
  act: [addRefund, addAskMor, addRebuild, addErase],
  try: [addPrograms, addCompletion],
};

const load = async ({ commands }: Feature): Promise<FeatureCommands> => (await commands?.()) ?? {};

const OF_FEATURES = await Promise.all(FEATURES.map(load));

/** Runs one command. `argv` has no program name. Never throws; returns a code of `exit-codes.ts`. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const session = new Session(io, argv);
  const written: Promise<void>[] = [];
  const program = programOf(session, (text) => void written.push(io.out(text)));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    await Promise.all(written);
    return session.exitCode;
  } catch (e) {
    await Promise.allSettled(written);
    // commander has already printed the reason
    if (e instanceof CommanderError) return e.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const { exitCode, code, message } = explainError(e);
    const text = textCensor([])(message);
    if (session.json) await io.out(json({ error: { code, message: text } }));
    io.err(`${text}\n`);
    return exitCode;
  }
}

export function programOf(session: Session, write: (text: string) => void): Command {
  const program = new Command('crossbill')
    .description('Operate Crossbill, the bridge between Stripe Billing and the Merchant of Record.')
    .version(VERSION, '--version', 'the release')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('Add --help to see commands, options and examples.')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: (text) => session.io.err(text) });
  for (const [task, heading] of Object.entries(TASKS) as [Task, string][]) {
    program.commandsGroup(heading);
    const commands = [...OF_CORE[task], ...OF_FEATURES.flatMap((of) => of[task] ?? [])];
    for (const add of commands) add(new Commands(program, session));
  }
  return program;
}

// The command line as a function: arguments and surroundings in, exit code out.
import { Command, CommanderError } from 'commander';
import { ConfigError, VERSION } from '../config/index.js';
import { textCensor } from '../observe/index.js';
import { BadCursor } from '../domain/page.js';
import { StoreUnavailable } from '../domain/errors.js';
import { DatabaseRefused, isUnavailable } from '../store/database.js';
import { addAskMor } from './ask-mor.js';
import { addCompletion } from './completion.js';
import { addDoctor } from './doctor.js';
import { addErase } from './erase.js';
import { addEvents } from './events.js';
import { CliError, EXIT, EXIT_HELP } from './exit-codes.js';
import { addExplain } from './explain.js';
import { addExport } from './export.js';
import { addImport } from './import.js';
import { addInit } from './init.js';
import { type Io } from './io.js';
import { addLists } from './lists.js';
import { addMigrate } from './migrate.js';
import { addMove } from './move.js';
import { addNotifications } from './notifications.js';
import { addOnboard } from './onboard.js';
import { addPrograms } from './programs.js';
import { addRebuild } from './rebuild.js';
import { addRehearse } from './rehearse.js';
import { addRefund } from './refund.js';
import { addReturned } from './returned.js';
import { addReviews } from './reviews.js';
import { Session } from './session.js';
import { addSetup } from './setup.js';
import { addShadow } from './shadow.js';
import { addStatus } from './status.js';
import { json } from './table.js';
import { addTrialBalance } from './trial-balance.js';
import { addVerify } from './verify.js';
import { addWebhooks } from './webhooks.js';

/** Runs one command. `argv` without the program's own names. Never throws; gives one of the codes of `exit-codes.ts`. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const session = new Session(io);
  const written: Promise<void>[] = [];
  const program = programOf(session, (text) => void written.push(io.out(text)));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    await Promise.all(written);
    return session.exitCode;
  } catch (e) {
    await Promise.allSettled(written);
    if (e instanceof CommanderError) return e.exitCode === 0 ? EXIT.ok : EXIT.usage; // commander has said what is wrong
    return complain(e, session);
  }
}

export function programOf(session: Session, write: (text: string) => void): Command {
  const program = new Command('crossbill')
    .description('Operate Crossbill, the bridge between Stripe Billing and the Merchant of Record.')
    .version(VERSION, '--version', 'the release')
    .addHelpText('after', EXIT_HELP)
    .showHelpAfterError('Run with --help to list commands.')
    .exitOverride()
    .configureOutput({ writeOut: write, writeErr: (text) => session.io.err(text) });
  for (const add of [
    addInit,
    addSetup,
    addMigrate,
    addDoctor,
    addRehearse,
    addStatus,
    addEvents,
    addLists,
    addReviews,
    addExplain,
    addImport,
    addMove,
    addRefund,
    addReturned,
    addVerify,
    addAskMor,
    addShadow,
    addExport,
    addTrialBalance,
    addWebhooks,
    addNotifications,
    addOnboard,
    addErase,
    addRebuild,
    addPrograms,
    addCompletion,
  ]) {
    add(program, session);
  }
  return program;
}

/** Says what is wrong and what to do. Never a stack, never a secret. */
async function complain(e: unknown, session: Session): Promise<number> {
  const { exitCode, code, message } = explained(e);
  const text = textCensor([])(message);
  if (session.json) await session.io.out(json({ error: { code, message: text } }));
  session.io.err(`${text}\n`);
  return exitCode;
}

function explained(e: unknown): { exitCode: number; code: string; message: string } {
  if (e instanceof CliError) return e;
  if (e instanceof ConfigError) {
    const message = `${e.message}\nSet them in the environment, in .env of this folder, or in a file given with --env-file; \`crossbill init\` writes one.`;
    return { exitCode: EXIT.config, code: e.code, message };
  }
  if (e instanceof BadCursor) return { exitCode: EXIT.usage, code: e.code, message: 'The cursor is not one of ours.' };
  if (isOfEmbeddedPostgres(e)) return { exitCode: EXIT.unreachable, code: e.code, message: e.message };
  if (e instanceof DatabaseRefused) return { exitCode: EXIT.failed, code: e.code, message: e.message };
  if (e instanceof StoreUnavailable || isUnavailable(e)) {
    const why = e instanceof Error ? e.message : 'no answer';
    const message = `The database does not answer (${why}). See that it runs and that DATABASE_URL is right.`;
    return { exitCode: EXIT.unreachable, code: 'database_unavailable', message };
  }
  return { exitCode: EXIT.failed, code: 'failed', message: e instanceof Error ? e.message : 'The command failed.' };
}

/** By its name: an image without the embedded PostgreSQL can't load its class. */
function isOfEmbeddedPostgres(e: unknown): e is Error & { readonly code: string } {
  return e instanceof Error && e.name === 'EmbeddedPostgresError' && 'code' in e && typeof e.code === 'string';
}

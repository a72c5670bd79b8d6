// `crossbill demo` and `crossbill sandbox`: each starts a program of the package @crossbill/sandbox.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Commands } from './commands.js';
import { CliError, EXIT } from './exit-codes.js';

const SANDBOX_SETTINGS = `
Settings, all optional:
  SANDBOX_STRIPE_PORT, SANDBOX_MOR_PORT   where it listens (4010, 4020; 0 takes any free port)
  SANDBOX_HOST                            the address to listen on (127.0.0.1)
  SANDBOX_SEED                            the same seed makes the same ids and outcomes
  SANDBOX_PSP                             the processor's part of the MoR's routes (cardpsp)
  SANDBOX_STRIPE_WEBHOOK_URL, SANDBOX_PAYMENT_WEBHOOK_URL, SANDBOX_EVENT_WEBHOOK_URL
                                          where it delivers events (the endpoints of http://127.0.0.1:3000)

The sandbox prints the settings of a matching daemon, as NAME=value lines.
`;

export function addDemo({ parent, session, about }: Commands): void {
  parent
    .command('demo')
    .description(about)
    .helpOption(false) // the demo prints its own help
    .allowUnknownOption()
    .argument('[options...]')
    .action(async (options) => {
      session.exitCode = await run('demo', options, session.io.signal);
    });
}

export function addSandbox({ parent, session, about }: Commands): void {
  parent
    .command('sandbox')
    .description(about)
    .option('--json', 'the settings as one JSON object')
    .addHelpText('after', SANDBOX_SETTINGS)
    .action(async ({ json = false }) => {
      session.exitCode = await run('sandbox', json ? ['--json'] : [], session.io.signal);
    });
}

/**
 * Runs the program and returns its exit code. On a terminal Ctrl-C reaches both processes. Without a terminal Crossbill
 * passes the signal on.
 */
function run(name: string, argv: readonly string[], signal: AbortSignal): Promise<number> {
  const main = programOf(name);
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...argv], { stdio: 'inherit' });
    const end = (): void => void child.kill('SIGTERM');
    if (!process.stdin.isTTY) signal.addEventListener('abort', end);
    child.once('error', reject);
    child.once('exit', (code, by) => {
      signal.removeEventListener('abort', end);
      resolve(code ?? 128 + (by === null ? 0 : constants.signals[by]));
    });
  });
}

/** Finds the program. Throws a CliError if its package is not installed, as in the container image. */
function programOf(name: string): string {
  try {
    return fileURLToPath(import.meta.resolve(`@crossbill/sandbox/${name === 'demo' ? 'demo/main.js' : 'main.js'}`));
  } catch {
    const message = 'The package @crossbill/sandbox is not installed here. Install it: npm install @crossbill/sandbox';
    throw new CliError(EXIT.failed, 'sandbox_missing', message);
  }
}

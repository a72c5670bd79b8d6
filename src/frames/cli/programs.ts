// `crossbill start`, `crossbill demo` and `crossbill sandbox`: each runs a program of its own.
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

/** The flags of V8 for the daemon; main.ts says why. */
const DAEMON_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=70'];

export function addStart({ parent, session, about }: Commands): void {
  parent
    .command('start')
    .description(about)
    .option('--json', 'log lines as JSON, as without a terminal')
    .action(async ({ json = false }) => {
      const daemon = [...DAEMON_FLAGS, fileURLToPath(new URL('../../main.js', import.meta.url))];
      session.exitCode = await run(daemon, json ? 'pipe' : 'inherit', session.io.signal);
    });
}

export function addDemo({ parent, session, about }: Commands): void {
  parent
    .command('demo')
    .description(about)
    .helpOption(false) // the demo prints its own help
    .allowUnknownOption()
    .argument('[options...]')
    .action(async (options) => {
      session.exitCode = await run([programOf('demo'), ...options], 'inherit', session.io.signal);
    });
}

export function addSandbox({ parent, session, about }: Commands): void {
  parent
    .command('sandbox')
    .description(about)
    .option('--json', 'the settings as one JSON object')
    .addHelpText('after', SANDBOX_SETTINGS)
    .action(async ({ json = false }) => {
      session.exitCode = await run([programOf('sandbox'), ...(json ? ['--json'] : [])], 'inherit', session.io.signal);
    });
}

/**
 * Runs Node with these arguments and returns its exit code. On a terminal Ctrl-C reaches both processes. Without a terminal Crossbill
 * passes the signal on.
 */
function run(argv: readonly string[], output: 'inherit' | 'pipe', signal: AbortSignal): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { stdio: ['inherit', output, 'inherit'] });
    child.stdout?.pipe(process.stdout);
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

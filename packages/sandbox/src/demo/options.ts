// The options of the demo, and its environment variables.
import { Command, InvalidArgumentError } from 'commander';

export type DemoOptions = {
  readonly customers: number;
  readonly months: number;
  readonly seed: string;
  readonly once: boolean;
  /** True: the result is JSON on stdout, and everything else goes to stderr. */
  readonly json: boolean;
};

function count(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,6}$/.test(text) || value < 1 || value > most) throw new InvalidArgumentError(`must be 1 to ${most}`);
    return value;
  };
}

/**
 * Ends the process with a message if an option is wrong. With the defaults the demo takes less than two minutes on two
 * cores.
 */
export function readOptions(argv: readonly string[]): DemoOptions {
  const program = new Command('demo')
    .description('Starts PostgreSQL, the sandbox and the daemon, drives months of subscriptions, and checks the books.')
    .option('--customers <n>', 'how many customers sign up', count(1000), 12)
    .option('--months <m>', 'how many months of renewals follow', count(24), 3)
    .option('--seed <s>', 'the same seed makes the same customers and outcomes', 'crossbill')
    .option('--once', 'end with the story: exit code 0 only if the books agree', false)
    .option('--json', 'the result as JSON; progress goes to stderr', false);
  program.parse([...argv], { from: 'user' });
  return program.opts<DemoOptions>();
}

/** The environment for the daemon: the variables every program needs, and no settings of the demo's own shell. */
export function handedOn(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'SystemRoot']) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

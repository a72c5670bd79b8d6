// The options of `npm run chaos`.
import { Command, InvalidArgumentError, Option } from 'commander';

export type ChaosOptions = {
  /** How long the strikes go on. The whole run takes some minutes more. */
  readonly minutes: number;
  readonly seed: string;
  /** The average number of seconds between two strikes. */
  readonly every: number;
  readonly pgbouncer: boolean;
  readonly failover: 'sync' | 'async' | 'patroni' | undefined;
  readonly diskFull: boolean;
  readonly keep: boolean;
};

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,5}(\.\d{1,3})?$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`must be ${least} to ${most}`);
    return value;
  };
}

/** Ends the process with a message on a wrong option. */
export function readOptions(argv: readonly string[]): ChaosOptions {
  const program = new Command('chaos')
    .description(
      'Kills two daemons, their PostgreSQL and the networks between them while a merchant lives on, and compares all books.',
    )
    .option('--minutes <m>', 'how long strikes go on', number(0.1, 24 * 60), 30)
    .option('--seed <s>', 'the same seed draws the same strikes', 'crossbill')
    .option('--every <seconds>', 'from one strike to the next, on average', number(0.5, 600), 9)
    .option('--pgbouncer', 'PgBouncer in session mode in front of PostgreSQL, killed as well', false)
    .addOption(
      new Option('--failover <how>', 'instead: the primary dies under load and its standby takes over').choices([
        'sync',
        'async',
        'patroni',
      ]),
    )
    .option('--disk-full', "instead: fill PostgreSQL's disk under load and free it", false)
    .option('--keep', 'keep the logs of a clean run, too', false);
  program.parse([...argv], { from: 'user' });
  return program.opts<ChaosOptions>();
}

// Runs a comparison for a command: with progress on stderr, and the exit code of its outcome.
import { showCounts } from '../../shared/domain/difference.js';
import { type CompareOptions, type Compared } from '../../shared/domain/ports/differences.js';
import { STRIPE_EVENTS_KEPT_MS } from '../../shared/policy.js';
import { type Cli } from './cli.js';
import { EXIT } from './exit-codes.js';

/** Compares once for a waiting person. `since`: what Stripe made since this time. */
export function compare<C extends Compared>(
  cli: Cli,
  since: Date,
  run: (options: CompareOptions) => Promise<C>,
): Promise<C> {
  if (Date.now() - since.getTime() > STRIPE_EVENTS_KEPT_MS + 2 * 3_600_000)
    cli.io.err('Stripe lists events for 30 days only. For earlier days Crossbill compares only invoices.\n');
  return cli.watch((progress) =>
    run({
      since,
      recent: true,
      signal: cli.io.signal,
      onProgress: (compared) => progress.say(`compared ${showCounts(compared)}`),
    }),
  );
}

export function exitCode({ outcome }: Pick<Compared, 'outcome'>): number {
  if (outcome === 'incomplete') return EXIT.unreachable;
  return outcome === 'clean' ? EXIT.ok : EXIT.differences;
}

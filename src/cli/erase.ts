// `crossbill erase <customer>` and `crossbill purge`: personal data goes, the books stay.
import { type Command } from 'commander';
import { Erasure } from '../engine/erasure.js';
import { FORGET_REASONS } from '../store/pg-notifications.js';
import { FORGET_NOTES } from '../verify/difference-ack.entity.js';
import { CliError, EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { need, parseSince, type Session } from './session.js';
import { plain } from './table.js';

export function addErase(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'erase <customer>',
      "erase a customer's names, e-mails and addresses; amounts, ids and hashes stay",
      async (cli, args) => {
        const customer = need(args);
        const world = await cli.open();
        const erasure = new Erasure(world.db, [FORGET_NOTES, FORGET_REASONS]);
        if (!(await erasure.knows(customer))) {
          throw new CliError(EXIT.failed, 'not_found', `Crossbill knows no customer ${plain(customer)}.`);
        }
        if (!(await cli.confirm(`Erase the personal data of customer ${customer}, for good?`))) return EXIT.failed;
        const erased = await world.change(
          'customer.erase',
          customer,
          () => erasure.eraseCustomer(customer),
          (gone) => ({ detail: { ...gone } }),
        );
        await cli.print({ customer_id: customer, ...erased }, () =>
          [
            `Erased of ${plain(customer)}, on ${erased.invoices} invoices: ${erased.events} event bodies, ${erased.signups} signup requests, ${erased.quarantined} quarantine copies, ${erased.calls} call bodies, ${erased.texts} notes and reasons.`,
            erased.waiting === 0
              ? ''
              : `${erased.waiting} events or calls are still under way, parked, or in quarantine, and need their data: run this again later.`,
            'Stripe and the MoR keep data of their own: erase it there too.',
            '',
          ]
            .filter((line, i, all) => line !== '' || i === all.length - 1)
            .join('\n'),
        );
        return erased.waiting === 0 ? EXIT.ok : EXIT.unfinished;
      },
    )
    .option('--yes', 'do not ask for confirmation');
  session
    .leaf(
      program,
      'purge',
      'delete raw bodies of events of past months; ids and hashes stay, so repeats are still recognised',
      async (cli) => {
        const before = cli.options['olderThan'] as Date;
        if (!(await cli.confirm(`Drop raw bodies from before ${before.toISOString()}, for good?`))) return EXIT.failed;
        const world = await cli.open();
        const progress = new Progress(cli.io);
        const dropping = (dropped: number): void => progress.say(`dropped ${dropped} bodies`);
        const purged = await world
          .change(
            'bodies.purge',
            null,
            () => new Erasure(world.db).purge(before, dropping),
            (gone) => ({ detail: { before: before.toISOString(), ...gone } }),
          )
          .finally(() => progress.end());
        await cli.print(
          { before, ...purged },
          () =>
            `Dropped ${purged.events} event bodies, ${purged.quarantined} quarantine copies and ${purged.calls} call bodies.\n`,
        );
        return EXIT.ok;
      },
    )
    .requiredOption('--older-than <age>', 'for example 90d', parseSince)
    .option('--yes', 'do not ask for confirmation');
}

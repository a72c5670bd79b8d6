// `crossbill erase <customer>` and `crossbill purge`: delete personal data, and keep the ledger.
import { ERASED_PARTS } from '../../core/lanes/erased-parts.js';
import { Erasure } from '../../engine/erasure.js';
import { type Commands } from './commands.js';
import { EXIT, unknown } from './exit-codes.js';
import { parseSince } from './options.js';
import { plain } from './table.js';

export function addErase(on: Commands): void {
  on.add('erase <customer>', on.about)
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, customer) => {
        const app = await cli.open();
        const erasure = new Erasure(app.db, ERASED_PARTS);
        if (!(await erasure.knows(customer))) throw unknown(`Crossbill knows no customer ${plain(customer)}.`);
        await cli.confirm(`Erase the personal data of customer ${customer}, for good?`);
        const work = () => erasure.eraseCustomer(customer);
        const erased = await app.change('customer.erase', customer, work, (gone) => ({ detail: { ...gone } }));
        const { invoices, events, signups, quarantined, calls, texts, waiting } = erased;
        await cli.print({ customer_id: customer, ...erased }, () =>
          [
            `Erased for customer ${plain(customer)}, on ${invoices} invoices: ${events} event bodies, ${signups} signup requests, ${quarantined} quarantine copies, ${calls} call bodies, ${texts} notes and reasons.\n`,
            waiting === 0
              ? ''
              : `${waiting} events or calls are under way, parked or in quarantine: Crossbill still needs their data. Run this again later.\n`,
            'Stripe and the MoR keep data of their own: erase it there too.\n',
          ].join(''),
        );
        return waiting === 0 ? EXIT.ok : EXIT.unfinished;
      }),
    );
}

export function addPurge(on: Commands): void {
  on.add('purge', on.about)
    .requiredOption('--older-than <age>', 'for example 90d', parseSince)
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, { olderThan: before }) => {
        await cli.confirm(`Drop raw bodies from before ${before.toISOString()}, for good?`);
        const app = await cli.open();
        const purged = await cli.watch((progress) =>
          app.change(
            'bodies.purge',
            null,
            () =>
              new Erasure(app.db, ERASED_PARTS).purge(before, (dropped) => progress.say(`dropped ${dropped} bodies`)),
            (gone) => ({ detail: { before: before.toISOString(), ...gone } }),
          ),
        );
        const { events, quarantined, calls } = purged;
        await cli.print(
          { before, ...purged },
          () => `Dropped ${events} event bodies, ${quarantined} quarantine copies and ${calls} call bodies.\n`,
        );
      }),
    );
}

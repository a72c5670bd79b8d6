// `crossbill retry <id>`: retries a failed renewal now, as the API does, or decides an event again.
import { requestName } from '../../frames/api/http/idempotency.js';
import { InvoicesController } from '../../core/invoices/invoices.controller.js';
import { retriedOrProblem } from './retried.view.js';
import { RetriesService } from './retries.service.js';
import { type Cli, sayRepeat } from '../../frames/cli/cli.js';
import { type Commands } from '../../frames/cli/commands.js';
import { retryEvents } from '../../frames/cli/events.js';
import { wrongUsage } from '../../frames/cli/exit-codes.js';
import { KEY_SCOPE } from '../../frames/cli/refund.js';
import { amount } from '../../frames/cli/table.js';

export function addRetry(on: Commands): void {
  on.add('retry [id]', on.about)
    .option('--all-parked', 'every parked event')
    .option('--key <text>', 'for an invoice: the same key never tries twice; default: a new retry')
    .option('--yes', 'for an invoice: do not ask for confirmation')
    .action(
      on.run((cli, id, { allParked, key }) => {
        // Ids of events begin with ie_, iq_ or evt_; ids of invoices with in_.
        if (id?.startsWith('in_') !== true) return retryEvents(cli, id, allParked);
        if (allParked === true) throw wrongUsage('Use --all-parked alone, or name an invoice without it.');
        return retryInvoice(cli, id, key);
      }),
    );
}

async function retryInvoice(cli: Cli, id: string, given: string | undefined): Promise<void> {
  const app = await cli.open();
  const invoices = app.get(InvoicesController);
  const { amount_remaining: minor, currency, customer_id: customer } = await invoices.one(id);
  const due = amount(minor === null ? null : BigInt(minor), currency?.toUpperCase() ?? null);
  await cli.confirm(`Try to collect ${due} of customer ${customer ?? 'unknown'} (invoice ${id}) again?`);
  const { made, repeat } = await cli.keyed(given, (key) => {
    const name = requestName(KEY_SCOPE, `/v1/invoices/${id}/retry`, key, '');
    return app.change(
      'invoice.retry',
      id,
      async () => retriedOrProblem(await app.get(RetriesService).retry(id, cli.by, name)),
      (r) => ({ detail: { number: r.number, means: r.means } }),
    );
  });
  await cli.print({ ...(await invoices.one(id)), repeat }, () => {
    const does = made.means === 'charge' ? 'Crossbill asks the MoR to charge' : 'Crossbill makes a payment link';
    const what = made.number === null ? 'The first charge' : `Retry ${made.number}`;
    return `${what} of invoice ${id}: ${does}. \`crossbill explain ${id}\` shows the outcome.\n${sayRepeat(repeat)}\n`;
  });
}

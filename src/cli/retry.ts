// `crossbill retry <invoice>`: a failed renewal is tried again now, through the same flow as the API.
import { ReadModel } from '../engine/read-model.js';
import { type Retry } from '../domain/retry.js';
import { RetriesFlow } from '../retries/retries.flow.js';
import { retriesView } from '../retries/retry.view.js';
import { CliError, doneOrFailed, EXIT } from './exit-codes.js';
import { cliRequest } from './request-name.js';
import { type Cli } from './session.js';
import { amount } from './table.js';
import { actorOf } from './world.js';

/** Invoices of Stripe; our own ids of events begin with `ie_` and `iq_`, the senders' with `evt_`. */
export function isInvoiceId(id: string): boolean {
  return id.startsWith('in_');
}

export async function retryInvoice(cli: Cli, id: string): Promise<number> {
  const world = await cli.open();
  const books = world.get(ReadModel);
  const found = await books.invoice(id);
  if (found === null) throw new CliError(EXIT.failed, 'not_found', `There is no invoice ${id}.`);
  const { invoice } = found;
  const due = amount(invoice.amountRemaining, invoice.currency);
  if (
    !(await cli.confirm(`Try to collect ${due} of customer ${invoice.customerId ?? 'unknown'} (invoice ${id}) again?`))
  )
    return EXIT.failed;
  const key = typeof cli.options['key'] === 'string' ? cli.options['key'] : null;
  const name = key === null ? null : { ...cliRequest(key, ''), method: 'POST', path: `/v1/invoices/${id}/retry` };
  const made = await world.change(
    'invoice.retry',
    id,
    async () => {
      const done = await world.get(RetriesFlow).retry(id, actorOf(cli.io), name);
      if (!done.ok && 'silent' in done)
        throw new CliError(
          EXIT.unreachable,
          'billing_unavailable',
          `Stripe did not return the invoice: ${done.silent.message}`,
        );
      return doneOrFailed(done);
    },
    (r) => ({ detail: { number: r.number, means: r.means } }),
  );
  const now = (await books.invoice(id))?.invoice ?? invoice;
  await cli.print({ invoice_id: id, next_try_at: now.nextTryAt, retries: retriesView(now) }, () => sentence(id, made));
  return EXIT.ok;
}

function sentence(id: string, r: Retry): string {
  return r.means === 'charge'
    ? `Retry ${r.number} of invoice ${id}: the MoR is asked to charge again. \`crossbill explain ${id}\` shows its answer.\n`
    : `Retry ${r.number} of invoice ${id}: a payment link is made. \`crossbill explain ${id}\` shows it.\n`;
}

// `crossbill returned <payment>`: a person records that a bank took a debit back, or undoes that.
import { randomUUID } from 'node:crypto';
import { type Command } from 'commander';
import { ReadModel } from '../engine/read-model.js';
import { ReturnsFlow } from '../returns/returns.flow.js';
import { returnView } from '../returns/return.view.js';
import { CliError, doneOrFailed, EXIT } from './exit-codes.js';
import { cliRequest } from './request-name.js';
import { type Cli, need, parseDay, type Session } from './session.js';
import { amount } from './table.js';
import { actorOf } from './world.js';

export function addReturned(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'returned <payment>',
      'record that a bank returned a debit: books the loss, asks about the invoice',
      returned,
    )
    .option('--reference <text>', 'where it stands, for example "bank statement, line 12"')
    .option(
      '--on <day>',
      'the day on which the bank took it back (UTC), whose month the loss is of; default: today',
      parseDay,
    )
    .option('--undo', 'it was recorded by mistake: a further entry reverses the loss')
    .option('--key <text>', 'the same key never records twice; default: a new request')
    .option('--yes', 'do not ask');
}

async function returned(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const id = need(args);
  const { reference, key, undo, on } = cli.options as { reference?: string; key?: string; undo?: boolean; on?: Date };
  if (on !== undefined && undo === true) throw new CliError(EXIT.usage, 'usage', '--on is not for --undo');
  if (reference !== undefined && (undo === true || !/^[^\p{Cc}]{1,255}$/u.test(reference))) {
    throw new CliError(EXIT.usage, 'usage', '--reference is one line of at most 255 characters, and not for --undo');
  }
  const world = await cli.open();
  const found = await world.get(ReadModel).payment(id);
  if (found === null) throw new CliError(EXIT.failed, 'payment_not_found', `There is no payment ${id}.`);
  const { payment } = found;
  const of = `${amount(payment.amount, payment.currency)} of customer ${payment.customerId} (invoice ${payment.invoiceId})`;
  const question =
    undo === true
      ? `Undo the return of payment ${id}, ${of}? Its loss is reversed in the ledger.`
      : `Did the bank return payment ${id}, ${of}? What remains of it is booked as lost; nothing changes on Stripe.`;
  if (!(await cli.confirm(question))) return EXIT.failed;
  const asked = JSON.stringify({ reference: reference ?? null, ...(on === undefined ? {} : { on }) });
  const name = cliRequest(key ?? randomUUID(), asked);
  const flow = world.get(ReturnsFlow);
  const by = actorOf(cli.io);
  const row = await world.change(
    undo === true ? 'payment.returned.undo' : 'payment.returned',
    id,
    async () =>
      doneOrFailed(
        undo === true
          ? await flow.undo(id, by, name)
          : await flow.record(id, { by, reference: reference ?? null, on: on ?? null }, name),
      ),
    (made) => ({ detail: { id: made.id } }),
  );
  const what = amount(row.amount, row.currency);
  await cli.print(returnView(row, payment), () =>
    row.status === 'returned'
      ? `Return ${row.id}: ${what} is booked as lost. \`crossbill reviews\` asks what to do about invoice ${row.invoiceId}.\n`
      : `Return ${row.id} is undone: the loss of ${what} is reversed.\n`,
  );
  return EXIT.ok;
}

// `crossbill returned <payment>`: records a debit returned by the customer's bank, or undoes the record.
import { paymentRequestName } from '../../../frames/api/http/idempotency.js';
import { valueOrProblem } from '../../../frames/api/http/problem.js';
import { ReadModel } from '../../../engine/read-model.js';
import { returnView } from './return.view.js';
import { ReturnsService } from './returns.service.js';
import { sayRepeat } from '../../../frames/cli/cli.js';
import { type Commands } from '../../../frames/cli/commands.js';
import { CliError, EXIT, wrongUsage } from '../../../frames/cli/exit-codes.js';
import { parseDay, parseLine } from '../../../frames/cli/options.js';
import { KEY_SCOPE } from '../../../frames/cli/refund.js';
import { amount } from '../../../frames/cli/table.js';

export function addReturned(on: Commands): void {
  on.add('returned <payment>', on.about)
    .option('--reference <text>', 'your source, for example "bank statement, line 12"', parseLine())
    .option('--on <day>', 'the day of the return (UTC): the loss belongs to its month; default: today', parseDay)
    .option('--undo', 'undo a record made by mistake: a further entry reverses the loss')
    .option('--key <text>', 'the same key never records twice; default: a new request')
    .option('--yes', 'do not ask')
    .action(
      on.run(async (cli, id, { reference = null, key: given, undo, on: day = null }) => {
        if (undo === true && (day !== null || reference !== null))
          throw wrongUsage('Do not use --on or --reference with --undo.');
        const app = await cli.open();
        const found = await app.get(ReadModel).payment(id);
        if (found === null) throw new CliError(EXIT.failed, 'payment_not_found', `There is no payment ${id}.`);
        const { payment } = found;
        const of = `${amount(payment.amount, payment.currency)} of customer ${payment.customerId} (invoice ${payment.invoiceId})`;
        await cli.confirm(
          undo === true
            ? `Undo the return of payment ${id}, ${of}? The ledger reverses its loss.`
            : `Did the bank return payment ${id}, ${of}? Crossbill books the rest as lost. Stripe stays as it is.`,
        );
        const service = app.get(ReturnsService);
        const body = { reference, on: day?.toISOString() ?? null };
        const { made: row, repeat } = await cli.keyed(given, (key) => {
          const name = paymentRequestName(KEY_SCOPE, key, body);
          return app.change(
            undo === true ? 'payment.returned.undo' : 'payment.returned',
            id,
            async () =>
              valueOrProblem(
                undo === true
                  ? await service.undo(id, cli.by, name)
                  : await service.record(id, { by: cli.by, reference, on: day }, name),
              ),
            (made) => ({ detail: { id: made.id } }),
          );
        });
        const what = amount(row.amount, row.currency);
        const text =
          row.status === 'returned'
            ? `Return ${row.id}: the ledger shows ${what} as lost. Decide about invoice ${row.invoiceId}: \`crossbill reviews\`.\n`
            : `Return ${row.id} is undone: the loss of ${what} is reversed.\n`;
        await cli.print({ ...returnView(row, payment), repeat }, () => `${text}${sayRepeat(repeat)}\n`);
      }),
    );
}

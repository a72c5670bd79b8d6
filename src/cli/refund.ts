// `crossbill refund <payment>`: refunds a payment as the API does, and prints the outcome.
import { randomUUID } from 'node:crypto';
import { paymentRequestName } from '../api/http/idempotency.js';
import { valueOrProblem } from '../api/http/problem.js';
import { type RefundRow } from '../domain/model.js';
import { decimalsOf, minorFromDecimal } from '../domain/money.js';
import { refundable } from '../domain/status.js';
import { type ListedRefund, ReadModel } from '../engine/read-model.js';
import { PaymentsController } from '../payments/payments.controller.js';
import { listedRefundView } from '../refunds/refund.view.js';
import { RefundsFlow } from '../refunds/refunds.flow.js';
import { type Commands } from './commands.js';
import { CliError, EXIT, wrongUsage } from './exit-codes.js';
import { parseAmount, parseCount, parsePaymentId } from './options.js';
import { amount } from './table.js';

/** The scope of idempotency keys. All operators share it: a colleague's repeat under the same `--key` has no effect. */
export const KEY_SCOPE = { name: 'cli', role: 'ops' } as const;

export function addRefund(on: Commands): void {
  on.add('refund <payment>', 'refund a payment at the MoR and mirror the refund on Stripe')
    .option('--amount <amount>', '12.50, or smallest units without a point: 1250; default: the rest', parseAmount)
    .option('--payment-id <pay_id>', "the MoR's id of the payment, if Crossbill does not know it yet", parsePaymentId)
    .option('--reason <text>', 'passed to the MoR', 'requested_by_customer')
    .option('--key <text>', 'the same key never refunds twice; default: a new refund')
    .option('--work', 'carry it out in this process if no daemon is running')
    .option('--wait <seconds>', 'how long to wait for the outcome', parseCount(3600), 30)
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, id, { amount: text, paymentId, reason, key = randomUUID(), work, wait }) => {
        const world = await cli.open();
        const books = world.get(ReadModel);
        const found = await books.payment(id);
        if (found === null) throw new CliError(EXIT.failed, 'payment_not_found', `There is no payment ${id}.`);
        const { payment } = found;
        const wanted = text === undefined ? null : minorOf(text, payment.currency);
        const sum = amount(wanted ?? refundable(payment, found.refunds, found.lost), payment.currency);
        const of = amount(payment.amount, payment.currency);
        await cli.confirm(`Refund ${sum} of ${of} to customer ${payment.customerId} (invoice ${payment.invoiceId})?`);
        if (paymentId !== undefined) {
          const name = () => world.get(PaymentsController).identify(payment.id, { payment_id: paymentId }, cli.caller);
          await world.change('payment.identify', id, name, (p) => ({ detail: { payment_id: p.id } }));
        }
        const request = { amount: wanted, reason, metadata: null, by: cli.by };
        const name = paymentRequestName(KEY_SCOPE, key, { amount: wanted?.toString() ?? null, reason });
        const made = await world.change(
          'refund.create',
          id,
          async () => valueOrProblem(await world.get(RefundsFlow).request(id, request, name)),
          (r) => ({ detail: { id: r.id, amount: Number(r.amount) } }),
        );
        const look = async (): Promise<ListedRefund> => {
          const now = await books.refund(made.id);
          if (now === null) throw new Error(`Crossbill stored refund ${made.id} and does not find it.`);
          return now;
        };
        const isThrough = async (): Promise<boolean> => isSettled((await look()).refund);
        await (work === true ? world.workUntil(isThrough, wait) : world.waitUntil(isThrough, wait));
        const now = await look();
        const { status, id: refundId, currency } = now.refund;
        const line = `Refund ${refundId} of ${amount(now.refund.amount, currency)}: ${sentence(now.refund)}\n`;
        await cli.print(listedRefundView(now), () => line);
        if (status === 'failed') return EXIT.failed;
        return status === 'requested' || status === 'unknown' ? EXIT.unfinished : EXIT.ok;
      }),
    );
}

/**
 * True if the command need not wait longer: the refund is pending or failed, or it succeeded and Crossbill has nothing
 * left to send to Stripe.
 */
function isSettled({ status, mirror }: RefundRow): boolean {
  if (status === 'pending' || status === 'failed') return true;
  return status === 'succeeded' && (mirror === 'done' || mirror === 'not_needed' || mirror === 'parked');
}

/** Reads an amount in smallest units. Throws for more decimals than the currency has: Crossbill rounds nothing. */
function minorOf(text: string, currency: string): bigint {
  const minor = text.includes('.') ? minorFromDecimal(text, currency) : BigInt(text);
  if (minor !== null && minor > 0n) return minor;
  throw wrongUsage(`${text} is no amount in ${currency}. Use ${decimalsOf(currency) || 'no'} decimals, above 0.`);
}

function sentence(r: RefundRow): string {
  switch (r.status) {
    case 'requested':
      return 'stored, not sent yet. A daemon sends it. A repeat without the same --key requests a second refund.';
    case 'unknown':
      return 'sent, and the MoR has not answered. Crossbill asks again with the same key; the amount stays reserved.';
    case 'pending':
      return r.morStatus === null
        ? 'on its way (a bank debit). Stripe will show it after its success.'
        : `the MoR says ${r.morStatus}, an unknown status; the amount stays reserved until its event comes.`;
    case 'failed':
      return `failed${r.failure === null ? '' : `: ${r.failure.message}`}. You may refund the amount again.`;
    case 'joined':
    case 'succeeded':
      return r.creditNoteId === null
        ? `succeeded; its mirror on Stripe: ${r.mirror}.`
        : `succeeded, and shown on Stripe by credit note ${r.creditNoteId}.`;
  }
}

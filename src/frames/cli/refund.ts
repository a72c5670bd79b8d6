// `crossbill refund <payment>`: refunds a payment as the API does, and prints the outcome.
import { paymentRequestName } from '../api/http/idempotency.js';
import { valueOrProblem } from '../api/http/problem.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { decimalsOf } from '../../shared/domain/money.js';
import { showUndecided } from '../../shared/domain/dispute-sum.js';
import { newerCode } from '../../shared/domain/sentence.js';
import { refundable } from '../../shared/domain/status.js';
import { type ListedRefund, type PaymentView, ReadModel } from '../../engine/read-model.js';
import { PaymentsController } from '../../core/payments/payments.controller.js';
import { listedRefundView } from '../../core/refunds/refund.view.js';
import { refundPath, RefundsService } from '../../core/refunds/refunds.service.js';
import { findWaiting, logWaiting } from '../../core/refunds/rules/refund.js';
import { PAYMENT_DISPUTED, REFUND_WAITING } from '../../core/refunds/rules/request.js';
import { typedAmount } from '../../core/refunds/typed-amount.js';
import { Requests } from '../store/requests.js';
import { type Cli, sayRepeat } from './cli.js';
import { type Commands } from './commands.js';
import { CliError, EXIT, wrongUsage } from './exit-codes.js';
import { parseAmount, parseCount, parsePaymentId } from './options.js';
import { amount } from './table.js';
import { type AppContext } from './app-context.js';

/** The scope of idempotency keys. All operators share it: a colleague's repeat under the same `--key` has no effect. */
export const KEY_SCOPE = { name: 'cli', role: 'ops' } as const;

export function addRefund(on: Commands): void {
  on.add('refund <payment>', on.about)
    .option('--amount <amount>', "in the payment's currency, such as 12.50 or 12; default: the rest", parseAmount)
    .option('--minor', 'read --amount in smallest units: 1250 is 12.50 EUR')
    .option('--payment-id <pay_id>', "the MoR's id of the payment, if Crossbill does not know it yet", parsePaymentId)
    .option('--reason <text>', 'passed to the MoR', 'requested_by_customer')
    .option('--key <text>', 'the same key never refunds twice; default: a new refund, unless an equal one still waits')
    .option('--work', 'carry it out in this process if no daemon is running')
    .option('--wait <seconds>', 'how long to wait for the outcome', parseCount(3600), 30)
    .option('--yes', 'do not ask for confirmation')
    .option(
      '--despite-dispute',
      'refund although a dispute of the payment is open: the customer may get the money twice',
    )
    .action(
      on.run(
        async (cli, typed, { amount: text, minor, paymentId, reason, key: given, work, wait, yes, despiteDispute }) => {
          const app = await cli.open();
          const books = app.get(ReadModel);
          const { id, found } = await findPayment(books, typed);
          const { payment } = found;
          if (minor === true && text === undefined) throw wrongUsage('Use --minor with --amount.');
          const wanted = text === undefined ? null : minorOf(text, payment.currency, minor === true);
          const sum = amount(wanted ?? refundable(payment, found.refunds, found.lost), payment.currency);
          const of = amount(payment.amount, payment.currency);
          if (given === undefined) await refuseIfWaiting(cli, app, found, wanted);
          if (found.disputes.length > 0) {
            const warning = showUndecided(found.disputes);
            if (yes === true && despiteDispute !== true)
              throw new CliError(
                EXIT.failed,
                PAYMENT_DISPUTED,
                `${warning}\nTo refund despite it, add --despite-dispute.`,
              );
            cli.warn(warning);
          }
          await cli.confirm(`Refund ${sum} of ${of} to customer ${payment.customerId} (invoice ${payment.invoiceId})?`);
          if (paymentId !== undefined) {
            const name = () => app.get(PaymentsController).identify(payment.id, { payment_id: paymentId }, cli.caller);
            await app.change('payment.identify', id, name, (p) => ({ detail: { payment_id: p.id } }));
          }
          const request = {
            amount: wanted,
            reason,
            metadata: null,
            by: cli.by,
            unlessWaiting: given === undefined,
            despiteDispute: despiteDispute === true || found.disputes.length > 0, // the operator has read the warning
          };
          const store = async (key: string): Promise<RefundRow> => {
            const name = paymentRequestName(KEY_SCOPE, key, { amount: wanted?.toString() ?? null, reason });
            const done = await app.get(RefundsService).request(id, request, name);
            // An equal request arrived in the meantime.
            if (!done.ok && done.code === REFUND_WAITING)
              await refuseIfWaiting(cli, app, (await books.payment(id)) ?? found, wanted);
            return valueOrProblem(done);
          };
          const { made, key, repeat } = await cli.keyed(given, (own) =>
            app.change(
              'refund.create',
              id,
              () => store(own),
              (r) => ({ detail: { id: r.id, amount: Number(r.amount) } }),
            ),
          );
          if (given === undefined) cli.io.err(`${sayRepeat(repeat)}\n`); // before the wait: somebody may end the command
          const read = async (): Promise<ListedRefund> => {
            const now = await books.refund(made.id);
            if (now === null) throw new Error(`Crossbill stored refund ${made.id} and does not find it.`);
            return now;
          };
          const isThrough = async (): Promise<boolean> => isSettled((await read()).refund);
          await (work === true ? app.workUntil(isThrough, wait) : app.waitUntil(isThrough, wait));
          const now = await read();
          const { status, id: refundId, currency } = now.refund;
          const line = `Refund ${refundId} of ${amount(now.refund.amount, currency)}: ${sentence(now.refund)}\n`;
          const more = status === 'requested' ? `To send it without a daemon: ${cli.repeat(key, '--work')}\n` : '';
          await cli.print({ ...listedRefundView(now), repeat }, () => line + more);
          if (status === 'failed') return EXIT.failed;
          return status === 'requested' || status === 'unknown' ? EXIT.unfinished : EXIT.ok;
        },
      ),
    );
}

const NO_MONEY: ReadonlySet<string> = new Set(['failed', 'requires_action'] satisfies PaymentRow['status'][]);

/**
 * Finds the payment for any of its ids. `id` is the name for the audit trail. A failed attempt counts only if no attempt
 * of the charge or payment intent took money.
 */
async function findPayment(
  books: ReadModel,
  id: string,
): Promise<{ readonly id: string; readonly found: PaymentView }> {
  const direct = await books.payment(id);
  if (direct !== null) return { id, found: direct };
  const all = await books.paymentsOfProcessor(id);
  const paid = all.filter(({ payment }) => !NO_MONEY.has(payment.status));
  const [found, ...more] = paid.length > 0 ? paid : all;
  if (found === undefined) throw new CliError(EXIT.failed, 'payment_not_found', `There is no payment ${id}.`);
  const names = [found, ...more].map(({ payment }) => payment.paymentId ?? payment.id);
  if (more.length === 0) return { id: names[0] ?? id, found };
  const message = `${id} belongs to ${names.length} payments: ${names.join(', ')}. Refund one of them by its own id.`;
  throw new CliError(EXIT.failed, 'several_payments', message);
}

/**
 * Refuses a refund equal to one that still waits for its sending or its answer: most likely the operator repeats a
 * command that ended before the refund did. The text has the command that carries out the waiting refund.
 */
async function refuseIfWaiting(
  cli: Cli,
  app: AppContext,
  { payment, refunds, lost }: PaymentView,
  wanted: bigint | null,
) {
  const remaining = refundable(payment, refunds, lost);
  const waiting = findWaiting(refunds, wanted, remaining);
  if (waiting === undefined) return;
  const path = refundPath(payment.id);
  const key = await app.get(Requests).keyOf({ apiKey: KEY_SCOPE.name, method: 'POST', path }, waiting.id);
  const send = key === null ? 'A daemon sends it.' : `To carry it out: ${cli.repeat(key, '--work')}`;
  const message = `${logWaiting(waiting)} ${send}\nIf you want a second refund of this amount, give it a --key of its own.`;
  throw new CliError(EXIT.failed, REFUND_WAITING, message);
}

/**
 * True if the command need not wait longer: the refund is pending or failed, or it succeeded and Crossbill has nothing
 * left to send to Stripe.
 */
function isSettled({ status, mirror }: RefundRow): boolean {
  if (status === 'pending' || status === 'failed') return true;
  return status === 'succeeded' && (mirror === 'done' || mirror === 'not_needed' || mirror === 'parked');
}

/** Returns the amount in smallest units. Throws for more decimals than the currency has: Crossbill rounds nothing. */
function minorOf(text: string, currency: string, isMinor: boolean): bigint {
  if (isMinor && !/^\d+$/.test(text)) throw wrongUsage(`With --minor the amount is a whole number, not ${text}.`);
  const minor = isMinor ? BigInt(text) : typedAmount(text, currency);
  if (minor !== null && minor > 0n) return minor;
  throw wrongUsage(`${text} is no amount in ${currency}. Use ${decimalsOf(currency) || 'no'} decimals, above 0.`);
}

function sentence(refund: RefundRow): string {
  switch (refund.status) {
    case 'requested':
      return 'stored, not sent yet. A daemon sends it.';
    case 'unknown':
      return 'sent, and the MoR has not answered. Crossbill asks again with the same key; the amount stays reserved.';
    case 'pending':
      return refund.morStatus === null
        ? 'on its way (a bank debit). Stripe will show it after its success.'
        : `the MoR says ${refund.morStatus}, an unknown status; the amount stays reserved until its event comes.`;
    case 'failed':
      return `failed${refund.failure === null ? '' : `: ${refund.failure.message}`}. You may refund the amount again.`;
    case 'joined':
    case 'succeeded':
      return refund.creditNoteId === null
        ? `succeeded; its mirror on Stripe: ${refund.mirror}.`
        : `succeeded, and shown on Stripe by credit note ${refund.creditNoteId}.`;
  }
  return newerCode('status', refund.status);
}

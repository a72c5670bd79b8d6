// `crossbill refund <payment>`: gives money back through the same flow as the API, and tells what became of it.
import { randomUUID } from 'node:crypto';
import { type Command } from 'commander';
import { type RefundRow } from '../domain/model.js';
import { decimalsOf, minorFromDecimal } from '../domain/money.js';
import { ReadModel } from '../engine/read-model.js';
import { refundable } from '../domain/status.js';
import { RefundsFlow } from '../refunds/refunds.flow.js';
import { PaymentsFlow } from '../payments/payments.flow.js';
import { CliError, doneOrFailed, EXIT } from './exit-codes.js';
import { cliRequest } from './request-name.js';
import { type Cli, need, parseAmount, parseCount, type Session } from './session.js';
import { amount } from './table.js';
import { actorOf } from './world.js';

export function addRefund(program: Command, session: Session): void {
  session
    .leaf(program, 'refund <payment>', 'refund a payment at the MoR and mirror the refund on Stripe', refund)
    .option(
      '--amount <amount>',
      '12.50, or smallest units without a point: 1250; default: all that remains',
      parseAmount,
    )
    .option('--payment-id <pay_id>', "the MoR's id of a payment that no event has named: it is named first")
    .option('--reason <text>', 'passed to the MoR', 'requested_by_customer')
    .option('--key <text>', 'the same key never refunds twice; default: a new refund')
    .option('--work', 'carry it out in this process if no daemon is running')
    .option('--wait <seconds>', 'how long to wait for the outcome', parseCount(3600), 30)
    .option('--yes', 'do not ask for confirmation');
}

async function refund(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const id = need(args);
  const world = await cli.open();
  const books = world.get(ReadModel);
  const found = await books.payment(id);
  if (found === null) throw new CliError(EXIT.failed, 'payment_not_found', `There is no payment ${id}.`);
  const { payment } = found;
  const rest = refundable(payment, found.refunds, found.lost);
  const wanted = wantedOf(cli.options['amount'] as string | undefined, payment.currency);
  const key = typeof cli.options['key'] === 'string' ? cli.options['key'] : null;
  const question = `Refund ${amount(wanted ?? rest, payment.currency)} of ${amount(payment.amount, payment.currency)} to customer ${payment.customerId} (invoice ${payment.invoiceId})?`;
  if (!(await cli.confirm(question))) return EXIT.failed;
  const given: unknown = cli.options['paymentId'];
  const named = typeof given === 'string' ? given : null;
  if (named !== null) {
    await world.change(
      'payment.identify',
      id,
      async () => doneOrFailed(await world.get(PaymentsFlow).identify(payment.id, named, actorOf(cli.io))),
      (p) => ({ detail: { payment_id: p.paymentId } }),
    );
  }
  const reason = String(cli.options['reason']);
  const asked = JSON.stringify({ amount: wanted?.toString() ?? null, reason });
  const name = cliRequest(key ?? randomUUID(), asked);
  const request = { amount: wanted, reason, metadata: null, by: actorOf(cli.io) };
  const made = await world.change(
    'refund.create',
    id,
    async () => doneOrFailed(await world.get(RefundsFlow).request(id, request, name)),
    (r) => ({ detail: { id: r.id, amount: Number(r.amount) } }),
  );

  const look = async (): Promise<RefundRow> => (await books.refund(made.id))?.refund ?? made;
  const isThrough = async (): Promise<boolean> => {
    const r = await look();
    if (r.status === 'pending' || r.status === 'failed') return true;
    return r.status === 'succeeded' && (r.mirror === 'done' || r.mirror === 'not_needed' || r.mirror === 'parked');
  };
  const seconds = cli.options['wait'] as number;
  await (cli.options['work'] === true ? world.workUntil(isThrough, seconds) : world.waitUntil(isThrough, seconds));
  const now = await look();
  const { status, mirror, failure } = now;
  const shown = now.morStatus ?? status;
  await cli.print(
    {
      id: now.id,
      mor_refund_id: now.morRefundId,
      payment_id: named ?? payment.paymentId ?? payment.id,
      amount: now.amount,
      currency: now.currency.toLowerCase(),
      status: shown,
      mirror,
      credit_note_id: now.creditNoteId,
      failure,
    },
    () => `Refund ${now.id} of ${amount(now.amount, now.currency)}: ${sentenceOf(now)}\n`,
  );
  if (status === 'failed') return EXIT.failed;
  return status === 'requested' || status === 'unknown' ? EXIT.unfinished : EXIT.ok;
}

/** Null: all that remains. Throws when the currency does not count that many decimals: nothing is rounded. */
function wantedOf(text: string | undefined, currency: string): bigint | null {
  if (text === undefined) return null;
  const minor = text.includes('.') ? minorFromDecimal(text, currency) : BigInt(text);
  if (minor !== null && minor > 0n) return minor;
  const decimals = decimalsOf(currency);
  const message = `${text} is no amount in ${currency}, which has ${decimals === 0 ? 'no' : decimals} decimals.`;
  throw new CliError(EXIT.usage, 'argument', message);
}

function sentenceOf(r: RefundRow): string {
  switch (r.status) {
    case 'requested':
      return 'stored, not sent yet. A daemon sends it; --work sends it from here.';
    case 'unknown':
      return 'sent, and the MoR has not answered. It is asked again with the same key; the amount stays reserved.';
    case 'pending':
      if (r.morStatus !== null)
        return `the MoR says ${r.morStatus}, a status that Crossbill does not know; the amount stays reserved until its event comes.`;
      return 'on its way (a bank debit). It is mirrored on Stripe once it succeeded.';
    case 'failed':
      return `failed${r.failure === null ? '' : `: ${r.failure.message}`}. The amount is free again.`;
    case 'joined':
    case 'succeeded':
      return r.creditNoteId === null
        ? `succeeded; its mirror on Stripe: ${r.mirror}.`
        : `succeeded, and shown on Stripe by credit note ${r.creditNoteId}.`;
  }
}

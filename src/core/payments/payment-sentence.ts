// Describes the state of a payment in one sentence for people.
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { saysNothing } from '../books/rules/payment-state.js';
import { sayMoney } from '../../shared/domain/money.js';
import { type Sentence, troubleOf } from '../../shared/domain/sentence.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { day } from '../../shared/domain/when.js';
import { isOnItsWay } from '../../shared/domain/status.js';

/** Describes a payment at time `now`. `objects`: the MoR's objects of the payment, such as a dispute. */
export function paymentSentence(
  value: {
    readonly payment: PaymentRow;
    readonly refunds: readonly RefundRow[];
    readonly objects: readonly MorObjectRow[];
  },
  now: Date,
): Sentence {
  const { payment: p, refunds } = value;
  if (p.succeededAt === null) return notTaken(p, now);
  const trouble = troubleOf(value, now);
  const way = refunds.filter(isOnItsWay);
  const parts = [
    `Taken by the MoR on ${day(p.succeededAt, now)}`,
    ...(p.amountRefunded === 0n
      ? []
      : [
          p.status === 'refunded'
            ? 'all of it was refunded'
            : `${sayMoney({ ...p, minor: p.amountRefunded })} of it was refunded`,
        ]),
    ...way.map((r) => `a refund of ${sayMoney({ ...r, minor: r.amount })} is on its way`),
    ...trouble.map((t) => t.text),
    ...shown(p),
  ];
  const tone =
    p.mark === 'parked' ? 'bad' : trouble.some((t) => t.lost) ? 'warn' : p.mark === 'confirmed' ? 'good' : 'wait';
  return { tone, text: `${parts.join('; ')}.` };
}

/** The part of the sentence about the payment's mark on Stripe. */
function shown(payment: PaymentRow): string[] {
  if (payment.mark === 'confirmed') return ['Stripe shows the payment on its invoice'];
  if (payment.mark === 'parked') return ['it is not marked on Stripe: a person must decide'];
  if (payment.mark === 'held') return ['Crossbill marks it on Stripe once the invoice is final'];
  if (payment.mark === 'closed' || payment.mark === 'none') return ['it is not marked on Stripe'];
  return ['Crossbill is marking it on Stripe'];
}

function notTaken(payment: PaymentRow, now: Date): Sentence {
  if (payment.status === 'processing') {
    const since = payment.pendingSince ?? payment.recordedAt;
    return { tone: 'wait', text: `Not settled yet: known since ${day(since, now)}; bank debits take days.` };
  }
  if (saysNothing(payment))
    return {
      tone: 'wait',
      text: `A person dismissed it: the ledger has no money of charge ${payment.processorChargeId ?? ''} for this invoice.`,
    };
  if (payment.status !== 'failed' && payment.status !== 'requires_action')
    return { tone: 'wait', text: 'So far the ledger has no charge of it for this invoice.' };
  const outcome = payment.status;
  const at = payment.verdictAt === null ? '' : ` (${day(payment.verdictAt, now)})`;
  return { tone: 'warn', text: `Not taken: ${refusalWords({ ...payment, outcome })}${at}.` };
}

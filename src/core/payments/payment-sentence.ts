// Describes the state of a payment in one sentence for people.
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { type PaymentRow, type RefundRow } from '../../shared/domain/model.js';
import { saysNothing } from '../books/rules/payment-rows.js';
import { sayMoney } from '../../shared/domain/money.js';
import { type Sentence, troubleOf } from '../../shared/domain/sentence.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { day } from '../../shared/domain/when.js';
import { isOnItsWay } from '../../shared/domain/status.js';

/** Describes a payment at time `now`. `objects`: the MoR's objects of the payment, such as a dispute. */
export function paymentSentence(
  v: {
    readonly payment: PaymentRow;
    readonly refunds: readonly RefundRow[];
    readonly objects: readonly MorObjectRow[];
  },
  now: Date,
): Sentence {
  const { payment: p, refunds } = v;
  if (p.succeededAt === null) return notTaken(p, now);
  const trouble = troubleOf(v, now);
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
function shown(p: PaymentRow): string[] {
  if (p.mark === 'confirmed') return ['Stripe shows the payment on its invoice'];
  if (p.mark === 'parked') return ['it is not marked on Stripe: a person must decide'];
  if (p.mark === 'held') return ['Crossbill marks it on Stripe once the invoice is final'];
  if (p.mark === 'closed' || p.mark === 'none') return ['it is not marked on Stripe'];
  return ['Crossbill is marking it on Stripe'];
}

function notTaken(p: PaymentRow, now: Date): Sentence {
  if (p.status === 'processing') {
    const since = p.pendingSince ?? p.recordedAt;
    return { tone: 'wait', text: `Not settled yet: known since ${day(since, now)}; bank debits take days.` };
  }
  if (saysNothing(p))
    return {
      tone: 'wait',
      text: `A person dismissed it: the ledger has no money of charge ${p.processorChargeId ?? ''} for this invoice.`,
    };
  if (p.status !== 'failed' && p.status !== 'requires_action')
    return { tone: 'wait', text: 'So far the ledger has no charge of it for this invoice.' };
  const outcome = p.status;
  const at = p.verdictAt === null ? '' : ` (${day(p.verdictAt, now)})`;
  return { tone: 'warn', text: `Not taken: ${refusalWords({ ...p, outcome })}${at}.` };
}

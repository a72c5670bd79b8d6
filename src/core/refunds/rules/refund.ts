// The row of a refund: a new one, its request, and the MoR's other id for its payment.
import { type Mutable, newRow } from '../../../shared/domain/row.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow, REFUND } from '../../../shared/domain/refund-row.js';
import { type Ctx } from '../../../engine/context.js';
import { showMoney } from '../../../shared/domain/money.js';
import { itemRule } from '../../../engine/items.js';
import { paymentName } from '../../../shared/domain/payment-name.js';

export type Refund = Mutable<RefundRow>;

export function newRefund(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  payment: PaymentRow,
  {
    amount,
    reason,
    origin,
  }: { readonly amount: bigint; readonly reason: string | null; readonly origin: RefundRow['origin'] },
): RefundRow {
  return newRow(REFUND, {
    id: ctx.newId('ref'),
    paymentRowId: payment.id,
    invoiceId: payment.invoiceId,
    amount,
    currency: payment.currency,
    status: 'requested',
    reason,
    origin,
    askedOf: origin === 'api' ? payment.paymentId : null,
    counted: false,
    mirror: 'none',
    createdAt: ctx.now,
  });
}

/** True for our own refund of this amount without a reply and without an id. */
export function isNameless(refund: RefundRow, amount: bigint): boolean {
  return (
    refund.origin === 'api' &&
    isWaiting(refund) &&
    refund.morRefundId === null &&
    refund.processorRefundId === null &&
    refund.amount === amount
  );
}

/** True until the MoR has answered our request. */
export function isWaiting({ status }: RefundRow): boolean {
  return status === 'requested' || status === 'unknown';
}

/**
 * Finds our own refund of this amount that the MoR has not answered.
 * @param amount smallest units; null: the rest of the payment
 */
export function findWaiting<R extends RefundRow>(
  of: readonly R[],
  amount: bigint | null,
  remaining: bigint,
): R | undefined {
  const wanted = amount ?? remaining;
  return of.find((r) => r.origin === 'api' && isWaiting(r) && (wanted === 0n || r.amount === wanted));
}

export function logWaiting({ id, amount, currency, status }: RefundRow): string {
  const how = status === 'requested' ? 'stored and not sent yet' : 'sent, and the MoR has not answered';
  return `Refund ${id} of ${showMoney({ minor: amount, currency })} of this payment is ${how}.`;
}

/** Finds the request for our refund. A refund has only one request, even if Crossbill sends it several times. */
export function requestOf<M extends CallRow>(
  { calls }: { readonly calls: readonly M[] },
  refundId: string,
): M | undefined {
  return calls.find((m) => m.kind === 'create_refund' && m.subject === refundId);
}

/** True if the refund request used a payment id from a person, and the MoR later gave the payment another id. */
export function isRenamed(payment: PaymentRow | undefined, refund: RefundRow | undefined): boolean {
  const [asked, now] = [refund?.askedOf ?? null, payment?.paymentId ?? null];
  return asked !== null && now !== null && asked !== now;
}

/** Items for refunds under a wrong payment id from a person: the MoR refunded another payment. */
export const renamedRefunds = itemRule(
  { 'payment-renamed': 'the MoR refunded nothing under that id' },
  function* (lane) {
    const { payments, refunds } = lane;
    for (const p of payments) {
      const made = refunds.filter(
        (r) => r.paymentRowId === p.id && isRenamed(p, r) && r.status !== 'failed' && r.status !== 'joined',
      );
      for (const from of new Set(made.flatMap((r) => r.askedOf ?? []))) {
        const minor = made.reduce((sum, r) => (r.askedOf === from ? sum + r.amount : sum), 0n);
        const fact = {
          code: 'payment-renamed',
          from,
          to: paymentName(p),
          amount: { minor, currency: p.currency },
        } as const;
        yield { kind: 'conflicting_event', about: p, subject: `${p.id}:${from}`, fact };
      }
    }
  },
);

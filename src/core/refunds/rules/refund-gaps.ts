// The items for refunds that do not fit: to their payment, to its running total, or to the invoice.
import { itemRule, type Holds } from '../../../engine/items.js';
import { type Money } from '../../../shared/domain/money.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../shared/domain/refund-row.js';
import { paymentName, effectName } from '../../../shared/domain/payment-name.js';
import { inOrder } from './count.js';
import { saysNothing } from '../../books/rules/payment-state.js';

/** Items for the part of a refund that the invoice's credit notes cannot show. */
export const refundsBeyondSale = itemRule(
  { 'refund-beyond-sale': 'the invoice takes the whole refund' },
  function* ({ invoice, refunds }) {
    let debtLeft = invoice?.olderDebt ?? 0n;
    for (const r of refunds) {
      if (r.beyondSale === null || r.mirror === 'waiting') continue;
      const sum = (minor: bigint): Money => ({ minor, currency: r.currency });
      const debt = r.beyondSale < debtLeft ? r.beyondSale : debtLeft;
      debtLeft -= debt;
      const refund = r.morRefundId ?? r.id;
      const sums = { amount: sum(r.amount), beyond: sum(r.beyondSale), total: sum(invoice?.total ?? 0n) };
      const fact = { code: 'refund-beyond-sale', refund, ...sums, debt: debt > 0n ? sum(debt) : null } as const;
      yield { kind: 'refund_gap', about: r, subject: `${r.id}:beyond`, paymentRowId: r.paymentRowId, fact };
    }
  },
);

/**
 * Opens an item if the refunds do not match the MoR's running total, the sum refunded so far (Document 3). If this
 * total is above the sum of the known refunds, an event is missing. If the refunds exceed the payment, or the totals
 * overlap, a report is wrong.
 */
export const refundGaps = itemRule(
  {
    'refunds-beyond-payment': 'the refunds fit the payment',
    'refund-event-missing': 'the missing event arrived, or the refunds differ in another way',
    'totals-overlap': 'the totals add up, or the refunds differ in another way',
  },
  function* (lane) {
    const { payments, refunds } = lane;
    for (const p of payments) {
      const fact = findGap(p, refunds);
      if (fact !== null) yield { kind: 'refund_gap', about: p, fact };
    }
  },
);

type Gap = Holds<'refunds-beyond-payment' | 'refund-event-missing' | 'totals-overlap'>['fact'];

function findGap(paymentRow: PaymentRow, all: readonly RefundRow[]): Gap | null {
  const known = all.filter((r) => r.paymentRowId === paymentRow.id && r.status === 'succeeded');
  const sum = known.reduce((n, r) => n + r.amount, 0n);
  const sumOf = (minor: bigint): Money => ({ minor, currency: paymentRow.currency });
  const payment = paymentName(paymentRow);
  if (
    paymentRow.succeededAt !== null &&
    paymentRow.amount !== null &&
    (sum > paymentRow.amount || known.some((r) => !r.counted))
  )
    return { code: 'refunds-beyond-payment', payment, amount: sumOf(paymentRow.amount), refunded: sumOf(sum) };
  if (paymentRow.refundedTotal !== null && paymentRow.refundedTotal > sum)
    return { code: 'refund-event-missing', payment, reported: sumOf(paymentRow.refundedTotal), received: sumOf(sum) };
  // Each refund covers a span of the running total: from the total before the refund to the total after it. Two spans
  // must not overlap.
  let end = 0n;
  for (const { totalAfter, amount } of known.toSorted(inOrder)) {
    if (totalAfter === null) continue;
    if (totalAfter - amount < end) return { code: 'totals-overlap', payment, at: sumOf(totalAfter) };
    end = totalAfter;
  }
  return null;
}

/**
 * Opens an item for a refund of a payment without money: a person dismissed the payment's unproven charge, or decided
 * that the charge paid another invoice. Crossbill does not book the refund. If the MoR later reports money for the
 * payment, Crossbill books the refund on this invoice.
 */
export const refundsElsewhere = itemRule(
  { 'refunded-elsewhere': 'the MoR reported another charge for the payment, so the ledger has the refund' },
  function* (lane) {
    const { payments, refunds, reviews } = lane;
    for (const r of refunds) {
      const p = payments.find((x) => x.id === r.paymentRowId);
      if (r.status !== 'succeeded' || p === undefined || p.succeededAt !== null) continue;
      const isReported = reviews.some((x) => x.topic === 'refunded-elsewhere' && x.subject === r.id);
      if (!saysNothing(p) && !isReported) continue;
      const amount = { minor: r.amount, currency: r.currency };
      yield {
        kind: 'conflicting_event',
        about: r,
        fact: { code: 'refunded-elsewhere', amount, payment: effectName(p) },
      };
    }
  },
);

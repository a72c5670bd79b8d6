// Money on an invoice that does not match its mark: a rest that is still due, or more than was due.
import { type Money } from '../../domain/money.js';
import { type InvoiceRow, type LaneRows, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { effectName } from '../../domain/payment-name.js';
import { isPayable } from '../../domain/status.js';
import { isSurplus, overpaid, type Overpaid, surplusRefunded } from '../../domain/surplus.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { declareItems, itemRule } from '../../engine/items.js';

/** A rest is still due after the mark: the invoice changed meanwhile. Nobody asks about a part that a person let through. */
export const restItems = itemRule(
  { 'rest-due': ({ invoice }) => `the invoice is ${invoice?.platformStatus ?? 'unknown'}, or the payment goes back` },
  function* (lane) {
    const { invoice: i, payments, refunds, reviews } = lane.toState();
    if (i === null || !isPayable(i) || i.amountRemaining === 0n) return;
    for (const p of payments) {
      const isPart = p.waived.includes('amount_mismatch') && !p.waived.includes('surplus');
      const isGoingBack = refunds.some((r) => r.paymentRowId === p.id && r.status !== 'failed');
      if (p.mark !== 'confirmed' || isPart || isGoingBack) continue;
      // A person asked for a look: it comes first.
      const isOpen = reviews.some((r) => r.status === 'open' && r.topic === 'rest-due' && r.subject === p.id);
      if (i.readAt === null && !isOpen) continue;
      const due: Money = { minor: i.amountRemaining ?? 0n, currency: p.currency };
      const fact = { code: 'rest-due', status: i.platformStatus, due } as const;
      yield { kind: 'amount_mismatch', about: p, fact, actions: ['refund', 'retry', 'dismiss'] };
    }
  },
);

/**
 * Out of band Stripe takes all that is due for paid: more became due between our read and our mark, and nobody took it. `before`: the invoice
 * of before the mark; where that shows the mark already, as after a lost answer, `outOfBand` or the other payments tell what it settled.
 */
export function askIfBeyond(lane: Lane, p: Draft<PaymentRow>, before: InvoiceRow | null, outOfBand?: bigint): void {
  const is = lane.invoice?.amountPaid ?? 0n;
  const known = before?.amountPaid ?? 0n;
  const others = lane.payments.filter((x) => x.id !== p.id && x.mark === 'confirmed');
  const was = known < is ? known : others.reduce((sum, x) => sum + (x.amount ?? 0n), 0n);
  const minor = outOfBand ?? is - was;
  const { amount, currency } = p;
  if (p.markMode !== 'out_of_band' || amount === null || minor <= amount) return;
  const fact = { code: 'marked-beyond', shown: { minor, currency }, taken: { minor: amount, currency } } as const;
  lane.ask({ kind: 'amount_mismatch', subject: p.id, paymentRowId: p.id, fact, actions: ['dismiss'] });
}

/** More was taken for the invoice than was due. Who paid what is known once every call that marks it has its reply. */
export function declareSurplus(lane: Lane): void {
  const isBeingMarked = lane.toState().payments.some((p) => p.mark === 'attaching' || p.mark === 'paying');
  if (!isBeingMarked) declareItems(lane, surplusItems);
}

const surplusItems = itemRule({ overpaid: 'the surplus is gone, or is being given back' }, function* (lane) {
  const s = lane.toState();
  const i = s.invoice;
  const paid = findSurplus(s);
  if (i === null || paid === null) return;
  const { minor, by, credited, back, rest } = paid;
  const chosen = s.reviews.flatMap((r) =>
    r.fact.code === 'overpaid' && r.fact.over.minor === minor ? (r.resolution ?? []) : [],
  );
  // It stays. A chosen refund decides nothing yet: the MoR may refuse it, or it fails.
  if (chosen.includes('apply') || chosen.includes('dismiss')) return;
  // Whoever chose to refund it was told to deduct it from the balance.
  if (rest <= 0n && (!credited || back === 0n || chosen.includes('refund'))) return;
  const sum = (x: bigint): Money => ({ minor: x, currency: i.currency ?? '' });
  yield {
    kind: 'amount_mismatch',
    about: { id: i.invoiceId },
    paymentRowId: by.at(-1)?.id ?? null,
    fact: {
      code: 'overpaid',
      over: sum(minor),
      due: sum(i.amountDue ?? 0n),
      by: by.map((p) => ({ payment: effectName(p), amount: sum(p.amount ?? 0n) })),
      refunded: sum(back),
      left: sum(rest),
      credited,
    },
    proposed: credited && back > 0n ? null : 'refund', // first, what was given back must be taken off the balance
  };
});

/** What the refund of a surplus gives back; null: the item is of another kind. */
export function surplusToRefund(s: LaneRows, r: ReviewRow): bigint | null {
  if (!isSurplus(r)) return null;
  const rest = findSurplus(s)?.rest ?? 0n;
  return rest > 0n ? rest : 0n;
}

/** `back`: what refunds gave back of it, as Stripe was told. `rest`: what was neither given back nor is on its way back. */
function findSurplus(s: LaneRows): (Overpaid & { readonly back: bigint; readonly rest: bigint }) | null {
  const paid = overpaid(s);
  if (paid === null) return null;
  const rest = paid.minor - paid.by.reduce((sum, p) => sum + p.amountRefunded + findOnItsWay(s, p), 0n);
  return { ...paid, back: surplusRefunded(s.refunds), rest };
}

/** Refunds of a payment that are not counted yet: one that is unknown may have been made. */
function findOnItsWay(s: LaneRows, p: PaymentRow): bigint {
  return s.refunds.reduce((sum, r) => {
    const isOver = r.counted || r.status === 'failed' || r.status === 'joined';
    return r.paymentRowId === p.id && r.currency === p.currency && !isOver ? sum + r.amount : sum;
  }, 0n);
}

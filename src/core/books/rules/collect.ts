// Books the money of a payment. Crossbill books each charge once, even if the MoR reports several payments with it.
import { type LedgerEntry } from '../../../shared/domain/ledger-entry.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Seen } from '../../../shared/domain/facts/parts.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { type Lane } from '../../../engine/lane.js';
import { type Mutable } from '../../../shared/domain/row.js';
import { paymentCollected } from '../../../shared/domain/postings.js';
import { type ChargeHolder } from '../../../engine/context.js';

/** The charges booked in this step. */
export function collectedCharges(entries: readonly LedgerEntry[]): readonly string[] {
  return entries.flatMap((e) =>
    e.reason === 'payment_collected' && e.processorChargeId !== null ? [e.processorChargeId] : [],
  );
}

/** A booked payment, as one of the observations of an item. */
export function inBooks(payment: PaymentRow): Seen {
  const money = payment.amount === null ? null : { minor: payment.amount, currency: payment.currency };
  const at = payment.succeededAt?.toISOString() ?? null;
  return {
    source: 'books',
    id: effectName(payment),
    payment: payment.paymentId,
    charge: payment.processorChargeId,
    money,
    at,
  };
}

/**
 * Books the money of a payment. Returns false if the charge belongs to another invoice's payment: then Crossbill
 * neither books nor marks, and an item names both payments.
 */
export function collect(lane: Lane, payment: Mutable<PaymentRow>, eventId: string | null): boolean {
  const { amount, processorChargeId: charge } = payment;
  if (amount === null) return true;
  const holder = charge === null ? undefined : lane.ctx.chargesElsewhere?.get(charge);
  if (holder !== undefined) {
    setAside(lane, payment, amount, holder);
    return false;
  }
  const isOf = (paymentRowId: string | null, topic: string): boolean =>
    topic === 'charge-elsewhere' && paymentRowId === payment.id;
  const how = { by: null, resolution: 'cleared', note: 'the MoR names a charge of its own for it' } as const;
  lane.closeItems((r) => isOf(r.paymentRowId, r.topic), how);
  const entry = paymentCollected(payment, amount, lane.now, eventId);
  const again = lane.payments.some(
    (x) => x.id !== payment.id && x.succeededAt !== null && x.processorChargeId === charge,
  );
  lane.post(again ? { ...entry, processorChargeId: null } : entry);
  return true;
}

/**
 * Parks the payment, or leaves it closed, and opens an item. A person can only dismiss the item. If the MoR reports the
 * same charge again, nothing changes.
 */
function setAside(lane: Lane, payment: Mutable<PaymentRow>, amount: bigint, holder: ChargeHolder): void {
  Object.assign(payment, { succeededAt: null, proveDueAt: null });
  if (payment.mark === 'closed') payment.status = 'failed';
  else {
    if (payment.mark !== 'parked') moveMark(payment, 'waiting');
    moveMark(payment, 'parked');
  }
  lane.openReview({
    kind: 'double_payment',
    subject: `${payment.id}:charge`,
    paymentRowId: payment.id,
    fact: {
      code: 'charge-elsewhere',
      payment: effectName(payment),
      amount: { minor: amount, currency: payment.currency },
      charge: payment.processorChargeId,
      holder: holder.payment,
      holderInvoice: holder.invoiceId,
    },
    actions: ['dismiss'],
  });
}

/**
 * Accepts a signup's charge as proven. Its payment then waits for the mark, like the payment of a renewal. `at` is the
 * MoR's time of the capture, or of its reply about the charge. Null or absent: unknown. The ledger dates the money by it.
 */
export function accept(lane: Lane, payment: Mutable<PaymentRow>, how: string, at?: Date | null): void {
  if (payment.amount === null) return;
  const isNew = payment.succeededAt === null;
  const takenAt = at && mayBeTakenAt(lane, at) ? at : lane.now;
  Object.assign(payment, { status: 'succeeded', succeededAt: payment.succeededAt ?? takenAt, proveDueAt: null });
  if (isNew && !collect(lane, payment, null)) return;
  moveMark(payment, 'waiting');
  lane.log('decision', `charge ${payment.processorChargeId ?? ''} is proven: ${how}`, payment);
}

/** False for the time of a wrong clock: in the future, or before Stripe made the invoice. */
function mayBeTakenAt({ invoice, now }: Lane, at: Date): boolean {
  const madeAt = invoice?.platformCreatedAt ?? null;
  return at <= now && madeAt !== null && at >= madeAt;
}

/** Accepts the amount of a signup's payment as certain. The payment's item closes, and its waiting mark continues. */
export function settleAmount(lane: Lane, payment: Mutable<PaymentRow>, note: string): void {
  const isAsked = lane.reviews.some((r) => isOfAmount(payment, r));
  if (!isAsked) return;
  lane.closeItems((r) => isOfAmount(payment, r), { by: null, resolution: 'cleared', note });
  if (payment.mark === 'parked' && payment.succeededAt !== null) moveMark(payment, 'waiting');
}

function isOfAmount({ signupId }: PaymentRow, item: ReviewRow): boolean {
  return signupId !== null && item.status === 'open' && item.kind === 'amount_mismatch' && item.subject === signupId;
}

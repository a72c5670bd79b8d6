// The accounts and postings of the ledger: each movement has two accounts, a reason and a time.
import { type Account, type LedgerEntry, type PaymentRow, type RefundRow } from './model.js';

/** All accounts, in the order in which pages list them. */
export const ACCOUNTS = [
  'mor_receivable',
  'disputed_payments',
  'unmarked_payments',
  'unmirrored_refunds',
  'settled_invoices',
] as const satisfies readonly Account[];

/** Every reason of a ledger entry. A reason always moves money between the same two accounts. */
export const REASONS = [
  'payment_collected',
  'payment_marked',
  'refund_paid',
  'refund_mirrored',
  'refund_of_unmarked',
  'dispute_lost',
  'dispute_reversed',
  'debit_returned',
  'debit_return_reversed',
  'loss_credited',
  'loss_credit_reversed',
] as const;

/** `at`: when Crossbill made the entry. `movedAt`: when the money moved, by the MoR's clock. */
type When = Pick<LedgerEntry, 'at' | 'movedAt'>;
type Cause = Partial<Pick<LedgerEntry, 'eventId' | 'refundId'>>;

/**
 * The times of a ledger entry about a payment or a refund. The later entry, about the money's display on Stripe, has
 * the same `movedAt`. So both entries fall into the same month, however late Stripe shows the money.
 */
const moved = (of: PaymentRow | RefundRow, at: Date): When => ({ at, movedAt: of.succeededAt ?? at });

function entry(
  debit: Account,
  credit: Account,
  reason: string,
  subject: string,
  p: PaymentRow,
  minor: bigint,
  when: When,
  { eventId = null, refundId = null }: Cause = {},
): LedgerEntry {
  const amount = { minor, currency: p.currency };
  const { invoiceId, id: paymentRowId, paymentId, processorChargeId } = p;
  return {
    debit,
    credit,
    amount,
    reason,
    subject,
    invoiceId,
    paymentRowId,
    paymentId,
    processorChargeId,
    refundId,
    eventId,
    ...when,
  };
}

/** The MoR took the money and now owes it to the merchant. Stripe does not show it yet. */
export function paymentCollected(p: PaymentRow, amount: bigint, at: Date, eventId: string | null): LedgerEntry {
  return entry('mor_receivable', 'unmarked_payments', 'payment_collected', p.id, p, amount, moved(p, at), { eventId });
}

/** Stripe shows the payment on the invoice. */
export function paymentMarked(p: PaymentRow, amount: bigint, at: Date): LedgerEntry {
  return entry('unmarked_payments', 'settled_invoices', 'payment_marked', p.id, p, amount, moved(p, at));
}

/** The MoR refunded money and owes the merchant that much less. Stripe does not show the refund yet. */
export function refundPaid(p: PaymentRow, r: RefundRow, at: Date, eventId: string | null): LedgerEntry {
  const cause = { eventId, refundId: r.id };
  return entry('unmirrored_refunds', 'mor_receivable', 'refund_paid', r.id, p, r.amount, moved(r, at), cause);
}

/** Stripe shows the refund. */
export function refundMirrored(p: PaymentRow, r: RefundRow, at: Date): LedgerEntry {
  const cause = { refundId: r.id };
  return entry('settled_invoices', 'unmirrored_refunds', 'refund_mirrored', r.id, p, r.amount, moved(r, at), cause);
}

/**
 * A bank took a payment's money back, so the MoR owes the merchant that much less. `subject`: our id of the dispute,
 * and the number of its entry.
 */
export function disputeLost(p: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry('disputed_payments', 'mor_receivable', 'dispute_lost', subject, p, amount, when);
}

/** The loss ended or became smaller: the merchant won, or a refund paid back a part of the disputed amount. */
export function disputeReversed(p: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry('mor_receivable', 'disputed_payments', 'dispute_reversed', subject, p, amount, when);
}

/** A bank took a settled debit back. A person learned this from the MoR. The ledger books it like a lost dispute. */
export function debitReturned(p: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry('disputed_payments', 'mor_receivable', 'debit_returned', subject, p, amount, when);
}

/** Reverses a returned debit: a person recorded it by mistake, or a refund paid back a part of the returned amount. */
export function debitReturnReversed(p: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry('mor_receivable', 'disputed_payments', 'debit_return_reversed', subject, p, amount, when);
}

/**
 * A credit note on Stripe shows a loss and reduces the sale by it. `subject`: our id of the dispute or return, and the
 * number of its entry.
 */
export function lossCredited(p: PaymentRow, subject: string, amount: bigint, at: Date): LedgerEntry {
  return entry('settled_invoices', 'disputed_payments', 'loss_credited', subject, p, amount, { at, movedAt: at });
}

/** The loss behind a credit note ended or became smaller. */
export function lossCreditReversed(p: PaymentRow, subject: string, amount: bigint, at: Date): LedgerEntry {
  return entry('disputed_payments', 'settled_invoices', 'loss_credit_reversed', subject, p, amount, {
    at,
    movedAt: at,
  });
}

/**
 * Stripe shows neither the payment nor its refund. The entry removes the amount from both clearing accounts.
 */
export function refundOfUnmarked(p: PaymentRow, r: RefundRow, at: Date): LedgerEntry {
  const cause = { refundId: r.id };
  return entry('unmarked_payments', 'unmirrored_refunds', 'refund_of_unmarked', r.id, p, r.amount, moved(r, at), cause);
}

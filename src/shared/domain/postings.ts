// The accounts and postings of the ledger: each movement has two accounts, a reason and a time.
import { type Account, type LedgerEntry } from './ledger-entry.js';
import { type PaymentRow } from './payment-row.js';
import { type RefundRow } from './refund-row.js';

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

/** Debit and credit of each reason. */
const MOVES: Readonly<Record<(typeof REASONS)[number], readonly [debit: Account, credit: Account]>> = {
  payment_collected: ['mor_receivable', 'unmarked_payments'],
  payment_marked: ['unmarked_payments', 'settled_invoices'],
  refund_paid: ['unmirrored_refunds', 'mor_receivable'],
  refund_mirrored: ['settled_invoices', 'unmirrored_refunds'],
  refund_of_unmarked: ['unmarked_payments', 'unmirrored_refunds'],
  dispute_lost: ['disputed_payments', 'mor_receivable'],
  dispute_reversed: ['mor_receivable', 'disputed_payments'],
  debit_returned: ['disputed_payments', 'mor_receivable'],
  debit_return_reversed: ['mor_receivable', 'disputed_payments'],
  loss_credited: ['settled_invoices', 'disputed_payments'],
  loss_credit_reversed: ['disputed_payments', 'settled_invoices'],
};

/** One movement. `minor`: the amount in smallest units of the payment's currency. */
type Posting = { readonly reason: keyof typeof MOVES; readonly subject: string; readonly minor: bigint };

function entry(
  payment: PaymentRow,
  { reason, subject, minor }: Posting,
  when: When,
  { eventId = null, refundId = null }: Cause = {},
): LedgerEntry {
  const { invoiceId, id: paymentRowId, paymentId, processorChargeId, currency } = payment;
  const [debit, credit] = MOVES[reason];
  const amount = { minor, currency };
  const about = { invoiceId, paymentRowId, paymentId, processorChargeId, refundId, eventId };
  return { debit, credit, amount, reason, subject, ...about, ...when };
}

/** The MoR took the money and now owes it to the merchant. Stripe does not show it yet. */
export function paymentCollected(payment: PaymentRow, amount: bigint, at: Date, eventId: string | null): LedgerEntry {
  return entry(payment, { reason: 'payment_collected', subject: payment.id, minor: amount }, moved(payment, at), {
    eventId,
  });
}

/** Stripe shows the payment on the invoice. */
export function paymentMarked(payment: PaymentRow, amount: bigint, at: Date): LedgerEntry {
  return entry(payment, { reason: 'payment_marked', subject: payment.id, minor: amount }, moved(payment, at));
}

/** The MoR refunded money and owes the merchant that much less. Stripe does not show the refund yet. */
export function refundPaid(payment: PaymentRow, refund: RefundRow, at: Date, eventId: string | null): LedgerEntry {
  const cause = { eventId, refundId: refund.id };
  return entry(payment, { reason: 'refund_paid', subject: refund.id, minor: refund.amount }, moved(refund, at), cause);
}

/** Stripe shows the refund. */
export function refundMirrored(payment: PaymentRow, refund: RefundRow, at: Date): LedgerEntry {
  const cause = { refundId: refund.id };
  return entry(
    payment,
    { reason: 'refund_mirrored', subject: refund.id, minor: refund.amount },
    moved(refund, at),
    cause,
  );
}

/**
 * A bank took a payment's money back, so the MoR owes the merchant that much less. `subject`: our id of the dispute,
 * and the number of its entry.
 */
export function disputeLost(payment: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry(payment, { reason: 'dispute_lost', subject, minor: amount }, when);
}

/** The loss ended or became smaller: the merchant won, or a refund paid back a part of the disputed amount. */
export function disputeReversed(payment: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry(payment, { reason: 'dispute_reversed', subject, minor: amount }, when);
}

/** A bank took a settled debit back. A person learned this from the MoR. The ledger books it like a lost dispute. */
export function debitReturned(payment: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry(payment, { reason: 'debit_returned', subject, minor: amount }, when);
}

/** Reverses a returned debit: a person recorded it by mistake, or a refund paid back a part of the returned amount. */
export function debitReturnReversed(payment: PaymentRow, subject: string, amount: bigint, when: When): LedgerEntry {
  return entry(payment, { reason: 'debit_return_reversed', subject, minor: amount }, when);
}

/**
 * A credit note on Stripe shows a loss and reduces the sale by it. `subject`: our id of the dispute or return, and the
 * number of its entry.
 */
export function lossCredited(payment: PaymentRow, subject: string, amount: bigint, at: Date): LedgerEntry {
  return entry(payment, { reason: 'loss_credited', subject, minor: amount }, { at, movedAt: at });
}

/** The loss behind a credit note ended or became smaller. */
export function lossCreditReversed(payment: PaymentRow, subject: string, amount: bigint, at: Date): LedgerEntry {
  return entry(
    payment,
    { reason: 'loss_credit_reversed', subject, minor: amount },
    {
      at,
      movedAt: at,
    },
  );
}

/**
 * Stripe shows neither the payment nor its refund. The entry removes the amount from both clearing accounts.
 */
export function refundOfUnmarked(payment: PaymentRow, refund: RefundRow, at: Date): LedgerEntry {
  const cause = { refundId: refund.id };
  return entry(
    payment,
    { reason: 'refund_of_unmarked', subject: refund.id, minor: refund.amount },
    moved(refund, at),
    cause,
  );
}

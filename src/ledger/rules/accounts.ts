// The words of the ledger: its accounts, and why money moves between them.
import { type Account } from '../../domain/model.js';

/** All accounts, in the order of their list. */
export const ACCOUNTS = [
  'mor_receivable',
  'disputed_payments',
  'unmarked_payments',
  'unmirrored_refunds',
  'settled_invoices',
] as const satisfies readonly Account[];

/** Every reason of an entry. Each moves money from one account to one other, always the same two. */
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

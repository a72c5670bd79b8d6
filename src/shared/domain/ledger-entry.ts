// An entry of the ledger: one movement of money between two accounts.
import { rowOf, word, bigint, code, text, time, type RowOf } from './row.js';
import { type Money } from './money.js';

/** The accounts of the ledger. The two clearing accounts are at zero if nothing is under way. */
export type Account =
  | 'mor_receivable' // money the MoR holds for the merchant
  | 'unmarked_payments' // clearing: the MoR took the money, Stripe does not show it yet
  | 'settled_invoices' // marked paid on Stripe
  | 'unmirrored_refunds' // clearing: the MoR refunded the money, Stripe does not show it yet
  | 'disputed_payments'; // money a bank took back

/** One movement between two accounts. The pair (reason, subject) is unique for good. */
export const LEDGER_ENTRY = rowOf('ledger_entry', {
  debit: word<Account>().named('debit_account'),
  credit: word<Account>().named('credit_account'),
  amount: bigint(),
  currency: code(3),
  reason: word(),
  subject: text(),
  invoiceId: text(),
  paymentRowId: text(),
  /** The MoR's `pay_…`. Null: not known. Across all invoices, the ledger books a payment with this id only one time. */
  paymentId: text().orNull,
  /** The ledger books a charge only one time. Null: no charge is known, or another payment of this invoice has it. */
  processorChargeId: text().orNull,
  refundId: text().orNull,
  /** The inbox event behind the entry. Null: the cause is a reply to a call, or a person. */
  eventId: text().orNull,
  /**
   * When the money moved, by the MoR's clock. The ledger puts the entry into the month of this time. The later entry
   * for the mark on Stripe has the same time, so both entries fall into one month.
   */
  movedAt: time(),
  /** When Crossbill made the entry. */
  at: time().named('recorded_at'),
});
export type LedgerEntry = Omit<RowOf<typeof LEDGER_ENTRY>, 'amount' | 'currency'> & { readonly amount: Money };

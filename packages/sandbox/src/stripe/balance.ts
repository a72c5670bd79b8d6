// Customer balances: the merchant, credit notes, invoices and overpayments change them.
import { type BalanceEntry, type Customer, type Invoice, amountOverpaid, balanceOf } from './model.js';
import { renderCustomer } from './render-customer.js';
import { type StripeState } from './state.js';

type NewEntry = {
  readonly type: BalanceEntry['type'];
  readonly amount: number;
  readonly currency: string;
  readonly invoice?: string;
  readonly creditNote?: string;
  readonly description?: string | null;
  readonly metadata?: Record<string, string>;
};

/** Adds an entry and changes the customer's balance by its amount. */
export function enter(state: StripeState, customer: Customer, entry: NewEntry): BalanceEntry {
  customer.currency ??= entry.currency;
  customer.balance += entry.amount;
  const made: BalanceEntry = {
    id: state.id('cbtxn'),
    created: state.now,
    customer: customer.id,
    amount: entry.amount,
    endingBalance: customer.balance,
    currency: entry.currency,
    type: entry.type,
    invoice: entry.invoice ?? null,
    creditNote: entry.creditNote ?? null,
    description: entry.description ?? null,
    metadata: entry.metadata ?? {},
  };
  customer.balanceEntries.push(made);
  state.emit('customer.updated', renderCustomer(customer));
  return made;
}

/** At an invoice's finalization, takes the invoice's part of the customer's balance. */
export function takeBalance(state: StripeState, invoice: Invoice): void {
  const taken = balanceOf(invoice);
  invoice.balance = taken;
  invoice.owner.currency ??= invoice.currency;
  if (taken.applied !== 0) move(state, invoice, 'applied_to_invoice', taken.applied);
}

/** Gives a voided invoice's part of the balance back to the customer. */
export function giveBalanceBack(state: StripeState, invoice: Invoice): void {
  const { applied } = balanceOf(invoice);
  if (applied !== 0) move(state, invoice, 'unapplied_from_invoice', -applied);
}

/**
 * Moves a change of an invoice's overpayment to the customer's balance. `before`: the overpayment before the change.
 */
export function creditOverpayment(state: StripeState, invoice: Invoice, before: number): void {
  const more = amountOverpaid(invoice) - before;
  if (more !== 0) move(state, invoice, more > 0 ? 'invoice_overpaid' : 'overpayment_reversal', -more);
}

function move(state: StripeState, invoice: Invoice, type: BalanceEntry['type'], amount: number): void {
  enter(state, invoice.owner, { type, amount, currency: invoice.currency, invoice: invoice.id });
}

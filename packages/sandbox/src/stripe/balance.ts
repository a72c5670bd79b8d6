// Customer balances: entries by hand and by credit notes. The next finalized invoice uses the balance.
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

/** Finalizing an invoice takes its part of the balance. */
export function takeBalance(state: StripeState, invoice: Invoice): void {
  const taken = balanceOf(invoice);
  invoice.balance = taken;
  invoice.owner.currency ??= invoice.currency;
  if (taken.applied !== 0) move(state, invoice, 'applied_to_invoice', taken.applied);
}

/** Voiding an invoice gives its part of the balance back. */
export function giveBalanceBack(state: StripeState, invoice: Invoice): void {
  const { applied } = balanceOf(invoice);
  if (applied !== 0) move(state, invoice, 'unapplied_from_invoice', -applied);
}

/**
 * Credits an invoice's overpayment to the customer's balance, after each change. `before`: the overpayment before it.
 */
export function creditOverpayment(state: StripeState, invoice: Invoice, before: number): void {
  const more = amountOverpaid(invoice) - before;
  if (more !== 0) move(state, invoice, more > 0 ? 'invoice_overpaid' : 'overpayment_reversal', -more);
}

function move(state: StripeState, invoice: Invoice, type: BalanceEntry['type'], amount: number): void {
  enter(state, invoice.owner, { type, amount, currency: invoice.currency, invoice: invoice.id });
}

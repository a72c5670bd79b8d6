// The sentences of items about debits that banks returned.
import { APART_WORDS } from './apart-words.js';
import { type Words } from '../../domain/fact.js';
import { showMoney } from '../../domain/money.js';

export const returnWords: Words<'debit-returned' | 'return-undone' | 'returned-twice'> = {
  'debit-returned': (f) => {
    const apart = f.apart === null ? null : APART_WORDS[f.apart];
    const marked = f.marked ? `invoice ${f.invoice} is still paid on Stripe` : 'nothing was marked';
    return {
      summary: `the bank returned the debit: ${showMoney(f.amount)} of payment ${f.payment} is lost, and ${marked}${apart?.said ?? ''}`,
      proposal:
        apart?.proposal ??
        'Decide what the customer owes: bill again with a new invoice on Stripe, or write the loss off with a credit note there. Neither is done by itself. Dismiss this item when it is done.',
    };
  },
  'return-undone': (f) => ({
    summary: `the return of ${showMoney(f.amount)} of payment ${f.payment} was recorded, dealt with, and undone since`,
    proposal:
      'The loss is taken back in the ledger. If the customer was billed again or got a credit note meanwhile, decide which of the two stands.',
  }),
  'returned-twice': (f) => ({
    summary: `payment ${f.payment} was ${f.how === 'refunded' ? 'refunded' : 'refunded or lost in a dispute'} as well as returned by the bank: the customer got ${showMoney(f.got)} twice, and ${showMoney(f.booked)} of the return is still booked as lost`,
    proposal:
      'Ask the MoR whether both went out. If so, ask the customer for it, or take it as a loss and book it beside this ledger, which never books more than the payment. If the debit was not returned, undo the return. Dismiss this item when it is done.',
  }),
};

// Sentences of items about lost disputes, returned debits, and their credit notes.
import { showDisputed } from '../domain/dispute-sum.js';
import { type FactOf, type Sentences, type Words } from '../domain/fact.js';
import { type Apart } from '../domain/facts/parts.js';
import { showMoney } from '../domain/money.js';

type Said = { readonly said: string; readonly proposal: string };

const APART_WORDS: Readonly<Record<NonNullable<Apart>, Said>> = {
  'for-nothing': {
    said: '; that money stands on no invoice',
    proposal:
      'Do not bill the customer for it: it paid for nothing. Settle the item of the payment itself, then dismiss this.',
  },
  'maybe-for-nothing': {
    said: '; no invoice was marked for that money from here',
    proposal:
      'If the invoice was paid with this money (somebody marked it by hand, or the MoR told of one payment twice), bill the customer again or write the loss off. If it was paid twice, do not bill them: they owe nothing. Settle the item of the payment itself, then dismiss this.',
  },
  'not-booked': {
    said: '; whose money that was is not known here, and the loss is not in the ledger',
    proposal:
      "Find the payment in the MoR's dashboard. If its money is in the ledger, book the loss outside the ledger. If an invoice was paid with it, bill the customer again or write the loss off.",
  },
};

export const returnWords: Words<
  | 'dispute-lost'
  | 'loss-unread'
  | 'won-after-loss'
  | 'credit-beyond-loss'
  | 'credit-refused'
  | 'debit-returned'
  | 'return-undone'
  | 'returned-twice'
> = {
  'debit-returned': (f) => {
    const apart = f.apart === null ? null : APART_WORDS[f.apart];
    const marked = f.marked ? `invoice ${f.invoice} is still paid on Stripe` : 'nothing was marked';
    return {
      summary: `the bank returned the debit: ${showMoney(f.amount)} of payment ${f.payment} is lost, and ${marked}${apart?.said ?? ''}`,
      proposal:
        apart?.proposal ??
        'Decide what the customer owes: bill again with a new invoice on Stripe, or write the loss off with a credit note there. Crossbill does neither alone. Dismiss this item when it is done.',
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
      'Ask the MoR whether both went out. If so, ask the customer for the money, or accept the loss and book it outside this ledger: the ledger never books more than the payment. If the bank did not return the debit, undo the return. Then dismiss this item.',
  }),
  'dispute-lost': renderLost,
  'loss-unread': (f) => ({
    summary: `dispute ${f.dispute} was lost, and how much the bank took is not sure: the MoR wrote "${f.unread}"${f.takenBack ? '; what was booked is taken back' : ''}; the loss is not in the ledger`,
    proposal: `Look the sum up in the MoR's dashboard and book the loss outside the ledger. Refund no more than the rest of the payment. ${f.refunded ? 'Money of this payment was refunded as well: what the bank took beyond the rest of it, the customer got twice; ask the MoR whether both went out. ' : ''}${f.apart === null ? BILL_OR_WRITE_OFF : APART_WORDS[f.apart].proposal}`,
  }),
  'won-after-loss': (f) => ({
    summary: `dispute ${f.dispute} was lost and then won: the bank returned ${showDisputed(f)}`,
    proposal: `${f.reversed ? `The ledger has reversed the loss.${f.beside ? ' Reverse your own booking outside the ledger, too.' : ''}` : 'The ledger never had the loss. If you booked it outside the ledger, reverse that booking.'} If the customer was billed again meanwhile, decide which of the two stands.`,
  }),
  'credit-beyond-loss': (f) => ({
    summary: `credit note ${f.creditNote} shows a loss of ${showMoney(f.credited)} of payment ${f.payment}, and ${f.over ? 'the money is there after all' : `only ${showMoney(f.lost)} of it is lost: the rest was refunded, or is another's`}`,
    proposal:
      'The credit note is greater than the loss. The ledger has reversed the part above the loss. Stripe still shows the whole credit note, and cannot void it because the invoice is paid. Create a new invoice on Stripe for that part and mark it paid out of band, or tell your accountant about it. Then dismiss this.',
  }),
  'credit-refused': (f) => ({
    summary: `Stripe refused ${f.call} for the loss from ${f.loss}: ${f.said}`,
    proposal:
      'Stripe does not show the loss. Fix what the answer names and retry, or credit it by hand and dismiss this.',
  }),
};

const BILL_OR_WRITE_OFF = 'Bill the customer again or write the loss off. The invoice stays paid.';

function renderLost(f: FactOf<'dispute-lost'>): Sentences {
  const apart = f.apart === null ? null : APART_WORDS[f.apart];
  const since = f.bookedSince ? '; it is in the ledger now' : '';
  const todo = f.twice === null ? (apart?.proposal ?? BILL_OR_WRITE_OFF) : twiceProposal(f);
  return {
    summary: `dispute ${f.dispute} was lost: the bank took ${showDisputed(f)} back${twiceSaid(f.twice)}${since}${apart?.said ?? ''}`,
    proposal: f.bookedSince ? `Reverse your own booking outside the ledger. ${todo}` : todo,
  };
}

function twiceSaid(twice: FactOf<'dispute-lost'>['twice']): string {
  if (twice === null) return '';
  const how = twice.how === 'refunded' ? 'refunded' : 'taken back';
  return `, and payment ${twice.payment} was ${how} as well: the customer got ${showMoney(twice.got)} twice, and ${showMoney(twice.booked)} is booked as lost`;
}

function twiceProposal({ twice, apart }: FactOf<'dispute-lost'>): string {
  if (twice === null) return '';
  const bill = `Bill the customer ${showMoney(twice.booked)} again or write that off${apart === null ? '' : ', if the invoice was paid with this money'}. `;
  const rest = twice.booked.minor === 0n || apart === 'for-nothing' ? '' : bill;
  return `${rest}Ask the MoR whether both went out. If so, ask the customer for ${showMoney(twice.got)}, or accept the loss and book it outside this ledger: the ledger never books more than the payment.${apart === null ? ' The invoice stays paid.' : ''}`;
}

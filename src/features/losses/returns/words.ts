// Sentences of items about lost disputes, returned debits, and their credit notes.
import { showDisputed } from '../../../shared/domain/dispute-sum.js';
import { type FactOf, type Sentences, type Words } from '../../../shared/domain/fact.js';
import { type Apart } from '../../../shared/domain/facts/parts.js';
import { showMoney } from '../../../shared/domain/money.js';

type Said = { readonly said: string; readonly proposal: string };

const APART_WORDS: Readonly<Record<NonNullable<Apart>, Said>> = {
  'for-nothing': {
    said: '; that money paid no invoice',
    proposal:
      "Do not bill the customer for the loss: this money paid for nothing. Settle the payment's own review item, then dismiss this.",
  },
  'maybe-for-nothing': {
    said: '; Crossbill marked no invoice with that money',
    proposal:
      "Find out whether the customer paid twice. If so, bill nothing. If not, this money paid the invoice: somebody marked the invoice by hand, or the MoR reported one payment twice. Then bill the customer again, or write the loss off. Settle the payment's own review item, then dismiss this item.",
  },
  'not-booked': {
    said: '; Crossbill does not know whose money that was, so the loss is not in the ledger',
    proposal:
      "Find the payment in the MoR's portal. If the ledger has that payment's money, book the loss in your own accounts, because Crossbill's ledger will not book it. If that payment paid an invoice, bill the customer again, or write the loss off.",
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
    const marked = f.marked ? `invoice ${f.invoice} is still paid on Stripe` : 'Crossbill marked no invoice with it';
    return {
      summary: `the bank returned the debit: ${showMoney(f.amount)} of payment ${f.payment} is lost, and ${marked}${apart?.said ?? ''}`,
      proposal:
        apart?.proposal ??
        'Decide what the customer owes: bill again with a new invoice on Stripe, or write the loss off with a credit note there. Crossbill waits for your decision. Dismiss this afterwards.',
    };
  },
  'return-undone': (f) => ({
    summary: `a person settled the item of a returned debit of ${showMoney(f.amount)} of payment ${f.payment}; after that, somebody undid the return`,
    proposal:
      'The ledger has reversed the loss. If you billed the customer again or issued a credit note, decide what the customer owes now.',
  }),
  'returned-twice': (f) => ({
    summary: `the bank returned the debit of payment ${f.payment}, and ${f.how === 'refunded' ? 'the MoR refunded the payment' : 'the payment was refunded or lost in a dispute'} as well: the customer got ${showMoney(f.got)} twice; the ledger books ${showMoney(f.booked)} of the return as lost`,
    proposal:
      'Ask the MoR whether the customer got the money twice. If so, ask the customer for the money. Or accept the loss and book it outside this ledger: the ledger never books more than the payment. If the bank did not return the debit, undo the return. Then dismiss this.',
  }),
  'dispute-lost': renderLost,
  'loss-unread': (f) => ({
    summary: `dispute ${f.dispute} was lost, but Crossbill cannot read how much the bank took: the MoR wrote "${f.unread}"; ${f.takenBack ? 'the ledger has reversed the loss it booked before' : 'the loss is not in the ledger'}`,
    proposal: `Look up the sum in the MoR's portal and book the loss outside the ledger. If you refund now, refund no more than the rest of the payment. ${f.refunded ? 'The MoR also refunded money of this payment, so the customer may have got some of it twice: ask the MoR. ' : ''}${f.apart === null ? BILL_OR_WRITE_OFF : APART_WORDS[f.apart].proposal}`,
  }),
  'won-after-loss': (f) => ({
    summary: `dispute ${f.dispute} was lost and then won: the bank returned ${showDisputed(f)}`,
    proposal: `${f.reversed ? `The ledger has reversed the loss.${f.beside ? ' Reverse your own booking outside the ledger, too.' : ''}` : 'The ledger never had the loss. If you booked it outside the ledger, reverse that booking.'} If you billed the customer again, decide what the customer owes now.`,
  }),
  'credit-beyond-loss': (f) => ({
    summary: `credit note ${f.creditNote} shows a loss of ${showMoney(f.credited)} of payment ${f.payment}, but ${f.over ? 'that loss is gone: you won the dispute, or somebody undid the return' : `only ${showMoney(f.lost)} of that is lost: the MoR refunded the rest, or it belongs to another payment`}`,
    proposal:
      'The credit note is greater than the loss. The ledger has reversed the part above the loss. Stripe still shows the whole credit note, and cannot void it because the invoice is paid. Create a new invoice on Stripe for that part and mark it paid out of band, or tell your accountant about it. Then dismiss this.',
  }),
  'credit-refused': (f) => ({
    summary: `Stripe refused ${f.call} for the loss from ${f.loss}: ${f.said}`,
    proposal:
      'Stripe does not show the loss. Fix the error that Stripe named and retry, or credit the loss by hand and dismiss this.',
  }),
};

const BILL_OR_WRITE_OFF = 'Bill the customer again, or write the loss off. The invoice stays paid on Stripe.';

function renderLost(factOf: FactOf<'dispute-lost'>): Sentences {
  const apart = factOf.apart === null ? null : APART_WORDS[factOf.apart];
  const since = factOf.bookedSince ? '; the ledger now has the loss' : '';
  const todo = factOf.twice === null ? (apart?.proposal ?? BILL_OR_WRITE_OFF) : twiceProposal(factOf);
  return {
    summary: `dispute ${factOf.dispute} was lost: the bank took ${showDisputed(factOf)} back${twiceSaid(factOf.twice)}${since}${apart?.said ?? ''}`,
    proposal: factOf.bookedSince ? `Reverse your own booking outside the ledger. ${todo}` : todo,
  };
}

function twiceSaid(twice: FactOf<'dispute-lost'>['twice']): string {
  if (twice === null) return '';
  const how = twice.how === 'refunded' ? 'the MoR refunded' : 'another dispute or return took back';
  return `, and ${how} payment ${twice.payment} as well: the customer got ${showMoney(twice.got)} twice; the ledger books ${showMoney(twice.booked)} as lost`;
}

function twiceProposal({ twice, apart }: FactOf<'dispute-lost'>): string {
  if (twice === null) return '';
  const bill = `Bill the customer ${showMoney(twice.booked)} again, or write this amount off${apart === null ? '' : ', if this money paid the invoice'}. `;
  const remaining = twice.booked.minor === 0n || apart === 'for-nothing' ? '' : bill;
  return `${remaining}Ask the MoR whether the customer got the money twice. If so, ask the customer for ${showMoney(twice.got)}. Or accept the loss and book it outside this ledger: the ledger never books more than the payment.${apart === null ? ' The invoice stays paid.' : ''}`;
}

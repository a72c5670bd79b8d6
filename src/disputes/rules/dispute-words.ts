// The sentences of items about disputes and alerts. The headline has neither the id nor the deadline: they stand beside it.
import { type FactOf, type Sentences, type Words } from '../../domain/fact.js';
import { type Again, type Disputed } from '../../domain/facts/parts.js';
import { showMoney } from '../../domain/money.js';
import { showIso, showUntil } from '../../domain/show-time.js';
import { APART_WORDS } from '../../returns/rules/apart-words.js';

export const disputeWords: Words<
  | 'evidence-due'
  | 'evidence-returned'
  | 'outcome-unclear'
  | 'dispute-lost'
  | 'loss-unread'
  | 'won-after-loss'
  | 'credit-beyond-loss'
  | 'credit-refused'
  | 'alert-received'
  | 'alert-handled'
> = {
  'evidence-due': (f) => {
    const what = `the customer's bank disputes ${sumOf(f)}`;
    const needed = 'evidence is needed';
    const after = afterOutcome(f);
    return {
      summary: `${what}: dispute ${f.dispute}, ${needed} ${showUntil(f.until)}${after}`,
      headline: `${what}: ${needed}${f.until === null ? ` ${showUntil(null)}` : ''}${after}`,
      proposal: `Send evidence ${dashboard(f.url)} The invoice stays paid meanwhile.`,
    };
  },
  'evidence-returned': (f) => {
    const note = f.note === null || f.note === '' ? '' : `: ${f.note}`;
    const rest = `${afterOutcome(f)}${note}`;
    const needed = 'was sent back, new evidence is needed';
    return {
      summary: `the evidence for dispute ${f.dispute} ${needed} ${showUntil(f.until)}${rest}`,
      headline: `the evidence for the dispute ${needed}${f.until === null ? ` ${showUntil(null)}` : ''}${rest}`,
      proposal: `Amend the evidence ${dashboard(f.url)}`,
    };
  },
  'outcome-unclear': (f) => ({
    ...ofDispute(
      f.dispute,
      `was decided${again(f)} in words Crossbill does not know: ${f.outcome ?? 'no outcome given'}`,
    ),
    proposal: "Look it up in the MoR's dashboard; the books do not say whether the bank took the money.",
  }),
  'dispute-lost': lostWords,
  'loss-unread': (f) => ({
    ...ofDispute(
      f.dispute,
      `was lost${again(f)}, and how much the bank took is not sure: the MoR wrote "${f.unread}"${f.takenBack ? '; what was booked is taken back' : ''}; the loss is not in the ledger`,
    ),
    proposal: `Look the sum up in the MoR's dashboard and book the loss beside the ledger. Refund no more than the rest of the payment. ${f.refunded ? 'Money of this payment was refunded as well: what the bank took beyond the rest of it, the customer got twice; ask the MoR whether both went out. ' : ''}${f.apart === null ? BILL_OR_WRITE_OFF : APART_WORDS[f.apart].proposal}`,
  }),
  'won-after-loss': (f) => ({
    ...ofDispute(f.dispute, `was lost and then won${again(f)}: the bank returned ${sumOf(f)}`),
    proposal: `${f.reversed ? `The loss is reversed in the ledger.${f.beside ? ' What was booked beside it: take that back, too.' : ''}` : 'The ledger never had the loss: if it was booked beside it, take that back.'} If the customer was billed again meanwhile, decide which of the two stands.`,
  }),
  'credit-beyond-loss': (f) => ({
    summary: `credit note ${f.creditNote} shows a loss of ${showMoney(f.credited)} of payment ${f.payment}, and ${f.over ? 'the money is there after all' : `only ${showMoney(f.lost)} of it is lost: the rest was refunded, or is another's`}`,
    proposal:
      'The ledger has taken the rest of the credit note back, and Stripe still shows it. Stripe voids no credit note of a paid invoice: bill the difference on Stripe with a new invoice and mark it paid out of band, or note it for your accountant. Dismiss this when it is done.',
  }),
  'credit-refused': (f) => ({
    summary: `${f.call} for the loss by ${f.loss} was refused: ${f.said}`,
    proposal:
      'Stripe does not show the loss. Fix what the answer names and retry, or credit it by hand and dismiss this.',
  }),
  'alert-received': (f) => {
    const what = `a chargeback of ${sumOf(f)} is about to be raised`;
    return {
      summary: `${what}: alert ${f.alert} on ${paymentOf(f.payment)}, to be handled ${showUntil(f.until)}`,
      headline: f.until === null ? `${what}: to be handled ${showUntil(null)}` : what,
      proposal: 'Wait for the outcome, or refund the payment now to avoid the chargeback.',
    };
  },
  'alert-handled': (f) => {
    const event = 'its payment.refunded event is the same refund and closes this. Do not refund it a second time.';
    if (f.refunded)
      return {
        summary: `alert ${f.alert} was answered with a refund of ${paymentOf(f.payment)}, whose event has not come yet`,
        headline: 'the alert was answered with a refund of the payment, whose event has not come yet',
        proposal: `Wait: ${event}`,
      };
    return {
      summary: `alert ${f.alert} on ${paymentOf(f.payment)} was handled; it does not say whether the payment was refunded`,
      headline: 'the alert was handled; it does not say whether the payment was refunded',
      proposal: `Look in the MoR's dashboard whether it was refunded. If it was, ${event} If not, a dispute may follow.`,
    };
  },
};

const BILL_OR_WRITE_OFF = 'Bill the customer again or write the loss off. The invoice stays paid.';

function lostWords(f: FactOf<'dispute-lost'>): Sentences {
  const apart = f.apart === null ? null : APART_WORDS[f.apart];
  const since = f.bookedSince ? '; it is in the ledger now' : '';
  const tail = (payment: string): string => `${twiceSaid(f.twice, payment)}${since}${apart?.said ?? ''}`;
  const lost = `was lost${again(f)}: the bank took ${sumOf(f)} back`;
  const todo = f.twice === null ? (apart?.proposal ?? BILL_OR_WRITE_OFF) : twiceProposal(f);
  return {
    summary: `dispute ${f.dispute} ${lost}${tail(paymentOf(f.twice?.payment ?? null))}`,
    headline: `the dispute ${lost}${tail('the payment')}`,
    proposal: f.bookedSince ? `What was booked beside the ledger: take that back. ${todo}` : todo,
  };
}

function twiceSaid(twice: FactOf<'dispute-lost'>['twice'], payment: string): string {
  if (twice === null) return '';
  const how = twice.how === 'refunded' ? 'refunded' : 'taken back';
  return `, and ${payment} was ${how} as well: the customer got ${showMoney(twice.got)} twice, and ${showMoney(twice.booked)} is booked as lost`;
}

function twiceProposal({ twice, apart }: FactOf<'dispute-lost'>): string {
  if (twice === null) return '';
  const bill = `Bill the customer ${showMoney(twice.booked)} again or write that off${apart === null ? '' : ', if the invoice was paid with this money'}. `;
  const rest = twice.booked.minor === 0n || apart === 'for-nothing' ? '' : bill;
  return `${rest}Ask the MoR whether both went out. If so, ask the customer for ${showMoney(twice.got)}, or take it as a loss and book it beside this ledger, which never books more than the payment.${apart === null ? ' The invoice stays paid.' : ''}`;
}

const ofDispute = (name: string, what: string): Pick<Sentences, 'summary' | 'headline'> => ({
  summary: `dispute ${name} ${what}`,
  headline: `the dispute ${what}`,
});

const afterOutcome = (f: { readonly afterOutcome: string | null }): string =>
  f.afterOutcome === null ? '' : `, after the outcome "${f.afterOutcome}"`;

const dashboard = (url: string | null): string => `in the MoR's dashboard${url === null ? '' : ` (${url})`}.`;

const again = (f: Again): string => (f.again ? ` again${f.againAt === null ? '' : ` on ${showIso(f.againAt)}`}` : '');

const paymentOf = (name: string | null): string => (name === null ? 'a payment' : `payment ${name}`);

function sumOf({ amount, unread }: Disputed): string {
  if (unread !== null) return `a sum that the MoR wrote as "${unread}"`;
  return amount === null ? 'a payment' : showMoney(amount);
}

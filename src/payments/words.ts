// Sentences of items about payments and their marks.
import { type FactOf, type Sentences, type Words } from '../domain/fact.js';
import { type ByHand, type Seen } from '../domain/facts/parts.js';
import { type Money, showMoney } from '../domain/money.js';
import { showIso } from '../domain/show-time.js';
import { showObserved } from '../domain/show-observed.js';

export const paymentWords: Words<
  | 'amount-differs'
  | 'rest-due'
  | 'marked-beyond'
  | 'overpaid'
  | 'other-currency'
  | 'other-customer'
  | 'no-such-invoice'
  | 'invoice-void'
  | 'paid-twice'
  | 'paid-otherwise'
  | 'named-again'
  | 'charge-elsewhere'
  | 'success-differs'
  | 'refused-after'
  | 'mark-refused'
  | 'mark-untraceable'
> = {
  'amount-differs': (f) => ({
    summary: `${showMoney(f.taken)} was taken; ${showMoney(f.due)} is due`,
    proposal: ofOtherAmount(f),
  }),
  'rest-due': (f) => ({
    summary: `the payment is attached, and the invoice is still ${f.status} with ${showMoney(f.due)} due`,
    proposal:
      'The invoice changed while it was being marked. Credit the rest on Stripe, or collect it there: what the MoR takes for it is shown as a double payment.',
  }),
  'marked-beyond': (f) => ({
    summary: `the invoice was marked as paid with ${showMoney(f.shown)}, and ${showMoney(f.taken)} was taken`,
    proposal: `More was due than was taken. Bill ${showMoney({ ...f.shown, minor: f.shown.minor - f.taken.minor })} with a new invoice on Stripe, or leave it to the customer, and dismiss this.`,
  }),
  overpaid: overpaidWords,
  'other-currency': (f) => ({
    summary: `${showMoney(f.taken)} was taken; the invoice is in ${f.currency ?? 'no currency'}`,
    proposal: `Refund ${showMoney(f.taken)}.`,
  }),
  'other-customer': (f) => ({
    summary: `the payment names customer ${f.named}; the invoice belongs to ${f.owner ?? 'nobody'}`,
    proposal: 'Find out whose money it is. Apply it if it is meant for this invoice; otherwise refund it.',
  }),
  'no-such-invoice': (f) => ({
    summary: `${showMoney(f.taken)} was taken for invoice ${f.invoice}, which does not exist on Stripe`,
    proposal: `See that STRIPE_API_KEY is of the account that billed it: to any other key the invoice is unknown, and a retry under the right one marks it. If it is, refund ${showMoney(f.taken)}.`,
  }),
  'invoice-void': (f) => ({
    summary: `${showMoney(f.taken)} was taken for invoice ${f.invoice}, which is void${f.replacedBy === null ? '' : `: invoice ${f.replacedBy} replaced it`}`,
    proposal:
      f.replacedBy === null
        ? `Refund ${showMoney(f.taken)}, or bill the customer again.`
        : ofRevision(showMoney(f.taken), f.replacedBy),
  }),
  'paid-twice': (f) => ({
    summary: `${showMoney(f.taken)} was taken although payment ${f.settledBy} already settles this invoice${f.sameCharge === null ? '' : ` with the same charge ${f.sameCharge}`}${andObserved(f.observations)}`,
    proposal: f.maybeOne ? ASK_IF_TWICE : refundOfSecond(showMoney(f.taken)),
  }),
  'paid-otherwise': (f) => ({
    summary: `${showMoney(f.taken)} was taken although the invoice was already paid another way${f.record === null ? '' : ` (payment record ${f.record} of this payment is not attached)`}${andObserved(f.observations)}`,
    // Somebody may have marked the invoice by hand for this very payment. The mark may precede the event of a bank
    // transfer, or fall into the hold of a renewal.
    proposal: `If somebody marked the invoice by hand for this money, dismiss this: a refund would give the only money back. If the customer paid the invoice twice, refund ${showMoney(f.taken)}.`,
  }),
  'named-again': (f) => ({
    summary: `${showMoney(f.taken)} was taken although the invoice was already paid another way; the payment names the same charge ${f.charge ?? ''} as payment ${f.payment}`,
    proposal: ASK_IF_TWICE,
  }),
  'charge-elsewhere': (f) => ({
    summary: `payment ${f.payment} of ${showMoney(f.amount)} for this invoice names charge ${f.charge ?? ''}, which is booked for payment ${f.holder} of invoice ${f.holderInvoice}`,
    proposal:
      'Ask the MoR which invoice the charge paid. Nothing is booked or marked here. If it paid the other, dismiss this, then have the MoR charge this invoice, or collect it another way: Crossbill charges nobody for it. If it paid this one, mark it on Stripe by hand and credit the other, then dismiss this.',
  }),
  'success-differs': (f) => {
    const [stated, recorded] = f.observations;
    const isOther = typeof stated.charge === 'string' && stated.charge !== recorded.charge;
    const charge = (x: Seen): string => (isOther ? `, charge ${x.charge ?? 'unknown'}` : '');
    const of = (x: Seen): string => `${sumOf(x.money)} of ${x.customer ?? 'nobody'}${charge(x)}`;
    return {
      summary: `event ${stated.id ?? ''} says ${f.payment} was ${of(stated)}; the record says ${of(recorded)}`,
      proposal: 'Ask the MoR which is right. The first record stands.',
    };
  },
  'refused-after': (f) => ({
    summary: `${f.payment === null ? `charge ${f.charge ?? ''} of a signup` : `payment ${f.payment}`} was taken at ${showIso(f.takenAt)}, but the MoR refused it after that, at ${showIso(f.refusedAt)}: ${f.reason ?? 'no reason given'}`,
    proposal:
      'Ask the MoR whether it still has the money. If a bank debit was returned, record that on the page of the payment. The invoice stays as it is until a person changes it on Stripe.',
  }),
  'mark-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal: `Fix what the answer names, then retry. ${f.byHand === null ? '' : byHand(f.byHand)}`.trimEnd(),
  }),
  'mark-untraceable': (f) => ({
    summary: `Crossbill cannot tell whether payment ${f.payment} was reported: ${f.why}`,
    proposal: `Look for a payment record with reference ${f.reference} on Stripe. If there is none, retry. If there is one, attach it to the invoice, then retry as well: it is found there and booked.`,
  }),
};

const sumOf = (sum: Money | null): string => (sum === null ? 'an unknown amount' : showMoney(sum));

/**
 * Lists every report of money, if one of them is not in the books. Payments in the books are in the sentence already.
 */
function andObserved(all: readonly Seen[]): string {
  return all.some((x) => x.source !== 'books') ? `. ${showObserved(all)}` : '';
}

function ofOtherAmount({ taken, due, marking }: FactOf<'amount-differs'>): string {
  if (marking === 'out_of_band')
    return 'Out of band only the exact amount can be applied: change the invoice on Stripe to it (by a credit note, for example) and retry, or refund it.';
  return taken.minor < due.minor
    ? 'Apply it as a part payment and collect the rest, or refund it.'
    : 'Refund it, or apply it: Stripe credits the surplus to the customer.';
}

function overpaidWords(f: FactOf<'overpaid'>): Sentences {
  const paid = f.by.map((p) => `${showMoney(p.amount)} (payment ${p.payment})`).join(' and ');
  const since = f.refunded.minor === 0n ? '' : `; ${showMoney(f.refunded)} of it was refunded since`;
  return {
    summary: `the invoice is overpaid by ${showMoney(f.over)}: ${paid === '' ? 'the MoR took nothing for it' : `${paid} was taken`}, ${showMoney(f.due)} was due${since}`,
    proposal: f.credited
      ? ofBalance(f)
      : `Refund ${showMoney(f.left)}, or apply this and credit the customer: Stripe shows only what was due as paid.`,
  };
}

/**
 * The proposal for a surplus that Stripe has credited to the customer's balance: a refund at the MoR does not lower
 * this balance.
 */
function ofBalance({ refunded, left }: FactOf<'overpaid'>): string {
  if (refunded.minor === 0n)
    return `Refund ${showMoney(left)} and deduct it from the customer's balance on Stripe, or apply this: Stripe keeps it as the customer's credit.`;
  const deduct = `Deduct ${showMoney(refunded)} from the customer's balance on Stripe, if nobody has yet: the customer got it back, and it is credited there as well.`;
  if (left.minor <= 0n) return `${deduct} Then dismiss this. Do not refund it again.`;
  return `${deduct} Then refund the other ${showMoney(left)} and deduct it too, or apply this: Stripe keeps that as the customer's credit.`;
}

/** The proposal for money on a void invoice with a replacement: the MoR will charge the replacement too. */
function ofRevision(taken: string, revision: string): string {
  return `Refund ${taken}, and let the MoR charge invoice ${revision}. Or keep the money for ${revision}: have the MoR stop charging ${revision} at once, mark ${revision} paid on Stripe, then dismiss this. Without one of the two the customer pays twice.`;
}

function refundOfSecond(taken: string): string {
  return `Refund ${taken}, unless the other payment has gone back to the customer or is not marked after all. Then retry this while the invoice can be paid, else bill this money with a new invoice on Stripe and dismiss this.`;
}

/** For two payments with perhaps one charge: a refund may return the only money. */
const ASK_IF_TWICE =
  'Ask the MoR whether the customer was charged twice. Refund it only if so, and the other payment has not gone back; otherwise dismiss this.';

function byHand(h: ByHand): string {
  const then = 'then retry as well: it is found on Stripe and booked. Do not dismiss this then.';
  switch (h.how) {
    case 'report':
      return `If you mark the invoice by hand, report a payment record of ${showMoney(h.amount)} with reference ${h.reference}, attach it, and ${then}`;
    case 'attach':
      return `If you mark the invoice by hand, attach payment record ${h.record} to it, and ${then}`;
    case 'metadata':
      return `If you mark the invoice by hand, set its metadata mor_payment_id to ${h.payment} and mor_charge_id to ${h.reference}, mark it as paid outside of Stripe, and ${then}`;
    case 'out-of-band':
      return `If you mark the invoice by hand, mark it as paid outside of Stripe, and ${then}`;
  }
}

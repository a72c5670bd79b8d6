// Sentences of items about payments and their marks.
import { type FactOf, type Sentences, type Words } from '../../shared/domain/fact.js';
import { type ByHand, type Seen } from '../../shared/domain/facts/parts.js';
import { type Money, showMoney } from '../../shared/domain/money.js';
import { showNothingDue } from '../../shared/domain/nothing-due.js';
import { showIso } from '../../shared/domain/show-time.js';
import { showObserved } from '../../shared/domain/show-observed.js';

export const paymentWords: Words<
  | 'amount-differs'
  | 'amount-grew'
  | 'rest-due'
  | 'marked-beyond'
  | 'overpaid'
  | 'other-currency'
  | 'other-customer'
  | 'no-such-invoice'
  | 'invoice-void'
  | 'paid-twice'
  | 'paid-otherwise'
  | 'nothing-due'
  | 'named-again'
  | 'charge-elsewhere'
  | 'success-differs'
  | 'refused-after'
  | 'mark-refused'
  | 'mark-untraceable'
  | 'transfer-short'
> = {
  'transfer-short': (f) => ({
    summary: `the customer transferred only ${showMoney(f.received)} of ${showMoney(f.total)} for proforma invoice ${f.proforma}; ${showMoney(f.missing)} is missing`,
    proposal:
      "Apply the transfer as a part payment and collect the rest, or refund it in the MoR's portal and dismiss this.",
  }),
  'amount-differs': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but ${showMoney(f.due)} is due`,
    proposal: ofOtherAmount(f),
  }),
  'amount-grew': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, the amount of the draft; the final invoice has ${showMoney(f.due)} due`,
    proposal: ofGrowth(f),
  }),
  'rest-due': (f) => ({
    summary: `Crossbill attached the payment, but the invoice is still ${f.status} with ${showMoney(f.due)} due`,
    proposal:
      'Somebody changed the invoice while Crossbill marked it. Credit the rest on Stripe, or collect it there. Do not let the MoR collect it: Crossbill would show that money as a second payment.',
  }),
  'marked-beyond': (f) => ({
    summary: `Crossbill marked the invoice as paid with ${showMoney(f.shown)}, but the MoR took only ${showMoney(f.taken)}`,
    proposal: `Bill the missing ${showMoney({ ...f.shown, minor: f.shown.minor - f.taken.minor })} with a new invoice on Stripe, or let the customer keep it. Then dismiss this.`,
  }),
  overpaid: overpaidWords,
  'other-currency': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but the invoice is in ${f.currency ?? 'no currency'}`,
    proposal: `Refund ${showMoney(f.taken)}.`,
  }),
  'other-customer': (f) => ({
    summary: `the payment names customer ${f.named}; the invoice belongs to ${f.owner ?? 'nobody'}`,
    proposal: 'Find out whose money it is. Apply it if it is meant for this invoice; otherwise refund it.',
  }),
  'no-such-invoice': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)} for invoice ${f.invoice}, but Stripe has no such invoice`,
    proposal: `Check that STRIPE_API_KEY belongs to the account of this invoice: a key of another account cannot see it. With the right key, retry. If the key was right, refund ${showMoney(f.taken)}.`,
  }),
  'invoice-void': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)} for invoice ${f.invoice}, but the invoice is void${f.replacedBy === null ? '' : `: invoice ${f.replacedBy} replaced it`}`,
    proposal:
      f.replacedBy === null
        ? `Refund ${showMoney(f.taken)}. If the customer still owes this amount, bill it again.`
        : ofRevision(showMoney(f.taken), f.replacedBy),
  }),
  'paid-twice': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but payment ${f.settledBy} has already paid this invoice${f.sameCharge === null ? '' : ` with the same charge ${f.sameCharge}`}${andObserved(f.observations)}`,
    proposal: f.maybeOne ? ASK_IF_TWICE : refundOfSecond(showMoney(f.taken)),
  }),
  'paid-otherwise': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but the invoice was already paid another way${notAttached(f)}${andObserved(f.observations)}`,
    // Somebody may have marked the invoice by hand for this very payment: before the event of a bank transfer arrived,
    // or while Crossbill held the payment of a renewal.
    proposal: `If somebody marked the invoice by hand for this money, dismiss this: a refund would return the customer's only payment. If the customer paid the invoice twice, refund ${showMoney(f.taken)}.`,
  }),
  'nothing-due': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but nothing was due on the invoice: ${showNothingDue(f.why)}${notAttached(f)}${andObserved(f.observations)}`,
    proposal: `Refund ${showMoney(f.taken)}: Stripe asked the customer for nothing. If the customer still owes this money, because the credit was a mistake, keep it: bill ${showMoney(f.taken)} with a new invoice, mark that one as paid, and dismiss this.`,
  }),
  'named-again': (f) => ({
    summary: `the MoR took ${showMoney(f.taken)}, but the invoice was already paid another way; this payment and payment ${f.payment} have the same charge ${f.charge ?? ''}`,
    proposal: ASK_IF_TWICE,
  }),
  'charge-elsewhere': (f) => ({
    summary: `payment ${f.payment} of ${showMoney(f.amount)} for this invoice has charge ${f.charge ?? ''}, but the ledger has that charge as payment ${f.holder} of invoice ${f.holderInvoice}`,
    proposal: `Ask the MoR which invoice the charge paid. Crossbill booked and marked nothing for this invoice. If the charge paid invoice ${f.holderInvoice}, dismiss this, and then have the MoR charge this invoice or collect it another way: Crossbill itself requests no charge. If the charge paid this invoice, mark it on Stripe by hand, credit ${f.holderInvoice}, and then dismiss this.`,
  }),
  'success-differs': (f) => {
    const [stated, recorded] = f.observations;
    const isOther = typeof stated.charge === 'string' && stated.charge !== recorded.charge;
    const charge = (seen: Seen): string => (isOther ? `, charge ${seen.charge ?? 'unknown'}` : '');
    const of = (seen: Seen): string => `${sumOf(seen.money)} from ${seen.customer ?? 'nobody'}${charge(seen)}`;
    return {
      summary: `event ${stated.id ?? ''} reports ${f.payment} as ${of(stated)}; Crossbill recorded ${of(recorded)}`,
      proposal: 'Ask the MoR which is right. Crossbill keeps its first record.',
    };
  },
  'refused-after': (f) => ({
    summary: `${f.payment === null ? `charge ${f.charge ?? ''} of a signup` : `payment ${f.payment}`} succeeded at ${showIso(f.takenAt)}, but later the MoR reported it as failed, at ${showIso(f.refusedAt)}: ${f.reason ?? 'no reason given'}`,
    proposal:
      'Ask the MoR whether it still has the money. If the bank returned a debit, record the return on the page of the payment. The invoice stays as it is until a person changes it on Stripe.',
  }),
  'mark-refused': (f) => ({
    summary: `Stripe refused the call ${f.call}: ${f.said}`,
    proposal: `Fix the error from Stripe, then retry. ${f.byHand === null ? '' : byHand(f.byHand)}`.trimEnd(),
  }),
  'mark-untraceable': (f) => ({
    summary: `Crossbill cannot tell whether Stripe has a payment record for payment ${f.payment}: ${f.why}`,
    proposal: `Look for a payment record with reference ${f.reference} on Stripe. If there is none, retry. If there is one, attach it to the invoice, then retry: Crossbill finds the record there and books it.`,
  }),
};

const sumOf = (sum: Money | null): string => (sum === null ? 'an unknown amount' : showMoney(sum));

const notAttached = ({ record }: { readonly record: string | null }): string =>
  record === null ? '' : ` (payment record ${record} of this payment is not attached)`;

/** Lists all reports of money if the ledger lacks any of them. The sentence already names the ledger's payments. */
function andObserved(all: readonly Seen[]): string {
  return all.some((x) => x.source !== 'books') ? `. ${showObserved(all)}` : '';
}

function ofOtherAmount({ taken, due, marking }: FactOf<'amount-differs'>): string {
  if (marking === 'out_of_band')
    return `With BILLING_MARK_MODE=out_of_band Crossbill can apply only the exact amount. Change the invoice on Stripe to ${showMoney(taken)}, for example by a credit note, and retry; or refund the payment.`;
  return taken.minor < due.minor
    ? 'Apply the payment as a part payment and collect the rest, or refund it.'
    : 'Refund the payment, or apply it: Stripe credits the surplus to the customer.';
}

function ofGrowth({ taken, due, marking }: FactOf<'amount-grew'>): string {
  const remaining = showMoney({ ...due, minor: due.minor - taken.minor });
  const next = 'For the next renewals, let the MoR wait for the final amount: MOR_RELAY_EVENTS=finalized.';
  if (marking === 'out_of_band')
    return `With BILLING_MARK_MODE=out_of_band Crossbill can apply only the exact amount. Credit the ${remaining} on Stripe and retry, or refund the payment. ${next}`;
  return `Apply the payment as a part payment, then make a payment link for the other ${remaining}. ${next}`;
}

function overpaidWords(factOf: FactOf<'overpaid'>): Sentences {
  const paid = factOf.by.map((p) => `${showMoney(p.amount)} (payment ${p.payment})`).join(' and ');
  const since = factOf.refunded.minor === 0n ? '' : `; the MoR has refunded ${showMoney(factOf.refunded)} since`;
  return {
    summary: `the invoice is overpaid by ${showMoney(factOf.over)}: ${paid === '' ? 'the MoR took nothing for it' : `the MoR took ${paid}`}, ${showMoney(factOf.due)} was due${since}`,
    proposal: factOf.credited
      ? ofBalance(factOf)
      : `Refund ${showMoney(factOf.left)}, or apply this and credit the customer yourself: Stripe shows only the amount due as paid.`,
  };
}

/**
 * The proposal for a surplus that Stripe has credited to the customer's balance: a refund at the MoR does not lower
 * this balance.
 */
function ofBalance({ refunded, left }: FactOf<'overpaid'>): string {
  if (refunded.minor === 0n)
    return `Refund ${showMoney(left)} and deduct it from the customer's balance on Stripe, or apply this: Stripe keeps it as the customer's credit.`;
  const deduct = `Deduct ${showMoney(refunded)} from the customer's balance on Stripe, if nobody has done so: the customer got this money back, and Stripe still credits it.`;
  if (left.minor <= 0n) return `${deduct} Then dismiss this. Do not refund it again.`;
  return `${deduct} Then refund the other ${showMoney(left)} and deduct it too, or apply this: Stripe keeps it as the customer's credit.`;
}

/** The proposal for money on a void invoice with a replacement: the MoR will charge the replacement too. */
function ofRevision(taken: string, revision: string): string {
  return `Refund ${taken}, and let the MoR charge invoice ${revision}. Or keep the money for ${revision}: have the MoR stop charging ${revision} at once, mark ${revision} paid on Stripe, then dismiss this. If you do neither, the customer pays twice.`;
}

function refundOfSecond(taken: string): string {
  return `Check the other payment: Stripe must show it as paid, and it must have no refund, lost dispute or returned debit. If so, refund ${taken}. Otherwise keep this money: retry while the invoice can still be paid, or bill ${taken} with a new invoice on Stripe and dismiss this.`;
}

/** The proposal for two payments with perhaps one charge: a refund may return the customer's only payment. */
const ASK_IF_TWICE =
  'Ask the MoR whether it charged the customer twice. If it did, and the other payment did not go back to the customer, refund this payment. Otherwise dismiss this.';

function byHand(byHand: ByHand): string {
  const then = 'then retry; do not dismiss this. Crossbill finds your mark on Stripe and books it.';
  switch (byHand.how) {
    case 'report':
      return `If you mark the invoice by hand, report a payment record of ${showMoney(byHand.amount)} with reference ${byHand.reference}, attach it, and ${then}`;
    case 'attach':
      return `If you mark the invoice by hand, attach payment record ${byHand.record} to it, and ${then}`;
    case 'metadata':
      return `If you mark the invoice by hand, set its metadata mor_payment_id to ${byHand.payment} and mor_charge_id to ${byHand.reference}, mark it as paid outside of Stripe, and ${then}`;
    case 'out-of-band':
      return `If you mark the invoice by hand, mark it as paid outside of Stripe, and ${then}`;
  }
}

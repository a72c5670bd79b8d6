// Sentences of items about refunds.
import { type FactOf, type Words } from '../../shared/domain/fact.js';
import { showMoney } from '../../shared/domain/money.js';
import { showIso } from '../../shared/domain/show-time.js';

export const refundItemWords: Words<
  | 'refunds-beyond-payment'
  | 'refund-event-missing'
  | 'totals-overlap'
  | 'refund-unshown'
  | 'refund-beyond-sale'
  | 'answer-differs'
  | 'request-refused'
  | 'refund-waits'
  | 'refund-failed'
  | 'refunded-elsewhere'
  | 'payment-misnamed'
  | 'payment-renamed'
  | 'refund-differs'
  | 'refund-named-otherwise'
  | 'mirror-refused'
> = {
  'refunds-beyond-payment': (f) => ({
    summary: `the MoR reports more refunds than payment ${f.payment} of ${showMoney(f.amount)} allows; the known refunds add up to ${showMoney(f.refunded)}`,
    proposal:
      'Ask the MoR which refunds are real. Crossbill lists the refunds beyond the payment, but leaves them out of the ledger and of Stripe.',
  }),
  'refund-event-missing': (f) => ({
    summary: `the MoR's total for payment ${f.payment} is ${showMoney(f.reported)} refunded, but its refund events add up to ${showMoney(f.received)}`,
    proposal: 'A refund event is missing. If it does not arrive, ask the MoR to send it again.',
  }),
  'totals-overlap': (f) => ({
    summary: `the MoR's running totals of the refunds of payment ${f.payment} contradict each other at ${showMoney(f.at)}`,
    proposal: "Compare the refunds with the MoR's portal. Crossbill recorded each refund as its event says.",
  }),
  'refund-unshown': (f) => ({
    summary: `${showMoney(f.amount)} of payment ${f.payment} was refunded, and Stripe does not show the refund: Crossbill marked no invoice with this money`,
    proposal:
      'Did this money settle the invoice, because somebody marked it by hand or the MoR reported one payment twice? Then credit the invoice on Stripe by hand. Did the customer pay twice? Then there is nothing to credit. Dismiss this afterwards.',
  }),
  'refund-beyond-sale': (f) => ({
    summary: `${showMoney(f.beyond)} of refund ${f.refund} of ${showMoney(f.amount)} has no credit note: the credit notes of this invoice may not exceed its total of ${showMoney(f.total)}`,
    proposal: `${ofDebt(f)}${ofEarlierNotes(f)} Then dismiss this.`,
  }),
  'answer-differs': (f) => ({
    summary: `Crossbill requested a refund of ${showMoney(f.asked)} of payment ${f.payment}; the MoR confirmed ${showMoney(f.answered)} of payment ${f.answeredFor}`,
    proposal: 'Ask the MoR what it refunded. Crossbill shows no refund on Stripe for this answer.',
  }),
  'request-refused': (f) => ({
    summary: `the MoR refused the request for refund ${f.refund} of ${showMoney(f.amount)}: ${f.said}; but a payment.refunded event reports ${f.other === null ? 'a refund' : `refund ${f.other}`} of the same amount`,
    proposal: f.nothingMade
      ? 'This request refunded nothing. If you wanted two refunds, request another one. Then dismiss this.'
      : 'Ask the MoR whether the reported refund comes from this request, or from elsewhere, such as its portal. If it comes from elsewhere, this request refunded nothing: if you wanted two refunds, request another one. Then dismiss this.',
  }),
  'refund-waits': (f) => ({
    summary: `refund ${f.refund} of ${showMoney(f.amount)} has been ${f.status} since ${showIso(f.since)}${refusedSaid(f.refused)}${f.dismissedAt === null ? '' : `; a person dismissed an earlier item about it on ${showIso(f.dismissedAt)}`}`,
    proposal: `Ask the MoR whether it made this refund. The amount stays reserved until the payment.refunded event arrives and closes this item. If the MoR refunded nothing, choose \`apply\` with a note to free the amount.${f.withdrawn || f.refused !== null ? ' Crossbill does not send the request again automatically; `retry` sends the request once more, under the same key.' : ''}`,
  }),
  'refund-failed': (f) => ({
    summary: `refund ${f.refund} failed, and the customer got nothing: ${f.said ?? 'no reason given'}`,
    proposal: 'Find out why this refund failed. After that you can refund the amount again.',
  }),
  'refunded-elsewhere': (f) => ({
    summary: `the MoR refunded ${showMoney(f.amount)} of payment ${f.payment}, but the ledger has neither that payment nor the refund: a person decided that the payment brought this invoice no money`,
    proposal:
      "Ask the MoR which invoice's money it refunded. If it refunded another invoice's money, credit that invoice on Stripe and book the refund outside the ledger. Credit nothing on this invoice. Crossbill does not charge this invoice again.",
  }),
  'payment-misnamed': (f) => ({
    summary: `${f.by} entered the MoR's id ${f.payment} for this payment of charge ${f.ownCharge ?? ''}; but the MoR refunded ${showMoney(f.amount)} of ${f.payment} and says this id is charge ${f.charge ?? ''} of customer ${f.customer}`,
    proposal: `Ask the MoR which customer got the money. The refund of ${f.payment} is no refund of this payment.`,
  }),
  'payment-renamed': (f) => ({
    summary: `Crossbill requested a refund of ${showMoney(f.amount)} for id ${f.from}, which a person entered for this payment; the MoR's id for this payment is ${f.to}`,
    proposal: `Ask the MoR whose payment ${f.from} is. If another customer got the money, the ledger and Stripe wrongly show a refund of this payment: correct your accounts, and refund ${f.to} in the MoR's portal if this payment's customer should get the money. If both ids belong to one payment, dismiss this.`,
  }),
  'refund-differs': (f) => ({
    summary: `event ${f.event} reports another amount or total for refund ${f.refund ?? ''} than an earlier event`,
    proposal: 'Ask the MoR which is right. Crossbill keeps its first record.',
  }),
  'refund-named-otherwise': (f) => ({
    summary: `event ${f.event} reports refund ${f.refund ?? ''} of ${showMoney(f.amount)} with the processor's refund id ${f.processorRefund ?? ''}, and refund ${f.other} has the same id`,
    proposal: 'Ask the MoR whether it refunded once or twice. The ledger has only the first refund.',
  }),
  'mirror-refused': (f) => ({
    summary: `Stripe refused ${f.call}: ${f.said}`,
    proposal:
      f.other === null
        ? 'The MoR refunded the money, but Stripe does not show the refund. Fix the error that Stripe named and retry, or credit the invoice by hand and dismiss this.'
        : `Refund ${f.other.refund} of payment ${f.other.payment}, invoice ${f.other.invoice}, has the same processor's refund id ${f.processorRefund ?? ''}. Ask the MoR whether it refunded both. If it did, credit this invoice on Stripe by hand and dismiss this. If it did not, this customer got no money back.`,
  }),
};

function refusedSaid(refused: FactOf<'refund-waits'>['refused']): string {
  if (refused === null) return '';
  const why =
    refused.error === 'idempotency_conflict'
      ? 'the MoR knows the key of this refund with another body'
      : 'an earlier attempt may have made the refund';
  return `; the MoR refused the request: ${refused.said}; ${why}`;
}

function ofDebt({ debt }: FactOf<'refund-beyond-sale'>): string {
  if (debt === null) return '';
  const sum = showMoney(debt);
  return `The invoice also collected an older debt, and ${sum} of it was refunded. If the customer owes it again, add ${sum} to the customer's balance on Stripe.`;
}

function ofEarlierNotes({ beyond, debt }: FactOf<'refund-beyond-sale'>): string {
  const remaining = { ...beyond, minor: beyond.minor - (debt?.minor ?? 0n) };
  if (remaining.minor <= 0n) return '';
  return `${debt === null ? '' : ' '}Credit notes from before the refund cover ${showMoney(remaining)}. If the customer got that money another way, for example in the balance on Stripe, this refund paid it a second time: take it back there.`;
}

// Sentences of items about refunds.
import { type FactOf, type Words } from '../domain/fact.js';
import { showMoney } from '../domain/money.js';
import { showIso } from '../domain/show-time.js';

export const refundItemWords: Words<
  | 'refunds-beyond-payment'
  | 'refund-event-missing'
  | 'totals-overlap'
  | 'refund-unshown'
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
    summary: `refunds of ${showMoney(f.refunded)} are known for payment ${f.payment} of ${showMoney(f.amount)}`,
    proposal: 'Ask the MoR which refunds are real. What does not fit is shown but neither counted nor mirrored.',
  }),
  'refund-event-missing': (f) => ({
    summary: `the MoR says ${showMoney(f.reported)} of payment ${f.payment} was refunded; events for ${showMoney(f.received)} have come`,
    proposal: 'An event is missing. If it does not come, ask the MoR to send it again.',
  }),
  'totals-overlap': (f) => ({
    summary: `the running totals of the refunds of payment ${f.payment} do not add up at ${showMoney(f.at)}`,
    proposal: 'Compare the refunds with the MoR. All of them are recorded as the events say.',
  }),
  'refund-unshown': (f) => ({
    summary: `${showMoney(f.amount)} of payment ${f.payment} was refunded, and Stripe does not show the refund: Crossbill marked no invoice with this money`,
    proposal:
      'Did this money settle the invoice, because somebody marked it by hand or the MoR reported one payment twice? Then credit the invoice on Stripe by hand. Did the customer pay twice? Then there is nothing to credit. Dismiss this afterwards.',
  }),
  'answer-differs': (f) => ({
    summary: `${showMoney(f.asked)} of ${f.payment} was to be refunded; the MoR answered ${showMoney(f.answered)} of ${f.answeredFor}`,
    proposal: "Ask the MoR what it refunded. Crossbill showed nothing on Stripe from the MoR's answer.",
  }),
  'request-refused': (f) => ({
    summary: `the MoR refused the request for refund ${f.refund} of ${showMoney(f.amount)}: ${f.said}; ${f.other === null ? 'a refund' : `refund ${f.other}`} of that amount, known by an event, stands in its place`,
    proposal: f.nothingMade
      ? 'Nothing was refunded for this request. Ask for another refund if two were wanted. Then dismiss this.'
      : 'Ask the MoR whether that refund was made by this request or elsewhere, as in its portal. If elsewhere, nothing was refunded for this request: ask for another refund if two were wanted. Then dismiss this.',
  }),
  'refund-waits': (f) => ({
    summary: `refund ${f.refund} of ${showMoney(f.amount)} is ${f.status} since ${showIso(f.since)}${refusedSaid(f.refused)}${f.dismissedAt === null ? '' : `; an item was dismissed on ${showIso(f.dismissedAt)}`}`,
    proposal: `Ask the MoR what it refunded. Its payment.refunded event settles this; the amount stays reserved until then. If the MoR says that nothing was refunded, \`apply\` with a note frees the amount.${f.withdrawn || f.refused !== null ? ' Crossbill does not send the request again automatically; `retry` sends the request once more, under the same key.' : ''}`,
  }),
  'refund-failed': (f) => ({
    summary: `refund ${f.refund} failed, nothing was refunded: ${f.said ?? 'no reason given'}`,
    proposal: 'You may refund the amount again. Find out why this refund failed first.',
  }),
  'refunded-elsewhere': (f) => ({
    summary: `${showMoney(f.amount)} was given back of payment ${f.payment}, whose charge was said to have paid another invoice: the ledger does not show it`,
    proposal:
      "Ask the MoR which invoice's money it gave back. If the other's, credit that invoice on Stripe and book the refund outside the ledger. Credit nothing here; Crossbill does not charge this invoice again.",
  }),
  'payment-misnamed': (f) => ({
    summary: `${f.by} gave this payment of charge ${f.ownCharge ?? ''} the name ${f.payment}; the MoR says that ${f.payment} is charge ${f.charge ?? ''} of customer ${f.customer}, and ${showMoney(f.amount)} of that charge was given back`,
    proposal: `Find out at the MoR which customer got the money. What was given back under ${f.payment} is not money of this payment.`,
  }),
  'payment-renamed': (f) => ({
    summary: `${showMoney(f.amount)} was asked back under the name ${f.from}, which a person gave this payment; the MoR says that the payment is ${f.to}`,
    proposal: `Find out at the MoR whose payment ${f.from} is. If another customer got the money, it is here and on Stripe as if it had been given back of this payment: correct your accounts, and refund ${f.to} in the MoR's portal if its customer is to have it. If both are names of one payment, dismiss this.`,
  }),
  'refund-differs': (f) => ({
    summary: `event ${f.event} gives refund ${f.refund ?? ''} another amount or total than recorded`,
    proposal: 'Ask the MoR which is right. The first record stands.',
  }),
  'refund-named-otherwise': (f) => ({
    summary: `event ${f.event} names refund ${f.refund ?? ''} of ${showMoney(f.amount)}, and its processor's refund id ${f.processorRefund ?? ''} is that of refund ${f.other}`,
    proposal:
      'Ask the MoR whether it refunded once or twice. What was recorded first stands; the second is not in the ledger.',
  }),
  'mirror-refused': (f) => ({
    summary: `${f.call} was refused: ${f.said}`,
    proposal:
      f.other === null
        ? "The MoR refunded the money, but Stripe does not show the refund. Fix what Stripe's answer names and retry, or credit the invoice by hand and dismiss this."
        : `Refund ${f.other.refund} of payment ${f.other.payment}, invoice ${f.other.invoice}, carries the same processor's refund id ${f.processorRefund ?? ''}. Ask the MoR whether it refunded both. If it did, credit this invoice on Stripe by hand and dismiss this; if not, the money of this one was not given back.`,
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

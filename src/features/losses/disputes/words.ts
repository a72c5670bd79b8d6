// Sentences about disputes and alerts.
import { showDisputed, unreadSum } from '../../../shared/domain/dispute-sum.js';
import { type Words } from '../../../shared/domain/fact.js';
import { asksAfterOutcome, type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { showIso, showUntil } from '../../../shared/domain/show-time.js';
import { day, moment } from '../../../shared/domain/when.js';
import { DAY_MS } from '../../../shared/policy.js';

export const disputeWords: Words<
  'evidence-due' | 'evidence-returned' | 'outcome-unclear' | 'alert-received' | 'alert-handled' | 'unknown-dispute'
> = {
  'evidence-due': (f) => ({
    summary: `the customer's bank disputes ${showDisputed(f)} (dispute ${f.dispute}): send evidence ${showUntil(f.until)}${afterOutcome(f)}`,
    proposal: `Send evidence ${inPortal(f.url)} The invoice stays paid.`,
  }),
  'evidence-returned': (f) => ({
    summary: `the MoR wants better evidence for dispute ${f.dispute} ${showUntil(f.until)}${afterOutcome(f)}${f.note === null || f.note === '' ? '' : `; the MoR's note: ${f.note}`}`,
    proposal: `Amend the evidence ${inPortal(f.url)}`,
  }),
  'outcome-unclear': (f) => ({
    summary: `dispute ${f.dispute} is decided, but Crossbill does not know the MoR's word for the outcome: ${f.outcome ?? 'no outcome given'}`,
    proposal: "Look the dispute up in the MoR's portal. The ledger has no loss for this dispute.",
  }),
  'alert-received': (f) => ({
    summary: `the customer's bank may soon raise a chargeback of ${showDisputed(f)} (alert ${f.alert} on ${paymentOf(f.payment)}): answer ${showUntil(f.until)}`,
    proposal: 'Wait for the outcome, or refund the payment now to avoid the chargeback.',
  }),
  'unknown-dispute': (f) => ({
    summary: `the MoR sent ${f.type} (event ${f.event}), but Crossbill does not know the payment${f.until === null ? '' : `; the deadline is ${showIso(f.until)}`}`,
    proposal: "Find the payment in the MoR's portal and answer there if the MoR asks for an answer.",
  }),
  'alert-handled': (f) => {
    const event =
      'its payment.refunded event reports the same refund and closes this item. Do not refund the payment again.';
    if (f.refunded)
      return {
        summary: `the MoR reports a refund of ${paymentOf(f.payment)} for alert ${f.alert}, but has not sent the refund's event yet`,
        proposal: `Wait: ${event}`,
      };
    return {
      summary: `the MoR reports alert ${f.alert} on ${paymentOf(f.payment)} as handled, but not whether the payment was refunded`,
      proposal: `Look in the MoR's portal for a refund. If there is one, ${event} If there is none, a dispute may follow.`,
    };
  },
};

const afterOutcome = (facts: { readonly afterOutcome: string | null }): string =>
  facts.afterOutcome === null ? '' : `, although the outcome was "${facts.afterOutcome}"`;

const inPortal = (url: string | null): string => `in the MoR's portal${url === null ? '' : ` (${url})`}.`;

const paymentOf = (name: string | null): string => (name === null ? 'a payment' : `payment ${name}`);

/**
 * The tone and text of a dispute's state. `bad`: a person must act soon. `warn`: money is in question or lost. `good`:
 * the merchant won. `calm`: an alert is handled.
 */
export type DisputeAdvice = { readonly tone: 'good' | 'warn' | 'bad' | 'calm'; readonly text: string };

/** A deadline with fewer days left is urgent. */
const SOON_DAYS = 3;

export function disputeAdvice(object: MorObjectRow, now: Date): DisputeAdvice {
  return object.kind === 'alert' ? alertAdvice(object, now) : adviceOf(object, now);
}

function adviceOf(object: MorObjectRow, now: Date): DisputeAdvice {
  const { outcome, outcomeAt, reviewerNote } = object.detail;
  const on = outcomeAt === undefined ? '' : ` on ${day(new Date(outcomeAt), now)}`;
  switch (object.status) {
    case 'won':
      if (asksAfterOutcome(object))
        return { tone: urgency(object, now), text: `Won${on}: you keep the money.${askedAgain(object, now)}` };
      return { tone: 'good', text: `Won${on}: you keep the money, and there is nothing to do.` };
    case 'lost': {
      // A loss counts only money the MoR has not refunded before. So a fully refunded payment has a loss of 0.
      const undone = object.detail.loss?.minor === '0';
      const isUnsure = unreadSum(object, null) !== null;
      const books = undone
        ? isUnsure
          ? 'the ledger has no loss, because the amount is unclear'
          : 'the ledger has no loss, because the customer already had this money back'
        : 'the loss is in the ledger';
      const booked = object.detail.loss === undefined ? '' : `, and ${books}`;
      return {
        tone: asksAfterOutcome(object) ? urgency(object, now) : 'warn',
        text: `Lost${on}: the bank took the money back${booked}. The invoice stays paid on Stripe.${askedAgain(object, now)}`,
      };
    }
    case 'decided': {
      const said = typeof outcome === 'string' ? `"${outcome}"` : 'nothing';
      return {
        tone: 'bad',
        text: `Decided${on}, but it is unclear who won: the MoR said ${said}. Look in the MoR's portal, and settle the review item.`,
      };
    }
    case 'revision_requested': {
      const why = typeof reviewerNote === 'string' ? ` ("${reviewerNote}")` : '';
      return {
        tone: urgency(object, now),
        text: `The MoR wants better evidence${why}: it is ${dueBy(object, now)}. The invoice stays paid.`,
      };
    }
    default:
      return {
        tone: urgency(object, now),
        text: `The customer's bank disputes the payment: evidence is ${dueBy(object, now)}. The invoice stays paid.`,
      };
  }
}

function askedAgain(object: MorObjectRow, now: Date): string {
  if (!asksAfterOutcome(object)) return '';
  const { reviewerNote } = object.detail;
  const why = typeof reviewerNote === 'string' ? ` ("${reviewerNote}")` : '';
  return ` Later the MoR asked for evidence${why}: it is ${dueBy(object, now)}.`;
}

function alertAdvice(object: MorObjectRow, now: Date): DisputeAdvice {
  if (object.status === 'handled') {
    const { refunded = null } = object.detail;
    if (refunded === true) return { tone: 'calm', text: 'Handled: the payment was refunded before a dispute.' };
    const how =
      refunded === false ? 'the payment was not refunded' : 'the MoR did not say whether the payment was refunded';
    return { tone: 'calm', text: `Handled: ${how}.` };
  }
  const text = `The customer's bank warns that a dispute may follow: an answer is ${dueBy(object, now)}. A refund in time prevents the dispute.`;
  return { tone: urgency(object, now), text };
}

function urgency({ deadline }: MorObjectRow, now: Date): 'warn' | 'bad' {
  return deadline !== null && deadline.getTime() - now.getTime() < SOON_DAYS * DAY_MS ? 'bad' : 'warn';
}

function dueBy({ deadline }: MorObjectRow, now: Date): string {
  if (deadline === null) return 'due, but the MoR named no deadline';
  const days = Math.floor((deadline.getTime() - now.getTime()) / DAY_MS);
  if (deadline.getTime() <= now.getTime()) return `overdue: it was due by ${moment(deadline, now)}`;
  const left = days === 0 ? 'less than a day left' : days === 1 ? '1 day left' : `${days} days left`;
  return `due by ${moment(deadline, now)}, ${left}`;
}

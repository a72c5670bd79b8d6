// How a dispute or an alert stands, and what to do about it, in one sentence.
import { asksAfterOutcome, type MorObjectRow } from '../../domain/mor-object.js';
import { DAY_MS } from '../../policy.js';
import { day, moment } from '../../domain/when.js';
import { unreadSum } from './unread-sum.js';

/** `bad`: a person must act soon. `warn`: money is in question, or lost. `calm`: nothing is owed. */
export type DisputeAnswer = { readonly tone: 'good' | 'warn' | 'bad' | 'calm'; readonly text: string };

/** With so little time left it is urgent. */
const SOON_DAYS = 3;

export function disputeAnswer(o: MorObjectRow, now: Date): DisputeAnswer {
  return o.kind === 'alert' ? alertAnswer(o, now) : answerOf(o, now);
}

function answerOf(o: MorObjectRow, now: Date): DisputeAnswer {
  const { outcome, outcomeAt, reviewerNote } = o.detail;
  const on = outcomeAt === undefined ? '' : ` on ${day(new Date(outcomeAt), now)}`;
  switch (o.status) {
    case 'won':
      if (asksAfterOutcome(o))
        return { tone: urgency(o, now), text: `Won${on}: the money stays.${askedAgain(o, now)}` };
      return { tone: 'good', text: `Won${on}: the money stays, and there is nothing to do.` };
    case 'lost': {
      // A refund counts before a loss, and may have taken back all that was booked.
      const undone = o.detail.loss?.minor === '0';
      const isUnsure = unreadSum(o, null) !== null;
      const books = undone
        ? isUnsure
          ? 'none of it is a loss in the ledger, as how much it was is not sure'
          : 'none of it is a loss in the ledger, as it was given back as well'
        : 'the loss is in the ledger';
      const booked = o.detail.booked === true ? `, and ${books}` : '';
      return {
        tone: asksAfterOutcome(o) ? urgency(o, now) : 'warn',
        text: `Lost${on}: the bank took the money back${booked}. The invoice stays paid on Stripe.${askedAgain(o, now)}`,
      };
    }
    case 'decided': {
      const said = typeof outcome === 'string' ? `"${outcome}"` : 'nothing';
      return {
        tone: 'bad',
        text: `Decided${on}, but who won is not clear: the MoR said ${said}. Look there, and settle the review item.`,
      };
    }
    case 'revision_requested': {
      const why = typeof reviewerNote === 'string' ? ` ("${reviewerNote}")` : '';
      return {
        tone: urgency(o, now),
        text: `The evidence was sent back${why}: better evidence is ${dueBy(o, now)}. The invoice stays paid meanwhile.`,
      };
    }
    default:
      return {
        tone: urgency(o, now),
        text: `The customer's bank disputes the payment: evidence is ${dueBy(o, now)}. The invoice stays paid meanwhile.`,
      };
  }
}

function askedAgain(o: MorObjectRow, now: Date): string {
  if (!asksAfterOutcome(o)) return '';
  const { reviewerNote } = o.detail;
  const why = typeof reviewerNote === 'string' ? ` ("${reviewerNote}")` : '';
  return ` Evidence was asked for after that${why}: it is ${dueBy(o, now)}.`;
}

function alertAnswer(o: MorObjectRow, now: Date): DisputeAnswer {
  if (o.status === 'handled') {
    const { refunded = null } = o.detail;
    if (refunded === true)
      return { tone: 'calm', text: 'Handled: the payment was given back before it became a dispute.' };
    const how =
      refunded === false ? 'the payment was not given back' : 'the MoR did not say whether the payment was given back';
    return { tone: 'calm', text: `Handled: ${how}.` };
  }
  const text = `The customer's bank warns that a dispute may follow: an answer is ${dueBy(o, now)}. A refund in time prevents it.`;
  return { tone: urgency(o, now), text };
}

function urgency({ deadline }: MorObjectRow, now: Date): 'warn' | 'bad' {
  return deadline !== null && deadline.getTime() - now.getTime() < SOON_DAYS * DAY_MS ? 'bad' : 'warn';
}

function dueBy({ deadline }: MorObjectRow, now: Date): string {
  if (deadline === null) return 'wanted; the MoR named no deadline';
  const days = Math.floor((deadline.getTime() - now.getTime()) / DAY_MS);
  if (deadline.getTime() <= now.getTime()) return `overdue: it was due by ${moment(deadline, now)}`;
  const left = days === 0 ? 'less than a day left' : days === 1 ? '1 day left' : `${days} days left`;
  return `due by ${moment(deadline, now)}, ${left}`;
}

// A second payment that waits for a person, when the one that settles the invoice has gone back to the customer, or is not marked after all: it
// is the only money there is.
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { lostOf } from '../../domain/mor-object.js';
import { showMoney } from '../../domain/money.js';
import { closeReviews, type Ctx, openReview, openReviewOf, rewordReview } from '../../domain/lane/change.js';
import { maybeNotTaken, sharedLink } from '../../domain/lane/link-charges.js';
import { isOneCharge, mayBeToldTwice } from '../../domain/lane/payment.js';
import { type SettleRule } from '../../domain/lane/subject.js';
import { isShort } from '../../refunds/rules/fell-short.js';
import { returnOf } from '../../returns/rules/settle-return.js';
import { ASK_IF_TWICE, nameFirst, ofTwoCharges, SETTLES } from './decide-mark.js';

/** The item proposed to refund it, and whoever refunded the other one in the MoR's portal has settled the matter that way already. */
export const settleOnlyMoney: SettleRule = (s, ctx) =>
  s.payments.reduce((state, p) => (p.mark === 'parked' ? tellOnlyMoney(state, p, ctx) : state), s);

function tellOnlyMoney(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  const item = openReviewOf(s, 'double_payment', p.id);
  if (item === undefined || isShort(item)) return s;
  const { kind, subject } = item;
  const said = [SINCE, MAYBE_SINCE, AFTER_ALL, BOTH].find((words) => item.summary.endsWith(words)) ?? '';
  const first = item.summary.slice(0, item.summary.length - said.length);
  const now = wordsOf(s, p, first);
  if (now === said) return now === '' ? tellOfTwo(s, p, item, ctx) : s;
  const summary = `${first}${now}`;
  const told = closeReviews(s, ctx, (r) => r.id === item.id, {
    by: null,
    resolution: 'cleared',
    note: now === '' ? 'another payment pays the invoice after all' : `it is so no more${now}`,
  });
  const before = s.reviews.findLast((r) => r.kind === kind && r.subject === subject && r.summary === summary);
  const proposal = (now === MAYBE_SINCE ? askFirst(p) : PROPOSALS.get(now)) ?? before?.proposal ?? ASK_IF_TWICE;
  return openReview(told, ctx, { kind, subject, paymentRowId: p.id, summary, proposal });
}

/** Its charge was announced on the link of the other one after it came: a refund may give the only money back. */
function tellOfTwo(s: LaneState, p: PaymentRow, item: ReviewRow, ctx: Ctx): LaneState {
  const { processorChargeId: charge, amount, currency } = p;
  const marked = s.payments.filter((x) => x.mark === 'confirmed');
  const link = marked.map((x) => sharedLink(s, p, x)).find((o) => o !== undefined);
  if (link === undefined || charge === null || amount === null || !item.proposal.startsWith('Refund ')) return s;
  const proposal = nameFirst(p, ofTwoCharges(charge, showMoney({ minor: amount, currency }), link));
  return rewordReview(s, ctx, item, { summary: item.summary, proposal });
}

/** A read of the link showed this money, by a charge that may have taken nothing: then it was the other one's. */
function askFirst({ processorChargeId, amount, currency }: PaymentRow): string {
  const it = amount === null ? 'it' : showMoney({ minor: amount, currency });
  return `Ask the MoR whether it took charge ${processorChargeId ?? ''} and has not given it back. If not, dismiss this and leave ${it} out of your accounts: it stays in \`unmarked_payments\`. If so, the customer has paid once: bill that with a new invoice on Stripe, mark that one by hand, and dismiss this; or have it given back, if they are to pay nothing.`;
}

/** What is to be added to the words of its item. A dispute that was lost may be won after all: then what was said first holds again. */
function wordsOf(s: LaneState, p: PaymentRow, first: string): string {
  if (isGone(s, p)) return '';
  const others = s.payments.filter((x) => x.id !== p.id);
  const marked = others.filter((x) => x.mark === 'confirmed');
  if (marked.length > 0) {
    if (!marked.every((x) => isGone(s, x) && !maybeOne(x, p))) return '';
    return marked.some((x) => maybeNotTaken(s, p, x) !== undefined) ? MAYBE_SINCE : SINCE;
  }
  // Its mark was refused, or it was refunded before that.
  const isLeft = others.every((x) => x.mark === 'none' || x.mark === 'parked' || x.mark === 'closed');
  if (!isLeft || !first.endsWith(SETTLES)) return '';
  return others.some((x) => isFirst(s, x)) ? BOTH : AFTER_ALL;
}

/** It has its money and an item of its own, which comes first. Of second payments none does: each may be let through. */
function isFirst(s: LaneState, p: PaymentRow): boolean {
  const isKept = p.mark === 'parked' && p.succeededAt !== null && !isGone(s, p);
  return isKept && openReviewOf(s, 'double_payment', p.id) === undefined;
}

/** All of it was refunded, or taken back by a bank: a return takes what is left of its payment. */
function isGone(s: LaneState, p: PaymentRow): boolean {
  if (returnOf(s, p.id) !== undefined) return true;
  return p.amount !== null && p.amountRefunded + lostOf(p.id, s.objects) >= p.amount;
}

/** The same charge, or a link's money that names none: told twice, it is gone altogether. The item asks that first (decide-mark.ts). */
function maybeOne(a: PaymentRow, b: PaymentRow): boolean {
  return isOneCharge(a, b) || mayBeToldTwice(a, b);
}

const SINCE = '; that money has gone back to the customer, so this is the only money there is';
const BILL_IT =
  'The customer has paid once. Bill that with a new invoice on Stripe, mark that one by hand, and dismiss this; or refund it, if they are to pay nothing.';
const MAYBE_SINCE = '; that money has gone back to the customer, so this may be the only money there is';
const AFTER_ALL = '; that payment is not marked after all, so this may be the only money there is';
const LOOK_AGAIN =
  'Retry this: whether it pays the invoice is decided anew. Refund it only if the customer paid another way.';
const BOTH = '; that payment is not marked, and waits for a person as well';
const OTHER_FIRST =
  "Settle the other payment's item first. Once that payment is marked, refund this one. If it was given back, this says so, and a retry lets this one pay the invoice.";
const PROPOSALS: ReadonlyMap<string, string> = new Map([
  [SINCE, BILL_IT],
  [AFTER_ALL, LOOK_AGAIN],
  [BOTH, OTHER_FIRST],
]);

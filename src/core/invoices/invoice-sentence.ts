// Explains in one sentence why an invoice is paid or not, for the top of its page. Decides nothing.
import { type CallRow } from '../../shared/domain/call-row.js';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { type LaneState } from '../../shared/domain/model.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { isLiveProforma, isPayableLink, dueDate, verdictBy } from '../../shared/domain/mor-object.js';
import { sayMoney } from '../../shared/domain/money.js';
import { showNothingDue, whyNothingDue } from '../../shared/domain/nothing-due.js';
import { saysNothing } from '../books/rules/payment-state.js';
import { END_WORDS } from '../../shared/domain/retry.js';
import { isOnItsWay, SIGNUP_REASON } from '../../shared/domain/status.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { type Sentence, known, newerCode, troubleOf } from '../../shared/domain/sentence.js';
import { day, moment, on, ordinal } from '../../shared/domain/when.js';

type Say = (item: ReviewRow) => string;

/** The facts for the sentence about an invoice. */
export type SentenceFacts = Pick<LaneState, 'payments' | 'refunds' | 'objects' | 'attempts' | 'reviews'> & {
  readonly invoice: InvoiceRow;
  readonly calls: readonly Pick<CallRow, 'peer' | 'kind' | 'status' | 'attempts' | 'nextTryAt'>[];
};

/**
 * Explains in one sentence why the invoice is paid or not.
 * @param say returns the summary of a review item
 */
export function invoiceSentence(facts: SentenceFacts, now: Date, say: Say): Sentence {
  switch (facts.invoice.status) {
    case 'ignored':
      return { tone: 'calm', text: leftAlone(facts) };
    case 'void':
      return { tone: 'calm', text: `Not to be paid: the invoice is ${facts.invoice.platformStatus} on Stripe.` };
    case 'paid':
      return paid(facts, now);
    case 'marking':
      return { tone: 'wait', text: beingMarked(facts, now) };
    case 'held':
      return held(facts, now);
    case 'review':
      return undecided(facts, say);
    case 'open':
    case 'expected':
      return unpaid(facts, now);
  }
  return { tone: 'warn', text: newerCode('status', facts.invoice.status) };
}

/**
 * When and how Crossbill learned Stripe's facts about the invoice: it read them, or an event reported them since. Null:
 * not yet.
 */
export function lastRead({
  factsAt,
  readAt,
}: Pick<InvoiceRow, 'factsAt' | 'readAt'>): { readonly how: 'read' | 'reported'; readonly at: Date } | null {
  if (factsAt === null) return null;
  return { how: factsAt.getTime() === readAt?.getTime() ? 'read' : 'reported', at: factsAt };
}

function leftAlone({ invoice: i }: SentenceFacts): string {
  if (i.enrolled === false) return 'Ignored: its customer is not enrolled, so the MoR does not charge it.';
  if (i.billingReason === SIGNUP_REASON)
    return 'Crossbill expects nothing: a signup pays the first invoice of its subscription.';
  if (i.platformStatus === 'unknown') return 'Crossbill knows this invoice only from a review item, now resolved.';
  return 'Nothing is due on this invoice.';
}

/** Describes how the MoR took a payment, for example "29.90 EUR on 5 Nov by payment link". */
function taking(payment: PaymentRow, now: Date): string {
  const ways = { renewal: '', signup: ' at signup', proforma: ' by bank transfer', payment_link: ' by payment link' };
  const what = payment.amount === null ? 'an unknown amount' : sayMoney({ ...payment, minor: payment.amount });
  return `${what}${payment.succeededAt === null ? '' : ` on ${day(payment.succeededAt, now)}`}${known(ways, payment.origin) ?? ''}`;
}

function paid(facts: SentenceFacts, now: Date): Sentence {
  const marked = facts.payments.filter((p) => p.mark === 'confirmed');
  const second = facts.payments.find((p) => p.mark === 'parked');
  const said = marked.map((p) => taking(p, now));
  const why = whyNothingDue(facts.invoice);
  const unmarked = why === null ? 'Paid on Stripe, but not through the MoR' : `Nothing was due: ${showNothingDue(why)}`;
  const how = said.length === 0 ? unmarked : `Paid: the MoR took ${said.join(' and ')}`;
  const trouble = troubleOf(facts, now);
  if (second !== undefined) {
    const text = `${how}; the MoR also took ${taking(second, now)}, and a person must decide about that money.`;
    return { tone: 'bad', text };
  }
  const parts = [how, ...givenBack(facts, marked), ...trouble.map((t) => t.text)];
  return { tone: trouble.some((t) => t.lost) ? 'warn' : 'good', text: `${parts.join('; ')}.` };
}

/**
 * The part of the sentence about refunds. `marked`: the payments the sentence has already named. For a refund of these
 * payments the part reads "of it was refunded".
 */
function givenBack({ payments, refunds }: SentenceFacts, marked: readonly PaymentRow[]): string[] {
  const back = marked.filter((p) => p.amountRefunded > 0n);
  const all = back.length === marked.length && back.every((p) => p.amount !== null && p.amountRefunded >= p.amount);
  const others = payments.filter((p) => p.amountRefunded > 0n && !marked.includes(p));
  const sumsOf = (of: readonly PaymentRow[]): string =>
    of.map((p) => sayMoney({ ...p, minor: p.amountRefunded })).join(' and ');
  const way = refunds.filter(isOnItsWay);
  return [
    ...(back.length === 0 ? [] : [all ? 'all of it was refunded' : `${sumsOf(back)} of it was refunded`]),
    ...(others.length === 0 ? [] : [`${sumsOf(others)} of another payment was refunded`]),
    ...way.map((r) => `a refund of ${sayMoney({ ...r, minor: r.amount })} is on its way`),
  ];
}

function beingMarked(facts: SentenceFacts, now: Date): string {
  const proving = facts.payments.find((p) => p.mark === 'proving');
  if (proving !== undefined)
    return "Not proven yet: the customer's browser reports a payment, and Crossbill asks the MoR about the charge.";
  const p = facts.payments.find((x) => !['none', 'closed', 'parked'].includes(x.mark));
  const took = p === undefined ? 'Paid' : `Paid: the MoR took ${taking(p, now)}`;
  const call = facts.calls.find((m) => m.peer === 'stripe' && m.status === 'pending' && m.attempts > 0);
  if (call === undefined) return `${took}; Crossbill is marking it on Stripe.`;
  const tries = call.attempts === 1 ? 'one try' : `${call.attempts} tries`;
  return `${took}; Stripe has not confirmed the mark after ${tries}; Crossbill tries again ${on(call.nextTryAt, now)}.`;
}

function held(facts: SentenceFacts, now: Date): Sentence {
  const { invoice: i } = facts;
  const p = facts.payments.find((x) => x.mark === 'held');
  const took = p === undefined ? 'Paid' : `Paid: the MoR took ${taking(p, now)}`;
  if (i.finalizationError !== null) {
    const text = `${took}, but Stripe could not finalize the invoice, so Crossbill cannot mark it: "${i.finalizationError}".`;
    return { tone: 'bad', text };
  }
  const at = i.finalizesAt === null ? '' : `, ${on(i.finalizesAt, now)}`;
  return { tone: 'wait', text: `${took}; Crossbill marks it as soon as Stripe finalizes the draft${at}.` };
}

/** Explains a misfit of money and invoice by an open item: an item about a parked payment, or the first open item. */
function undecided({ reviews, payments }: SentenceFacts, say: Say): Sentence {
  const parked = new Set(payments.filter((p) => p.mark === 'parked').map((p) => p.id));
  const open = reviews.filter((r) => r.status === 'open');
  const first = open.find((r) => r.paymentRowId !== null && parked.has(r.paymentRowId)) ?? open[0];
  if (first !== undefined) return { tone: 'bad', text: `A person must decide: ${ended(say(first))}` };
  const last = reviews.findLast((r) => r.status === 'resolved' && r.resolution === 'dismiss');
  const by = last?.resolvedBy === null || last === undefined ? 'a person' : last.resolvedBy;
  return { tone: 'warn', text: `Not marked on Stripe: the MoR took money, and ${by} closed its review item.` };
}

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

function unpaid(facts: SentenceFacts, now: Date): Sentence {
  const { invoice: i, payments } = facts;
  const refused = facts.attempts.filter((a) => a.outcome !== 'succeeded').toSorted((a, b) => +a.at - +b.at);
  const last = refused.at(-1);
  const next = nextStep(facts, now);
  const part = payments.find((p) => p.mark === 'confirmed');
  if (part !== undefined && i.amountRemaining !== null && i.currency !== null) {
    const remaining = sayMoney({ minor: i.amountRemaining, currency: i.currency });
    return { tone: 'warn', text: `Paid in part: the MoR took ${taking(part, now)}; ${remaining} is due${then(next)}.` };
  }
  const proving = payments.find((p) => p.mark === 'proving');
  if (proving !== undefined) {
    const since = proving.pendingSince ?? proving.recordedAt;
    const text = `Not paid yet: the MoR has known the charge since ${day(since, now)} and has not settled it (bank debits take days).`;
    return { tone: 'wait', text };
  }
  if (last !== undefined) {
    const tries = `${day(last.at, now)}, ${ordinal(refused.length)} try`;
    const text = `Not paid: ${refusalWords(last)} (${tries}; ${next ?? 'no further try is planned'}).`;
    return { tone: next === null ? 'bad' : 'warn', text };
  }
  const returned = payments.find((p) => p.succeededAt !== null && p.amountRefunded > 0n);
  if (returned !== undefined)
    return { tone: 'warn', text: `Not paid: the MoR took ${taking(returned, now)} and gave it back${then(next)}.` };
  return silent(facts, next, now);
}

const then = (next: string | null): string => (next === null ? '' : `; ${next}`);

/** The sentence for an invoice without a verdict. */
function silent(facts: SentenceFacts, next: string | null, now: Date): Sentence {
  const { invoice: i, objects } = facts;
  if (i.finalizationError !== null)
    return { tone: 'bad', text: `Not paid: Stripe could not finalize the invoice: "${i.finalizationError}".` };
  const by = verdictBy(i, objects);
  const late = by !== null && by.getTime() <= now.getTime();
  if (late) {
    const debit = i.paysByDebit === true ? ', even for a bank debit' : '';
    const since = `since ${day(i.firstSeenAt, now)}`;
    const heard = facts.payments.some(saysNothing)
      ? `reported only a charge of another invoice ${since}`
      : `has sent no verdict ${since}`;
    const text = `Not paid: the MoR ${heard}; its verdict was due by ${moment(by, now)}${debit}${then(next)}.`;
    return { tone: 'bad', text };
  }
  if (next !== null) return { tone: 'wait', text: `Not paid yet: ${next}.` };
  if (by !== null) {
    const debit = i.paysByDebit === true ? 'the customer pays by bank debit, and ' : '';
    return { tone: 'wait', text: `Not paid yet: ${debit}the MoR's answer is expected by ${moment(by, now)}.` };
  }
  if (i.collectionMethod === 'send_invoice')
    return { tone: 'wait', text: 'Not paid yet: Stripe e-mails this invoice, and Crossbill sets no deadline.' };
  if (i.platformStatus === 'unknown')
    return { tone: 'wait', text: 'Not known yet: Stripe has not reported the amount due.' };
  return { tone: 'wait', text: 'Not paid yet, and Crossbill knows of no charge by the MoR.' };
}

/** The next automatic step, as a part of a sentence. Null if there is none. */
function nextStep({ invoice: i, objects, calls }: SentenceFacts, now: Date): string | null {
  if (i.platformStatus === 'uncollectible') return 'it is marked uncollectible on Stripe';
  const link = objects.find((o) => o.status !== 'REQUESTED' && isPayableLink(o, now));
  if (link !== undefined) {
    const until = link.deadline === null ? '' : ` until ${moment(link.deadline, now)}`;
    return `the customer can pay by link${until}`;
  }
  const proforma = objects.find(isLiveProforma);
  if (proforma !== undefined) return `a proforma invoice is open, due by ${moment(dueDate(proforma), now)}`;
  const { waitingSince = null, ended: end = null } = i.retries ?? {};
  if (waitingSince !== null) return `waiting for the MoR's answer since ${day(new Date(waitingSince), now)}`;
  if (calls.some((m) => m.peer === 'relay' && m.kind !== 'relay_event' && m.status === 'pending'))
    return 'Crossbill asks the MoR again';
  if (i.nextTryAt !== null && end === null)
    return i.nextTryAt.getTime() <= now.getTime() ? 'next at any moment' : `next ${on(i.nextTryAt, now)}`;
  if (end === null) return null;
  return `no more tries since ${day(new Date(end.at), now)}: ${END_WORDS[end.how]}`;
}

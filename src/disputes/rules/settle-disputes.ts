// Disputes and alerts at rest: which payment they are about, what a bank took of it in the books, and the items that tell a person.
import { type FactOf, isSameFact } from '../../domain/fact.js';
import { type Again, type Disputed } from '../../domain/facts/parts.js';
import { type Money } from '../../domain/money.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { asksAfterOutcome, type MorObjectRow } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, isDismissed, openReview, putObject } from '../../engine/change.js';
import { decide } from '../../engine/adapter.js';
import { apartOf } from '../../returns/rules/return-items.js';
import { bookCredits, creditItemOf, offersOf } from '../../returns/rules/credit-loss.js';
import { bookLosses } from './book-losses.js';
import { unreadSum } from './unread-sum.js';
import { isBookedSince, isNotInLedger, isOtherSince } from './unmarked-money.js';
import { ALERT_PATIENCE_MS } from '../../policy.js';
import { onlyTaken } from '../../engine/payment.js';

export function settleDisputes(s: LaneState, ctx: Ctx): LaneState {
  if (!s.objects.some((o) => o.kind === 'dispute' || o.kind === 'alert' || o.kind === 'debit_return')) return s;
  let state = decide(nameDisputed(s), ctx, (lane) => {
    bookLosses(lane);
    bookCredits(lane);
  });
  for (const o of state.objects) {
    if (o.kind === 'dispute') state = settleDispute(state, o, ctx);
    if (o.kind === 'alert') state = settleAlert(state, o, ctx);
  }
  return state;
}

/** A dispute may arrive before its payment: the payment that it named, as soon as it is known; else the only one that was taken. */
function nameDisputed(s: LaneState): LaneState {
  let state = s;
  const taken = s.payments.filter((p) => p.succeededAt !== null);
  for (const o of s.objects) {
    if (o.kind !== 'dispute' && o.kind !== 'alert') continue;
    const named = taken.find((p) => isNamed(p, o.detail.names ?? []));
    const only = o.paymentRowId === null ? onlyTaken(s, o.detail.names ?? []) : null;
    const paymentRowId = (named ?? only)?.id ?? o.paymentRowId;
    if (paymentRowId !== o.paymentRowId) state = putObject(state, { ...o, paymentRowId });
  }
  return state;
}

function isNamed(p: PaymentRow, names: readonly string[]): boolean {
  return [p.paymentId, p.id, p.processorChargeId, p.processorPaymentIntentId].some(
    (id) => id !== null && names.includes(id),
  );
}

type Subjects = Readonly<Record<'action_needed' | 'revision_requested' | 'lost' | 'decided' | 'won', string>>;

/** The item names the dispute and its stage, so that evidence that was sent back is a new item and not the one dismissed before. */
function settleDispute(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const morId = o.morId ?? o.id;
  const subjects: Subjects = {
    action_needed: morId,
    revision_requested: `${morId}:revision`,
    lost: `${morId}:lost`,
    decided: `${morId}:decided`,
    won: `${morId}:won`,
  };
  // A win or a loss stands while evidence is asked for after it: a person is asked about both.
  const { stage } = o.detail;
  const again = stage !== undefined && asksAfterOutcome(o) ? stage : null;
  const close = (keep: string, why: string): LaneState =>
    closeReviews(
      s,
      ctx,
      (r) =>
        r.kind === 'dispute' &&
        r.subject !== keep &&
        (again === null || r.subject !== subjects[again]) &&
        Object.values(subjects).includes(r.subject),
      { by: null, resolution: 'cleared', note: why },
    );
  switch (o.status) {
    case 'action_needed':
      return askForEvidence(
        again === null ? s : close(subjects.action_needed, 'evidence was asked for again'),
        o,
        subjects,
        ctx,
      );
    case 'revision_requested':
      return askForEvidence(close(subjects.revision_requested, 'the evidence was sent back'), o, subjects, ctx);
    case 'won': {
      const state = settleWon(close(subjects.won, `dispute ${morId} was won: the payment stands`), o, subjects, ctx);
      return again === null ? state : askForEvidence(state, { ...o, status: again }, subjects, ctx);
    }
    case 'lost': {
      const state = settleLost(close(subjects.lost, `dispute ${morId} was lost`), o, subjects, ctx);
      return again === null ? state : askForEvidence(state, { ...o, status: again }, subjects, ctx);
    }
    case 'decided': {
      const again = onceMore(s, o, subjects.decided, [subjects.action_needed, subjects.revision_requested]);
      return openReview(close(subjects.decided, `dispute ${morId} was decided`), ctx, {
        kind: 'dispute',
        paymentRowId: o.paymentRowId,
        subject: subjects.decided,
        fact: { code: 'outcome-unclear', dispute: morId, outcome: o.detail.outcome ?? null, ...again },
      });
    }
    default:
      return s;
  }
}

/** After an outcome the fact is another one, so that an item that was dismissed before it does not stand for this one. */
function askForEvidence(s: LaneState, o: MorObjectRow, subjects: Subjects, ctx: Ctx): LaneState {
  const { outcome, reviewerNote } = o.detail;
  const afterOutcome = asksAfterOutcome(o) ? (outcome ?? 'not given') : null;
  const until = o.deadline?.toISOString() ?? null;
  const asked = { dispute: o.morId ?? o.id, until, afterOutcome, url: o.url };
  const about = { kind: 'dispute', paymentRowId: o.paymentRowId, dueAt: o.deadline } as const;
  if (o.status === 'action_needed') {
    const fact = { code: 'evidence-due', ...asked, ...disputedOf(s, o) } as const;
    return openReview(s, ctx, { ...about, subject: subjects.action_needed, fact });
  }
  const fact = { code: 'evidence-returned', ...asked, note: reviewerNote ?? null } as const;
  return openReview(s, ctx, { ...about, subject: subjects.revision_requested, fact });
}

/**
 * Where the dispute came to an end once more: an item of `own` was followed by another of `others`. With its time, so that an item of
 * the same words that was dismissed before does not stand for this one.
 */
function onceMore(s: LaneState, o: MorObjectRow, own: string, others: readonly string[]): Again {
  const items = s.reviews.filter((r) => r.kind === 'dispute');
  // The item of a credit note may tell of a refund as well.
  const isEnd = ({ fact }: ReviewRow): boolean => fact.code !== 'credit-beyond-loss' || fact.over;
  const came = items.some(
    (r) => r.subject === own && items.some((x) => isEnd(x) && others.includes(x.subject) && x.createdAt > r.createdAt),
  );
  const { outcomeAt } = o.detail;
  return { again: came, againAt: came ? (outcomeAt ?? null) : null };
}

function settleLost(s: LaneState, o: MorObjectRow, subjects: Subjects, ctx: Ctx): LaneState {
  const subject = subjects.lost;
  const again = onceMore(s, o, subject, [subjects.won, creditItemOf(o)]);
  const named = s.payments.find((x) => x.id === o.paymentRowId);
  const unread = unreadSum(o, named);
  const about = { kind: 'dispute', subject, paymentRowId: o.paymentRowId } as const;
  const dispute = o.morId ?? o.id;
  const apart = apartOf(s, o);
  if (unread !== null) {
    const sums = { unread, takenBack: o.detail.booked === true, refunded: (named?.amountRefunded ?? 0n) > 0n };
    return openReview(s, ctx, { ...about, fact: { code: 'loss-unread', dispute, ...again, ...sums, apart } });
  }
  const both = takenTwice(s, o);
  const taken = both === null ? lossOf(s, o) : { amount: both.taken, unread: null };
  const own = (r: ReviewRow): boolean => r.kind === 'dispute' && r.subject === subject;
  // Who dealt with a loss that was one twice need not hear that it is one once, as when another dispute is won after all.
  const dealt = s.reviews.filter((r) => own(r) && isDismissed(r, null));
  const bookedSince = isBookedSince(o, dealt);
  const lost = { code: 'dispute-lost', dispute, ...again, ...taken } as const;
  const isKnown = ({ fact }: ReviewRow): boolean =>
    fact.code === 'dispute-lost' &&
    isSameFact({ ...fact, ...NO_MORE }, { ...lost, ...NO_MORE }) &&
    (!bookedSince || (fact.bookedSince && fact.twice === null)) &&
    !isOtherSince(s, o, fact.apart);
  if (both === null && dealt.some(isKnown)) {
    return closeReviews(s, ctx, own, { by: null, resolution: 'cleared', note: 'the customer did not get it twice' });
  }
  const fact = { ...lost, twice: both?.twice ?? null, bookedSince, apart };
  return openReview(s, ctx, { ...about, fact, ...offersOf(s, o, ctx) });
}

/** Of two losses these do not count when only the sum is compared. */
const NO_MORE = { twice: null, bookedSince: false, apart: null };

type Twice = { readonly taken: Money; readonly twice: NonNullable<FactOf<'dispute-lost'>['twice']> };

/**
 * The bank took the money of a payment that was given back as well: the ledger, which never books more than the payment, books less than
 * the bank took (book-losses.ts). Null: the loss is booked as it is, or its payment is not known yet.
 */
function takenTwice(s: LaneState, o: MorObjectRow): Twice | null {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || p.succeededAt === null || p.amount === null) return null;
  const booked = o.detail.loss?.of === p.id ? BigInt(o.detail.loss.minor) : 0n;
  const said = takenBy(s, o, p, p.amount, booked);
  if (booked >= said) return null;
  const sum = (minor: bigint): Money => ({ minor, currency: p.currency });
  const how = p.amountRefunded > 0n ? 'refunded' : 'taken-back';
  const twice = { payment: p.paymentId ?? p.id, how, got: sum(said - booked), booked: sum(booked) } as const;
  return { taken: sum(said), twice };
}

/**
 * How much the bank took: as the MoR says, at most the payment. Where it named no sum, what was left of the payment then: what is booked,
 * and what was refunded after the outcome. If nothing is booked, all of it may have gone out twice.
 */
function takenBy(s: LaneState, o: MorObjectRow, p: PaymentRow, amount: bigint, booked: bigint): bigint {
  const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
  if (o.amount !== null && o.currency === p.currency) return least(o.amount, amount);
  if (booked === 0n) return amount;
  const decidedAt = new Date(o.detail.outcomeAt ?? o.createdAt);
  const since = s.refunds
    .filter((r) => r.paymentRowId === p.id && r.succeededAt !== null && r.succeededAt > decidedAt)
    .reduce((sum, r) => sum + r.amount, 0n);
  return least(booked + since, amount);
}

/** Won after all: somebody who has dealt with the loss must know. */
function settleWon(s: LaneState, o: MorObjectRow, subjects: Subjects, ctx: Ctx): LaneState {
  const dealt = s.reviews.filter(
    (r) => r.kind === 'dispute' && r.subject === subjects.lost && r.resolution === 'dismiss',
  );
  if (dealt.length === 0) return s;
  return openReview(s, ctx, {
    kind: 'dispute',
    subject: subjects.won,
    paymentRowId: o.paymentRowId,
    fact: {
      code: 'won-after-loss',
      dispute: o.morId ?? o.id,
      reversed: o.detail.booked === true,
      beside: dealt.some(isNotInLedger),
      ...onceMore(s, o, subjects.won, [subjects.lost]),
      ...disputedOf(s, o),
    },
  });
}

/** As the ledger has it; before its payment is known, as the MoR says. */
function lossOf(s: LaneState, o: MorObjectRow): Disputed {
  const { loss } = o.detail;
  const p = s.payments.find((x) => x.id === loss?.of);
  if (loss === undefined || loss.minor === '0' || p === undefined) return disputedOf(s, o);
  return { amount: { minor: BigInt(loss.minor), currency: p.currency }, unread: null };
}

function disputedOf(s: LaneState, o: MorObjectRow): Disputed {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  const unread = unreadSum(o, p);
  if (unread !== null) return { amount: null, unread };
  if (o.amount !== null && o.currency !== null)
    return { amount: { minor: o.amount, currency: o.currency }, unread: null };
  const amount = p === undefined || p.amount === null ? null : { minor: p.amount, currency: p.currency };
  return { amount, unread: null };
}

/** A refund made by an alert is the same refund as its `payment.refunded`: nothing is recorded from here. */
function settleAlert(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const morId = o.morId ?? o.id;
  const subject = `alert:${morId}`; // a dispute may have the same id, where both go by their payment's
  const outcome = `alert:${morId}:outcome`;
  const close = (of: string, why: string, state: LaneState): LaneState =>
    closeReviews(state, ctx, (r) => r.kind === 'dispute' && r.subject === of, {
      by: null,
      resolution: 'cleared',
      note: why,
    });
  const name = s.payments.find((p) => p.id === o.paymentRowId);
  const payment = name === undefined ? null : (name.paymentId ?? name.id);
  if (o.status === 'received') {
    return openReview(s, ctx, {
      kind: 'dispute',
      subject,
      paymentRowId: o.paymentRowId,
      dueAt: o.deadline,
      fact: {
        code: 'alert-received',
        alert: morId,
        payment,
        until: o.deadline?.toISOString() ?? null,
        ...disputedOf(s, o),
      },
    });
  }
  if (o.status !== 'handled') return s;
  if (o.detail.refunded === false) {
    // The second one asks whether it was refunded, where an earlier event did not say so.
    const why = 'the alert was handled without a refund';
    return close(outcome, why, close(subject, why, s));
  }
  const state = close(subject, 'the alert was handled', s);
  if (isRefunded(s, o, name)) return close(outcome, 'the refund is recorded', state);
  const fact = { code: 'alert-handled', alert: morId, payment, refunded: o.detail.refunded === true } as const;
  return openReview(state, ctx, { kind: 'dispute', subject: outcome, paymentRowId: o.paymentRowId, fact });
}

/** Whether the refund that an alert's outcome speaks of is known. One of long before the alert is another. */
function isRefunded(s: LaneState, o: MorObjectRow, p: PaymentRow | undefined): boolean {
  if (p !== undefined && p.amount !== null && p.amountRefunded >= p.amount) return true;
  const since = o.createdAt.getTime() - ALERT_PATIENCE_MS;
  return s.refunds.some(
    ({ status, paymentRowId, succeededAt }) =>
      status === 'succeeded' &&
      (p === undefined || paymentRowId === p.id) &&
      (succeededAt === null || succeededAt.getTime() >= since),
  );
}

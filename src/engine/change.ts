// Small pure steps that a decision is made of: each takes a lane's state and gives a new one.
import { createHash } from 'node:crypto';
import {
  CALL,
  type InvoiceRow,
  type JournalLine,
  type LaneState,
  type OutboxRow,
  type Resolution,
  type ReviewKind,
  type ReviewRow,
} from '../domain/model.js';
import { isSameFact, type KindAndFact } from '../domain/fact.js';
import { choicesOf, type Item, newReview } from '../domain/item.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type BillingCall } from '../domain/ports/billing-platform.js';
import { SHADOW_MESSAGE, SHADOW_MODE, type WireRequest } from '../domain/ports/call.js';
import { type MorCall } from '../domain/ports/payment-gateway.js';
import { newRow } from '../domain/row.js';
import { type FlowSettings } from '../domain/settings.js';
import {
  RETRY_AFTER_LONGEST_MS,
  RETRY_FIRST_PAUSE_MS,
  RETRY_LONGEST_PAUSE_MS,
  RETRY_SHORTEST_PAUSE_MS,
  RETRY_STOPPED_PAUSE_MS,
} from '../policy.js';

/** What a decision may use beside the state: all of it is given, so the same input decides the same. */
export type Ctx = {
  readonly now: Date;
  readonly settings: FlowSettings;
  readonly newId: (prefix: string) => string;
  readonly encodeBilling: (call: BillingCall) => WireRequest;
  readonly encodeMor: (call: MorCall) => WireRequest;
  /** Spreads retries: a number in [0, 1). */
  readonly jitter: () => number;
  /** True: a worker may be at the lane just now, and a call of it under way. Left out: whoever decides works the lane. */
  readonly beside?: true;
  /** Charges that were collected for payments of other invoices, where the database has said so. */
  readonly chargesElsewhere?: ReadonlyMap<string, ChargeHolder>;
  /** Names of payments that are other invoices', and whose, where the database has said so. */
  readonly paymentsElsewhere?: ReadonlyMap<string, string>;
  /** Refunds of other invoices with the processor's refund id that Stripe has just refused. */
  readonly refundsElsewhere?: readonly RefundHolder[];
};

/** The payment of another invoice that a charge was collected for. */
export type ChargeHolder = { readonly invoiceId: string; readonly payment: string };

/** A refund of another invoice, by the MoR's names where it gave them. */
export type RefundHolder = { readonly refund: string; readonly payment: string; readonly invoiceId: string };

export function emptyLane(lane: string): LaneState {
  return {
    lane,
    invoice: null,
    payments: [],
    attempts: [],
    refunds: [],
    objects: [],
    messages: [],
    reviews: [],
    entries: [],
    journal: [],
  };
}

function put<T>(rows: readonly T[], row: T, same: (a: T) => boolean): readonly T[] {
  const at = rows.findIndex(same);
  return at < 0 ? [...rows, row] : rows.with(at, row);
}

export function putInvoice(s: LaneState, invoice: InvoiceRow): LaneState {
  return { ...s, invoice };
}
export function putObject(s: LaneState, row: MorObjectRow): LaneState {
  return { ...s, objects: put(s.objects, row, (o) => o.id === row.id) };
}
export function putMessage(s: LaneState, row: OutboxRow): LaneState {
  return { ...s, messages: put(s.messages, row, (m) => m.id === row.id) };
}
function putReview(s: LaneState, row: ReviewRow): LaneState {
  return { ...s, reviews: put(s.reviews, row, (r) => r.id === row.id) };
}

/** A call that was decided and not answered is sent no more. What was sent before may have had its effect all the same. */
export function takeCallBack(s: LaneState, m: OutboxRow, why: string, ctx: Ctx): LaneState {
  const tried = m.attempts === 0 ? '' : '; it was tried before, without an answer';
  const cancelled = putMessage(s, { ...m, status: 'cancelled', answeredAt: ctx.now });
  return note(cancelled, ctx, 'decision', `${m.kind} taken back: ${why}${tried}`, m.id);
}

export function note(
  s: LaneState,
  ctx: Ctx,
  kind: JournalLine['kind'],
  text: string,
  ref: string | null = null,
  detail: JournalLine['detail'] = null,
): LaneState {
  return { ...s, journal: [...s.journal, { lane: s.lane, at: ctx.now, kind, ref, text, detail }] };
}

/**
 * Opens a review item. One of this kind and subject that is open stays, with the fact and the deadline of now; one that a person dismissed
 * stays closed as long as the fact is the same: another amount, deadline or state is news. `since`: when what it is about was heard; whoever
 * dismissed it before did not know of that.
 */
export function openReview(s: LaneState, ctx: Ctx, item: Item & { readonly since?: Date | null }): LaneState {
  const { kind, subject, fact, dueAt = null, since = null } = item;
  const same = s.reviews.filter((r) => r.kind === kind && r.subject === subject);
  const open = same.find((r) => r.status === 'open');
  if (open !== undefined) {
    const isDueThen = open.dueAt?.getTime() === dueAt?.getTime();
    const isOther = open.topic !== fact.code;
    return isDueThen && isOther ? s : restateReview(s, ctx, open, { ...item, dueAt });
  }
  if (same.some((r) => isDismissed(r, since) && isSameFact(r.fact, fact))) return s;
  const row = newReview(
    { ...item, invoiceId: item.invoiceId ?? s.invoice?.invoiceId ?? null },
    ctx.newId('rev'),
    ctx.now,
  );
  return note(putReview(s, row), ctx, 'decision', `review item ${kind}: ${fact.code}`, row.id);
}

/** A person looked into it, and not before that time. Whoever had a loss credited on Stripe has dealt with it as well. */
export function isDismissed({ resolution, resolvedAt }: ReviewRow, since: Date | null): boolean {
  const isDealt = resolution === 'dismiss' || resolution === 'credit';
  return isDealt && (since === null || (resolvedAt !== null && resolvedAt >= since));
}

/** An open item has the fact of now. `dueAt` left out: the deadline stays. */
export function restateReview(
  s: LaneState,
  ctx: Ctx,
  open: ReviewRow,
  item: KindAndFact & Pick<Item, 'actions' | 'proposed' | 'dueAt'>,
): LaneState {
  const { fact, dueAt = open.dueAt } = item;
  const isDueThen = open.dueAt?.getTime() === dueAt?.getTime();
  const isSameOffer = item.actions === undefined || item.actions.join() === open.actions.join();
  if (isDueThen && isSameOffer && isSameFact(open.fact, fact)) return s;
  const state = putReview(s, { ...open, topic: fact.code, fact, ...choicesOf(item), dueAt });
  const how = isDueThen ? 'is now' : 'has another deadline';
  return note(state, ctx, 'decision', `review item ${open.kind} ${how}: ${fact.code}`, open.id);
}

/** Closes the open items of a kind and subject. `by` null: the cause went away. */
export function closeReviews(
  s: LaneState,
  ctx: Ctx,
  match: (r: ReviewRow) => boolean,
  how: { by: string | null; resolution: Resolution | 'cleared'; note: string | null },
): LaneState {
  let out = s;
  for (const r of s.reviews) {
    if (r.status !== 'open' || !match(r)) continue;
    const closed: ReviewRow = {
      ...r,
      status: 'resolved',
      resolvedAt: ctx.now,
      resolvedBy: how.by ?? 'crossbill',
      resolution: how.resolution,
      note: how.note,
    };
    out = putReview(out, closed);
    // A person's words stay with the item, from which they can be erased: the journal only grows.
    const why = how.by === null ? (how.note ?? how.resolution) : `${how.resolution}, by ${how.by}`;
    out = note(out, ctx, how.by === null ? 'decision' : 'person', `review item ${r.kind} closed: ${why}`, r.id);
  }
  return out;
}

export function openReviewOf(s: LaneState, kind: ReviewKind, subject: string): ReviewRow | undefined {
  return s.reviews.find((r) => r.kind === kind && r.subject === subject && r.status === 'open');
}

/** Writes a call down to be sent: its key and its bytes are fixed from here on. In shadow mode it is over before it began. */
export function addCall(
  s: LaneState,
  ctx: Ctx,
  call: BillingCall,
  subject: string,
  paymentRowId: string | null = null,
): LaneState {
  const wire = ctx.encodeBilling(call);
  return addMessage(s, ctx, { peer: 'stripe', kind: call.kind, subject, paymentRowId, wire, asked: call });
}

export function addMessage(
  s: LaneState,
  ctx: Ctx,
  m: Pick<OutboxRow, 'peer' | 'kind' | 'subject' | 'wire'> &
    Partial<Pick<OutboxRow, 'paymentRowId' | 'generation' | 'key'>> & { asked?: BillingCall },
): LaneState {
  const generation =
    m.generation ??
    1 + Math.max(0, ...s.messages.filter((x) => x.kind === m.kind && x.subject === m.subject).map((x) => x.generation));
  const shadow = ctx.settings.shadow === true;
  const row = newRow(CALL, {
    id: ctx.newId('out'),
    lane: s.lane,
    ...m,
    generation,
    key: m.key ?? messageKey(m.kind, m.subject, generation),
    status: shadow ? 'cancelled' : 'pending',
    nextTryAt: ctx.now,
    ...(shadow && { lastCode: SHADOW_MODE, lastMessage: SHADOW_MESSAGE, answeredAt: ctx.now }),
    createdAt: ctx.now,
  });
  return putMessage(s, row);
}

/** The request with its key and bytes, beside the object that it is to make. */
export function askFor(s: LaneState, object: MorObjectRow, wire: WireRequest, ctx: Ctx): LaneState {
  const kind = object.kind === 'proforma' ? 'create_proforma' : 'create_payment_link';
  return addMessage(putObject(s, object), ctx, { peer: 'mor', kind, subject: object.id, wire });
}

/**
 * Made of names that survive a restored backup, so that the key stays the same. At most 255 characters (Stripe) of visible ASCII: a
 * peer's id is opaque and may be longer or hold what no header carries, then its hash stands for it.
 */
export function messageKey(kind: string, subject: string, generation: number): string {
  const key = `crossbill:${kind}:${subject}:${generation}`;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key;
  return `crossbill:${kind}:sha256-${createHash('sha256').update(subject).digest('hex')}:${generation}`;
}

/**
 * An id that is the same after a restored backup, so that whoever was given the first one takes the second for it. A hash, since what it
 * is made of may be as long as a peer's id.
 */
export function lastingName(prefix: string, ...of: readonly (string | number)[]): string {
  return `${prefix}_${createHash('sha256').update(of.join(':')).digest('hex').slice(0, 32)}`;
}

/**
 * When to try again: about one second, doubling to 15 minutes, with jitter, and not before the peer asked for, up to an hour.
 * `attempts` counts the tries so far, at least 1. A peer that does not accept us (`stopped`) is asked at most once a minute.
 */
export function retryAt(ctx: Ctx, attempts: number, retryAfterMs: number | null, slow = false): Date {
  const base = Math.min(RETRY_LONGEST_PAUSE_MS, RETRY_FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  const spread = base * (0.75 + 0.5 * ctx.jitter());
  const wait = Math.min(
    RETRY_LONGEST_PAUSE_MS,
    Math.max(spread, slow ? RETRY_STOPPED_PAUSE_MS : 0, RETRY_SHORTEST_PAUSE_MS),
  );
  return new Date(ctx.now.getTime() + Math.round(Math.max(wait, Math.min(retryAfterMs ?? 0, RETRY_AFTER_LONGEST_MS))));
}

/** The same key and the same bytes once more: what was done is not done twice. */
export function sendAgain(s: LaneState, match: (m: OutboxRow) => boolean, ctx: Ctx): LaneState {
  const m = s.messages.find(match);
  if (m === undefined || m.status === 'done') return s;
  return putMessage(s, {
    ...m,
    status: 'pending',
    lastCode: null,
    firstTriedAt: null, // how old its key may be counts from a person's word on
    answeredAt: null,
    nextTryAt: ctx.now,
  });
}

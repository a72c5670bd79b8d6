// A lane for rules: its rows, and what a rule may do: store a call, open an item, post to the ledger, add to the timeline.
import { type Ctx, callKey } from './context.js';
import { CALL, type CallRow, type MadeCall } from '../shared/domain/call-row.js';
import { type LedgerEntry } from '../shared/domain/ledger-entry.js';
import { type JournalLine, type LaneState } from '../shared/domain/model.js';
import { type PaymentRow } from '../shared/domain/payment-row.js';
import { type Resolution, type ReviewRow } from '../shared/domain/review-row.js';
import { isSameFact } from '../shared/domain/fact.js';
import { choicesOf, isDismissed, type Item, newReview } from '../shared/domain/item.js';
import { UNSENT } from '../shared/domain/ports/call.js';
import { type Mutable, newRow } from '../shared/domain/row.js';
import { LaneDraft } from './lane-draft.js';

/** Schedules another decision on the lane at a future time. Null or a past time schedules nothing. */
export type DecideAgain = (at: Date | null) => void;

/** A rule changes the lane and returns nothing. */
export type Rule = (lane: Lane) => void;

/** The row behind a line of the timeline, or the row's id. Null: there is no row. */
type About = { readonly id: string } | string | null;

/** A call that Crossbill will store. The method `request` adds the id and, if absent, the key and generation. */
type Request = Pick<CallRow, 'peer' | 'kind' | 'subject' | 'wire'> &
  Partial<Pick<CallRow, 'paymentRowId' | 'generation' | 'key' | 'asked'>>;

/** True if shadow mode stored this call and never sent it. Crossbill does not send it later, either. */
export function isUnsent({ status, lastCode }: { readonly status: string; readonly lastCode: string | null }): boolean {
  return status === 'cancelled' && lastCode === UNSENT.code;
}

/** How an item closes. `by` null: Crossbill closes the item, because its cause is gone. */
type ClosedBy = {
  readonly by: string | null;
  readonly resolution: Resolution | 'cleared';
  readonly note: string | null;
};

export class Lane extends LaneDraft {
  readonly now: Date;

  constructor(
    state: LaneState,
    readonly ctx: Ctx,
    /** Schedules another decision on the lane at a future time. */
    public decideAgain: DecideAgain = () => undefined,
  ) {
    super(state);
    this.now = ctx.now;
  }

  /** The ledger entries of this decision, without earlier entries. */
  get entries(): readonly LedgerEntry[] {
    return this.base.entries;
  }

  get settings(): Ctx['settings'] {
    return this.ctx.settings;
  }

  /** True in shadow mode: Crossbill decides, and another program acts. */
  get sendsNothing(): boolean {
    return this.settings.sendsNothing === true;
  }

  /**
   * Stores a call to Stripe with its key and its bytes. The key contains `subject`; `payment` is the payment behind the call.
   */
  call(call: MadeCall, subject: string, payment: Pick<PaymentRow, 'id'> | null = null): Mutable<CallRow> {
    const wire = this.ctx.encodeBilling(call);
    return this.request({
      peer: 'stripe',
      kind: call.kind,
      subject,
      paymentRowId: payment?.id ?? null,
      wire,
      asked: call,
    });
  }

  /** Stores a call. From here on its key and bytes are fixed. In shadow mode the engine never sends it (`isUnsent`). */
  request(request: Request): Mutable<CallRow> {
    const earlier = this.calls.filter((x) => x.kind === request.kind && x.subject === request.subject);
    const generation = request.generation ?? 1 + Math.max(0, ...earlier.map((x) => x.generation));
    const row = newRow(CALL, {
      id: this.ctx.newId('out'),
      lane: this.lane,
      ...request,
      generation,
      key: request.key ?? callKey(request.kind, request.subject, generation),
      status: this.sendsNothing ? 'cancelled' : 'pending',
      nextTryAt: this.now,
      ...(this.sendsNothing && { lastCode: UNSENT.code, lastMessage: UNSENT.message, answeredAt: this.now }),
      createdAt: this.now,
    });
    return this.add('calls', row);
  }

  /** Takes a call back: the engine does not send it again. An earlier try may still have had an effect. */
  takeBack(id: string, why: string): void {
    const m = this.calls.find((x) => x.id === id);
    if (m === undefined) return;
    const tried = m.attempts === 0 ? '' : '; it was tried before, without an answer';
    Object.assign(m, { status: 'cancelled', answeredAt: this.now });
    this.log('decision', `${m.kind} taken back: ${why}${tried}`, m, { call: m.kind, left: `${why}${tried}` });
  }

  /** Makes the engine send a call again with the same key and bytes, so the call has only one effect. */
  sendAgain(id: string | undefined): void {
    const m = this.calls.find((x) => x.id === id);
    if (m === undefined || m.status === 'done') return;
    // For the age of the key, the next try counts as the first.
    Object.assign(m, { status: 'pending', lastCode: null, firstTriedAt: null, answeredAt: null, nextTryAt: this.now });
  }

  /**
   * Opens an item that only a person can close. If an item of the same kind and subject is open, the open item takes
   * the new fact and deadline. If a person dismissed an item with the same fact at `since` or later, no item opens.
   */
  openReview(item: Item & { readonly since?: Date | null }): void {
    const { kind, subject, fact, dueAt = null, since = null } = item;
    const same = this.reviews.filter((r) => r.kind === kind && r.subject === subject);
    const open = same.find((r) => r.status === 'open');
    if (open !== undefined) {
      const isAnother = open.topic !== fact.code && isSameTime(open.dueAt, dueAt);
      return isAnother ? undefined : this.updateItem(open, item); // the open item is of another rule, so its fact stays
    }
    if (same.some((r) => isDismissed(r, since) && isSameFact(r.fact, fact))) return;
    const invoiceId = item.invoiceId ?? this.invoice?.invoiceId ?? null;
    this.openItem({ ...item, invoiceId });
  }

  /** Opens an item: a new row, and a line in the timeline. */
  openItem(item: Item): void {
    const row = this.add('reviews', newReview(item, this.ctx.newId('rev'), this.now));
    this.log('decision', `review item ${row.kind}: ${row.topic}`, row, { item: 'opened', review: row.kind });
  }

  /** Updates an open item. The timeline gets a line for a new fact or deadline. */
  updateItem(open: Mutable<ReviewRow>, item: Item): void {
    const { fact, actions, dueAt = null, paymentRowId = open.paymentRowId, refundId = open.refundId } = item;
    const isNews = !isSameFact(open.fact, fact);
    const isDueThen = isSameTime(open.dueAt, dueAt);
    if (isNews) Object.assign(open, { topic: fact.code, fact });
    if (isNews || actions !== undefined) Object.assign(open, choicesOf(item));
    Object.assign(open, { dueAt, paymentRowId, refundId });
    if (isDueThen && !isNews) return;
    const how = isDueThen ? 'is now' : 'has another deadline';
    const codes = { item: isDueThen ? 'changed' : 'due', review: open.kind };
    this.log('decision', `review item ${open.kind} ${how}: ${open.fact.code}`, open, codes);
  }

  /** Closes the open items that `match`. */
  closeItems(match: (item: ReviewRow) => boolean, { by, resolution, note }: ClosedBy): void {
    for (const r of this.reviews) {
      if (r.status !== 'open' || !match(r)) continue;
      const closed = { resolvedAt: this.now, resolvedBy: by ?? 'crossbill', resolution, note };
      Object.assign(r, { status: 'resolved', ...closed });
      // The journal only grows, and an erasure cannot change it. So the person's note is only in the item.
      const why = by === null ? (note ?? resolution) : `${resolution}, by ${by}`;
      const codes = { item: 'closed', review: r.kind, ...(by === null ? { why } : { by, choice: resolution }) };
      this.log(by === null ? 'decision' : 'person', `review item ${r.kind} closed: ${why}`, r, codes);
    }
  }

  post(entry: LedgerEntry): void {
    this.base = { ...this.base, entries: [...this.base.entries, entry] };
  }

  /** Adds a line to the invoice's timeline. */
  log(kind: JournalLine['kind'], text: string, about: About = null, detail: JournalLine['detail'] = null): void {
    const ref = typeof about === 'string' ? about : (about?.id ?? null);
    const line = { lane: this.lane, at: this.now, kind, ref, text, detail };
    this.base = { ...this.base, journal: [...this.base.journal, line] };
  }

  /** True if this time has come. False for null and for a future time. A future time also schedules a decision. */
  isPast(at: Date | null): boolean {
    if (at === null) return false;
    if (at.getTime() <= this.now.getTime()) return true;
    this.decideAgain(at);
    return false;
  }

  /** Milliseconds since this time. */
  age(at: Date): number {
    return this.now.getTime() - at.getTime();
  }

  /** The time `ms` milliseconds from now. */
  in(ms: number): Date {
    return new Date(this.now.getTime() + ms);
  }
}

function isSameTime(one: Date | null, other: Date | null): boolean {
  return one?.getTime() === other?.getTime();
}

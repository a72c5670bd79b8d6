// The draft of a lane: plain rows for rules to change in place. The state behind it stays untouched.
import { addCall, addMessage, type Ctx, note, openReview } from './change.js';
import {
  type InvoiceRow,
  type JournalLine,
  type LaneState,
  type LedgerEntry,
  type PaymentRow,
  type RefundRow,
} from '../domain/model.js';
import { type BillingCall } from '../domain/ports/billing-platform.js';

/** A row that a rule may change. */
export type Draft<T> = { -readonly [K in keyof T]: T[K] };

type Lists = Pick<LaneState, 'payments' | 'attempts' | 'refunds' | 'objects' | 'messages' | 'reviews'>;
type Row<K extends keyof Lists> = Lists[K][number];
type Rows<K extends keyof Lists> = Draft<Row<K>>[];

/** Asks for another look at the lane at a time to come. A time that has come, or null, asks for nothing. */
export type LookAgain = (at: Date | null) => void;

/** A rule changes the draft and returns nothing. */
export type Rule = (lane: Lane) => void;

/** A row, its id, or nothing: what a line of the timeline is about. */
type About = { readonly id: string } | string | null;

export class Lane {
  readonly lane: string;
  readonly now: Date;
  private base: LaneState;
  private ownInvoice: Draft<InvoiceRow> | null = null;
  private ownPayments: Rows<'payments'> | null = null;
  private ownAttempts: Rows<'attempts'> | null = null;
  private ownRefunds: Rows<'refunds'> | null = null;
  private ownObjects: Rows<'objects'> | null = null;
  private ownMessages: Rows<'messages'> | null = null;
  private ownReviews: Rows<'reviews'> | null = null;

  constructor(
    state: LaneState,
    /** For functions of the old kind; rules use the members of the lane. */
    readonly ctx: Ctx,
    private readonly lookAgain: LookAgain = () => undefined,
  ) {
    this.lane = state.lane;
    this.base = state;
    this.now = ctx.now;
  }

  get invoice(): Draft<InvoiceRow> | null {
    return this.base.invoice === null ? null : (this.ownInvoice ??= { ...this.base.invoice });
  }

  get payments(): Rows<'payments'> {
    return (this.ownPayments ??= copyRows(this.base.payments));
  }

  get attempts(): Rows<'attempts'> {
    return (this.ownAttempts ??= copyRows(this.base.attempts));
  }

  get refunds(): Rows<'refunds'> {
    return (this.ownRefunds ??= copyRows(this.base.refunds));
  }

  get objects(): Rows<'objects'> {
    return (this.ownObjects ??= copyRows(this.base.objects));
  }

  /** Every call that was decided, replied or not. */
  get messages(): Rows<'messages'> {
    return (this.ownMessages ??= copyRows(this.base.messages));
  }

  get reviews(): Rows<'reviews'> {
    return (this.ownReviews ??= copyRows(this.base.reviews));
  }

  /** The ledger entries of this decision: a lane has none of its earlier ones. */
  get entries(): readonly LedgerEntry[] {
    return this.base.entries;
  }

  get settings(): Ctx['settings'] {
    return this.ctx.settings;
  }

  findPayment(id: string | null | undefined): Draft<PaymentRow> | undefined {
    return this.payments.find((p) => p.id === id);
  }

  findRefunds(p: Pick<PaymentRow, 'id'>): Draft<RefundRow>[] {
    return this.refunds.filter((r) => r.paymentRowId === p.id);
  }

  findObject(id: string | null | undefined): Draft<Row<'objects'>> | undefined {
    return this.objects.find((o) => o.id === id);
  }

  /** Adds a row and returns its draft. */
  add<K extends keyof Lists>(list: K, row: Row<K>): Draft<Row<K>> {
    const draft = { ...row };
    const rows: Rows<K> = this[list];
    rows.push(draft);
    return draft;
  }

  /** Stores a call to Stripe with its key and its bytes. `subject` stands in the key; `p` is the payment behind the call. */
  call(call: BillingCall, subject: string, p: Pick<PaymentRow, 'id'> | null = null): void {
    this.apply((s, ctx) => addCall(s, ctx, call, subject, p?.id ?? null));
  }

  /** Stores a call to the MoR or the relay with its key and its bytes. */
  request(m: Parameters<typeof addMessage>[2]): void {
    this.apply((s, ctx) => addMessage(s, ctx, m));
  }

  /** Opens an item with no rule behind it: only a person ends it. */
  ask(item: Parameters<typeof openReview>[2]): void {
    this.apply((s, ctx) => openReview(s, ctx, item));
  }

  book(entry: LedgerEntry): void {
    this.base = { ...this.base, entries: [...this.base.entries, entry] };
  }

  /** Adds a line to the invoice's timeline. */
  say(kind: JournalLine['kind'], text: string, about: About = null, detail: JournalLine['detail'] = null): void {
    this.base = note(this.base, this.ctx, kind, text, idOf(about), detail);
  }

  /** Asks for a look at the lane at a time to come. */
  lookAt(at: Date | null): void {
    this.lookAgain(at);
  }

  /** Has this time come? A time to come also schedules a look then. Null never comes. */
  isPast(at: Date | null): boolean {
    if (at === null) return false;
    if (at.getTime() <= this.now.getTime()) return true;
    this.lookAgain(at);
    return false;
  }

  /** Milliseconds since then. */
  age(at: Date): number {
    return this.now.getTime() - at.getTime();
  }

  /** The time in so many milliseconds. */
  in(ms: number): Date {
    return new Date(this.now.getTime() + ms);
  }

  /**
   * Runs a function of the old kind on the state of now. Rows in a rule's hands stay the rows of the lane: they show what the function
   * changed.
   */
  apply(change: (s: LaneState, ctx: Ctx) => LaneState): void {
    this.applyWith((s, ctx) => ({ state: change(s, ctx) }));
  }

  /** The same for a function with more to tell than a state. */
  applyWith<T extends { readonly state: LaneState }>(change: (s: LaneState, ctx: Ctx) => T): T {
    const before = this.toState();
    const done = change(before, this.ctx);
    this.take(before, done.state);
    return done;
  }

  /** The lane as a value: the state behind the draft if nothing changed, and unchanged rows are the rows of before. */
  toState(): LaneState {
    const s = this.base;
    const invoice = keepRow(s.invoice, this.ownInvoice);
    const payments = keepRows(s.payments, this.ownPayments);
    const attempts = keepRows(s.attempts, this.ownAttempts);
    const refunds = keepRows(s.refunds, this.ownRefunds);
    const objects = keepRows(s.objects, this.ownObjects);
    const messages = keepRows(s.messages, this.ownMessages);
    const reviews = keepRows(s.reviews, this.ownReviews);
    const isSame =
      invoice === s.invoice &&
      payments === s.payments &&
      attempts === s.attempts &&
      refunds === s.refunds &&
      objects === s.objects &&
      messages === s.messages &&
      reviews === s.reviews;
    if (!isSame) this.base = { ...s, invoice, payments, attempts, refunds, objects, messages, reviews };
    return this.base;
  }

  private take(before: LaneState, after: LaneState): void {
    if (after === before) return;
    const invoice = this.takeInvoice(before.invoice, after.invoice);
    const payments = syncRows(this.ownPayments, before.payments, after.payments, byId);
    const attempts = syncRows(this.ownAttempts, before.attempts, after.attempts, byEvent);
    const refunds = syncRows(this.ownRefunds, before.refunds, after.refunds, byId);
    const objects = syncRows(this.ownObjects, before.objects, after.objects, byId);
    const messages = syncRows(this.ownMessages, before.messages, after.messages, byId);
    const reviews = syncRows(this.ownReviews, before.reviews, after.reviews, byId);
    this.base = { ...after, invoice, payments, attempts, refunds, objects, messages, reviews };
  }

  private takeInvoice(before: InvoiceRow | null, after: InvoiceRow | null): InvoiceRow | null {
    const own = this.ownInvoice;
    if (after === before || own === null) return after;
    if (after === null) this.ownInvoice = null;
    else Object.assign(own, after);
    return after === own ? { ...own } : after;
  }
}

function idOf(about: About): string | null {
  return typeof about === 'string' || about === null ? about : about.id;
}

const byId = (row: { readonly id: string }): string => row.id;
const byEvent = (row: { readonly eventId: string }): string => row.eventId;

function copyRows<T extends object>(rows: readonly T[]): Draft<T>[] {
  return rows.map((row): Draft<T> => ({ ...row }));
}

/** Brings the drafts up to date in place. Returns the rows as values: a draft that a function put into them becomes a copy. */
function syncRows<T extends object>(
  own: Draft<T>[] | null,
  before: readonly T[],
  after: readonly T[],
  keyOf: (row: T) => string,
): readonly T[] {
  if (own === null || after === before) return after;
  const drafts = new Map(before.map((row, n) => [keyOf(row), { row, draft: own[n] }]));
  own.length = 0;
  return after.map((row): T => {
    const known = drafts.get(keyOf(row));
    const draft = known?.draft ?? { ...row };
    own.push(draft);
    if (known !== undefined && known.row !== row) Object.assign(draft, row);
    return row === draft ? { ...row } : row;
  });
}

/** `was` if the draft says the same, else a copy of the draft: a rule may go on with it. */
function keepRow<T extends object>(was: T | null, own: Draft<T> | null): T | null {
  return own === null || (was !== null && isSameRow(was, own)) ? was : { ...own };
}

function keepRows<T extends object>(was: readonly T[], own: readonly Draft<T>[] | null): readonly T[] {
  if (own === null) return was;
  let isKept = own.length === was.length;
  const rows = own.map((draft, n): T => {
    const row = was[n];
    if (row !== undefined && isSameRow(row, draft)) return row;
    isKept = false;
    return { ...draft };
  });
  return isKept ? was : rows;
}

/** A row and its draft have the same members. */
function isSameRow(row: object, draft: object): boolean {
  const [one, other] = [row as Readonly<Record<string, unknown>>, draft as Readonly<Record<string, unknown>>];
  for (const name in one) if (one[name] !== other[name] && !isSame(one[name], other[name])) return false;
  return true;
}

/** Equal by value: dates by their time, and an absent member is an undefined one. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Date || b instanceof Date)
    return a instanceof Date && b instanceof Date && a.getTime() === b.getTime();
  return Array.isArray(a) === Array.isArray(b) && isSameRow(a, b) && isSameRow(b, a);
}

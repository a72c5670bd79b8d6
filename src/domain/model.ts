// The bridge's knowledge of one invoice: the rows of a lane as plain values. Amounts are smallest units, times UTC.
import { type Fact, type FactCode, FACT_WAY, type ReviewKind } from './fact.js';
import { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus } from './invoice-row.js';
import { type Money } from './money.js';
import { type MorObjectRow } from './mor-object.js';
import { type BillingCall, type BillingCallKind, CALL_WAY } from './ports/billing-platform.js';
import { type WireRequest } from './ports/call.js';
import { bigint, bool, code, type Draft, ERASED, int, json, key, rowOf, type RowOf, text, texts, time } from './row.js';

export { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus, type ReviewKind };

/**
 * Document 3, "Payment status as delivered in events"; `processing`, its word for an intent, before a signup's charge
 * is proven: a bank debit is known for days before it settles.
 */
export type PaymentStatus =
  'processing' | 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded';

/**
 * The progress of one payment's mark on its invoice. One row per payment: a crash between two calls resumes at the
 * right one. `parked`: a person must decide. `closed`: nothing more will happen.
 */
export const markMoves = {
  none: ['proving', 'waiting', 'closed'],
  proving: ['waiting', 'parked', 'closed'],
  waiting: ['held', 'finalizing', 'reporting', 'attaching', 'referencing', 'confirmed', 'parked', 'closed'],
  held: ['waiting', 'closed'],
  finalizing: ['waiting', 'held', 'parked'],
  reporting: ['attaching', 'waiting', 'parked'],
  attaching: ['confirmed', 'waiting', 'parked'],
  referencing: ['paying', 'waiting', 'parked'],
  paying: ['confirmed', 'waiting', 'parked'],
  parked: ['waiting', 'proving', 'closed', 'confirmed'],
  confirmed: [],
  closed: ['waiting'],
} as const satisfies Record<string, readonly string[]>;
export type MarkStage = keyof typeof markMoves;

/** Stages of a payment with a hold on the invoice: no second payment may get a mark meanwhile. */
export const HOLDING: ReadonlySet<MarkStage> = new Set<MarkStage>([
  'finalizing',
  'reporting',
  'attaching',
  'referencing',
  'paying',
  'confirmed',
]);

export type PaymentOrigin = 'renewal' | 'signup' | 'proforma' | 'payment_link';

export const PAYMENT = rowOf('payment', {
  /** Ours, permanent. */
  id: key(),
  /** The MoR's `pay_…`; null until an event brought it. */
  paymentId: text().orNull,
  /** The author of the name; null: the MoR. A name unknown to the MoR goes away again. */
  identifiedBy: text().orNull,
  invoiceId: text(),
  customerId: text(),
  origin: text<PaymentOrigin>().first('renewal'),
  status: text<PaymentStatus>().first('succeeded'),
  /** Null while only a refund of it is known. */
  amount: bigint().orNull,
  currency: code(3),
  processorChargeId: text().orNull,
  processorPaymentIntentId: text().orNull,
  /** The payment's reference in Stripe: the charge id, or the proforma invoice's or payment link's id. */
  reference: text().orNull,
  /** When the MoR took the money; null: it did not (yet, as far as we know). */
  succeededAt: time().orNull,
  /** The newest failed or requires_action verdict, to order two of them. */
  verdictAt: time().orNull,
  failureMessage: text().orNull.personal(),
  declineCode: text().orNull,
  mark: text<MarkStage>().first('none'),
  markMode: text<MarkMode>().orNull,
  paymentRecordId: text().orNull,
  /** Number of new tries of a refused mark after a fresh read. */
  markTries: int().first(0),
  proveDueAt: time().orNull,
  proveAttempts: int().first(0),
  /** Since when the MoR knows a signup's charge and has not settled it (202); null: it never said so. */
  pendingSince: time().orNull,
  /** Checks a person waived for this payment, by the review item's kind; `surplus`: known to be more than due. */
  waived: texts<ReviewKind | 'surplus'>().first([]),
  /** Counted refunds, in smallest units. */
  amountRefunded: bigint().first(0n),
  /** The largest `amount_refunded_total` any event carried; null: none did. */
  refundedTotal: bigint().orNull,
  signupId: text().orNull,
  recordedAt: time(),
});
export type PaymentRow = RowOf<typeof PAYMENT>;

export type MarkMode = 'payment_record' | 'out_of_band';

/** One verdict of the MoR on one try to charge. */
export const ATTEMPT = rowOf('', {
  eventId: key(),
  invoiceId: text(),
  paymentId: text(),
  outcome: text<'succeeded' | 'failed' | 'requires_action'>(),
  amount: bigint(),
  currency: text(),
  failureMessage: text().orNull.personal(),
  declineCode: text().orNull,
  processorPaymentIntentId: text().orNull,
  at: time(),
});
export type AttemptRow = RowOf<typeof ATTEMPT>;

/**
 * `requested`: stored, without an answer. `unknown`: sent, and nobody answered. `pending`: a bank debit on its way, or
 * a status of the MoR outside Document 3 (`morStatus`). Only `failed` frees the amount.
 */
export const refundMoves = {
  requested: ['unknown', 'pending', 'succeeded', 'failed', 'joined'],
  unknown: ['pending', 'succeeded', 'failed', 'joined'],
  pending: ['succeeded', 'failed'],
  succeeded: [],
  failed: ['succeeded'],
  /** Another row stands for it (`askedAs`): it reserves nothing and no list shows it. docs/decisions/0008. */
  joined: [],
} as const satisfies Record<string, readonly string[]>;
export type RefundStatus = keyof typeof refundMoves;

/**
 * The progress of a refund's twin on Stripe. `not_needed`: its payment never had a mark there, or its money never
 * showed.
 */
export const mirrorMoves = {
  none: ['waiting', 'not_needed'],
  waiting: ['reporting', 'crediting', 'done', 'not_needed', 'parked'],
  reporting: ['crediting', 'done', 'parked'],
  crediting: ['done', 'parked'],
  parked: ['waiting', 'not_needed'],
  not_needed: ['waiting'],
  done: [],
} as const satisfies Record<string, readonly string[]>;
export type MirrorStage = keyof typeof mirrorMoves;

export const REFUND = rowOf('refund', {
  /** Ours, permanent. */
  id: key(),
  /** Our id of the payment. */
  paymentRowId: text(),
  invoiceId: text(),
  morRefundId: text().orNull,
  processorRefundId: text().orNull,
  amount: bigint(),
  currency: code(3),
  status: text<RefundStatus>(),
  /** The MoR's own word while it is none of Document 3's: not final, so `status` is `pending`. Null: none. */
  morStatus: text().orNull,
  reason: text().orNull.personal(),
  /** `api`: asked for through us. `event`: made elsewhere, known by its event. */
  origin: text<'api' | 'event'>(),
  /** The MoR's id of the payment in our request; null: there was no request of ours. */
  askedOf: text().orNull,
  /** The id of a `joined` request: it was made after the event of this refund, as after a restore. Null: no such request. */
  askedAs: text().orNull,
  /** False: it would exceed the payment, so it shows but does not count (a review item says so). */
  counted: bool(),
  /** `amount_refunded_total` of its event; null: no event, or the event had none. */
  totalAfter: bigint().orNull,
  /** Its part returning a payment beyond the amount due. This lowers no sale, so no credit note shows it. */
  surplus: bigint().first(0n),
  mirror: text<MirrorStage>(),
  creditNoteId: text().orNull,
  /** The MoR's refusal; null: none. */
  failure: json<{ readonly status: number | null; readonly code: string | null; readonly message: string }>()
    .orNull // a person's own words are personal, a code of the MoR is not
    .personal((f) => (f.code === 'told_by_person' ? { ...f, message: ERASED } : f)),
  createdAt: time(),
  succeededAt: time().orNull,
});
export type RefundRow = RowOf<typeof REFUND>;

/**
 * Each move of a status asks its table. A move outside the table is a bug: it throws, the lane stops and a person hears of it, before money
 * follows an impossible state.
 */
function check(what: string, moves: Readonly<Record<string, readonly string[]>>, from: string, to: string): void {
  if (from !== to && moves[from]?.includes(to) !== true) throw new Error(`${what} cannot move from ${from} to ${to}`);
}

/** Moves a payment's mark; `also` changes with it. */
export function moveMark(p: Draft<PaymentRow>, to: MarkStage, also: Partial<PaymentRow> = {}): void {
  check('a mark', markMoves, p.mark, to);
  // The next mark chooses its mode again.
  if (p.mark !== to && to === 'waiting') p.markMode = null;
  Object.assign(p, { mark: to }, also);
}

/** Moves a refund: whether the money went back. */
export function moveRefund(r: Draft<RefundRow>, to: RefundStatus, also: Partial<RefundRow> = {}): void {
  check('a refund', refundMoves, r.status, to);
  if (r.status !== to) r.morStatus = null;
  Object.assign(r, { status: to }, also);
}

/** Moves a refund's twin on Stripe. */
export function moveMirror(r: Draft<RefundRow>, to: MirrorStage, also: Partial<RefundRow> = {}): void {
  check("a refund's twin", mirrorMoves, r.mirror, to);
  Object.assign(r, { mirror: to }, also);
}

export type Resolution = 'apply' | 'refund' | 'retry' | 'credit' | 'dismiss';

export const REVIEW = rowOf('review', {
  id: key(),
  kind: text<ReviewKind>(),
  status: text<'open' | 'resolved'>(),
  /** The code of its fact. */
  topic: text<FactCode>(),
  /** Its object, in one word: one open item per kind, topic and subject. */
  subject: text(),
  invoiceId: text().orNull,
  /** Our id of the payment. */
  paymentRowId: text().orNull,
  refundId: text().orNull,
  /** Why it is open. A reader's look makes sentences from it. */
  fact: json<Fact>(FACT_WAY),
  /** A person's choices. A refund needs the MoR's id of the payment as well. */
  actions: texts<Resolution>(),
  /** One of the actions; null: somebody must find something out first. */
  proposed: text<Resolution>().orNull,
  /** Until when a person must have acted, or it is too late; null: nobody set a time. */
  dueAt: time().orNull,
  createdAt: time(),
  resolvedAt: time().orNull,
  /** An API key's name, or `crossbill` when the item closed itself. */
  resolvedBy: text().orNull,
  resolution: text<Resolution | 'cleared'>().orNull,
  note: text().orNull.personal(),
});
export type ReviewRow = RowOf<typeof REVIEW>;

export type OutboxKind =
  BillingCallKind | 'create_refund' | 'relay_event' | 'retry_charge' | 'create_proforma' | 'create_payment_link';

/** A decided call: key and bytes are stored before its sending. */
export const CALL = rowOf('', {
  id: key(),
  lane: text(),
  peer: text<'stripe' | 'mor' | 'relay'>(),
  kind: text<OutboxKind>(),
  /** The payment's or refund's own id; with `kind` and `generation` unique for good. */
  subject: text(),
  /** Our id of its payment, marked by it or with its refund shown by it, under any later name; null: neither. */
  paymentRowId: text().orNull,
  /** Raised only when the effect of the earlier key is surely absent. */
  generation: int(),
  key: text(),
  wire: json<WireRequest>(),
  /** The request of a call to Stripe, to recognise its effect; null for the other peers. */
  asked: json<BillingCall>(CALL_WAY).orNull,
  status: text<'pending' | 'done' | 'refused' | 'cancelled'>(),
  attempts: int().first(0),
  /** Time of its first sending, or of an earlier look for its effect: its key's age counts from then. */
  firstTriedAt: time().orNull,
  nextTryAt: time(),
  lastStatus: int().orNull,
  lastCode: text().orNull,
  lastMessage: text().orNull,
  lastRequestId: text().orNull,
  /** The peer replays a stored failure for this key. */
  replaying: bool().first(false),
  createdAt: time(),
  answeredAt: time().orNull,
});
export type OutboxRow = RowOf<typeof CALL>;

/** Accounts of the ledger. The two clearing accounts stand at zero when nothing is under way. */
export type Account =
  | 'mor_receivable' // money the MoR holds for the merchant
  | 'unmarked_payments' // clearing: taken by the MoR, not yet marked on Stripe
  | 'settled_invoices' // marked paid on Stripe
  | 'unmirrored_refunds' // clearing: given back by the MoR, not yet shown on Stripe
  | 'disputed_payments'; // taken back by a bank

/** One movement between two accounts. Unique by (reason, subject) for good. */
export const LEDGER_ENTRY = rowOf('ledger_entry', {
  debit: text<Account>().named('debit_account'),
  credit: text<Account>().named('credit_account'),
  amount: bigint(),
  currency: code(3),
  reason: text(),
  subject: text(),
  invoiceId: text(),
  paymentRowId: text(),
  /** The MoR's `pay_…`, if known; a payment counts once under it, for any invoice. */
  paymentId: text().orNull,
  /** Money counts once under a charge. Null: none known, or another payment of this invoice has it. */
  processorChargeId: text().orNull,
  refundId: text().orNull,
  /** The inbox event behind it; null: a call's answer or a person. */
  eventId: text().orNull,
  /** The MoR's own time of the movement: it says the entry's month. Stripe's side of a movement has the same time, so a shown month is even. */
  movedAt: time(),
  /** The time of the entry. */
  at: time().named('recorded_at'),
});
export type LedgerEntry = Omit<RowOf<typeof LEDGER_ENTRY>, 'amount' | 'currency'> & { readonly amount: Money };

/** One line of an invoice's timeline. */
export type JournalLine = {
  readonly lane: string;
  readonly at: Date;
  readonly kind: 'event' | 'decision' | 'call' | 'person';
  /** The event, message, review or refund it is about. */
  readonly ref: string | null;
  readonly text: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>> | null;
};

/** The rows of a lane, common to a state and a draft: for functions without writes. */
export type LaneRows = Omit<LaneState, 'entries' | 'journal'>;

/** Everything known about one lane, as loaded, and one decision's additions. */
export type LaneState = {
  readonly lane: string;
  readonly invoice: InvoiceRow | null;
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly RefundRow[];
  /** The MoR's objects of the invoice. */
  readonly objects: readonly MorObjectRow[];
  /** All of them, answered ones too: a next generation must know the last. */
  readonly messages: readonly OutboxRow[];
  /** Open and resolved. */
  readonly reviews: readonly ReviewRow[];
  /** New only: never loaded. */
  readonly entries: readonly LedgerEntry[];
  readonly journal: readonly JournalLine[];
};

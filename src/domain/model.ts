// What the bridge knows about one invoice: the rows of a lane as plain values. Amounts are smallest units, times UTC.
import { type Fact, type FactCode, FACT_WAY, type ReviewKind } from './fact.js';
import { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus } from './invoice-row.js';
import { type Money } from './money.js';
import { type MorObjectRow } from './mor-object.js';
import { type BillingCall, type BillingCallKind, CALL_WAY } from './ports/billing-platform.js';
import { type WireRequest } from './ports/call.js';
import { bigint, bool, code, ERASED, int, json, key, rowOf, type RowOf, text, texts, time } from './row.js';

export { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus, type ReviewKind };

/**
 * Document 3, "Payment status as delivered in events"; `processing`, its word for an intent, until a signup's charge is proven: a bank
 * debit is known for days before it is settled.
 */
export type PaymentStatus =
  'processing' | 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded';

/**
 * How far the mark of one payment on its invoice has come. One row per payment, so that a crash between two calls resumes at the
 * right one. `parked`: a person must decide. `closed`: nothing more will be done.
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

/** Stages in which a payment holds the invoice: no second payment may be marked beside it. */
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
  /** Who named it so; null: the MoR did. A name that the MoR does not know is taken back. */
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
  /** What Stripe shows as the payment's reference: the charge id, or the proforma invoice's or payment link's id. */
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
  /** How often a refused mark was tried again after a fresh read. */
  markTries: int().first(0),
  proveDueAt: time().orNull,
  proveAttempts: int().first(0),
  /** Since when the MoR knows a signup's charge and has not settled it (202); null: it never said so. */
  pendingSince: time().orNull,
  /** Checks that a person waived for this payment, by the review item's kind; `surplus`: it was known to be more than was due. */
  waived: texts<ReviewKind | 'surplus'>().first([]),
  /** Refunds that count, in smallest units. */
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
 * `requested`: written down, no answer yet. `unknown`: sent, and nobody answered. `pending`: a bank debit on its way, or a status of the MoR
 * that Document 3 does not have (`morStatus`). Only
 * `failed` frees the amount.
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

/** How far a refund's twin on Stripe has come. `not_needed`: its payment was never marked there, or what it gives back never showed. */
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
  /** Our id under which it was asked for when its event had come already, as after a restore: that row is `joined`. Null: it was not. */
  askedAs: text().orNull,
  /** False: it would exceed the payment, so it is shown but not counted (a review item says so). */
  counted: bool(),
  /** `amount_refunded_total` of its event; null: no event, or the event had none. */
  totalAfter: bigint().orNull,
  /** How much of it gives back what was paid beyond the amount due. No sale is lowered by that, so no credit note shows it. */
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

export type Resolution = 'apply' | 'refund' | 'retry' | 'credit' | 'dismiss';

export const REVIEW = rowOf('review', {
  id: key(),
  kind: text<ReviewKind>(),
  status: text<'open' | 'resolved'>(),
  /** The code of its fact. */
  topic: text<FactCode>(),
  /** What it is about, in one word: one open item per kind, topic and subject. */
  subject: text(),
  invoiceId: text().orNull,
  /** Our id of the payment. */
  paymentRowId: text().orNull,
  refundId: text().orNull,
  /** Why it is open. Sentences are made from it when somebody reads them. */
  fact: json<Fact>(FACT_WAY),
  /** What a person may choose. A refund needs the MoR's id of the payment as well. */
  actions: texts<Resolution>(),
  /** One of the actions; null: something must be found out first. */
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

/** A call that was decided: key and bytes are stored before it is sent. */
export const CALL = rowOf('', {
  id: key(),
  lane: text(),
  peer: text<'stripe' | 'mor' | 'relay'>(),
  kind: text<OutboxKind>(),
  /** The payment's or refund's own id; with `kind` and `generation` unique for good. */
  subject: text(),
  /** Our id of the payment that is marked by it, or whose refund it shows, whatever that is called by now; null: it is neither. */
  paymentRowId: text().orNull,
  /** Raised only when the effect of the earlier key is surely absent. */
  generation: int(),
  key: text(),
  wire: json<WireRequest>(),
  /** What a call to Stripe asks for, by which its effect is recognised; null for the other peers. */
  asked: json<BillingCall>(CALL_WAY).orNull,
  status: text<'pending' | 'done' | 'refused' | 'cancelled'>(),
  attempts: int().first(0),
  /** When it was sent first, or its effect looked for before that: its key's age counts from then. */
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
  /** The MoR's `pay_…`, where it was known; a payment is collected once under it, whatever invoice it names. */
  paymentId: text().orNull,
  /** Money is collected once under a charge. Null: none was known, or another payment of this invoice was collected under it. */
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

/** The rows of a lane, as a state and a draft both have them: for functions that only read. */
export type LaneRows = Omit<LaneState, 'entries' | 'journal'>;

/** Everything that is known about one lane, as it was loaded, and what one decision added to it. */
export type LaneState = {
  readonly lane: string;
  readonly invoice: InvoiceRow | null;
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly RefundRow[];
  /** What the MoR keeps beside the invoice. */
  readonly objects: readonly MorObjectRow[];
  /** All of them, answered ones too: a next generation must know the last. */
  readonly messages: readonly OutboxRow[];
  /** Open and resolved. */
  readonly reviews: readonly ReviewRow[];
  /** New only: never loaded. */
  readonly entries: readonly LedgerEntry[];
  readonly journal: readonly JournalLine[];
};

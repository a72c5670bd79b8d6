// What the bridge knows about one invoice: the rows of a lane as plain values. Amounts are smallest units, times UTC.
import { type Fact, type FactCode, type ReviewKind } from './fact.js';
import { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus } from './invoice-row.js';
import { type Money } from './money.js';
import { type MorObjectRow } from './mor-object.js';
import { type BillingCall, type BillingCallKind } from './ports/billing-platform.js';
import { type WireRequest } from './ports/call.js';

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
  parked: ['none', 'waiting', 'proving', 'closed', 'confirmed'],
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

export type PaymentRow = {
  /** Ours, permanent. */
  readonly id: string;
  /** The MoR's `pay_…`; null until an event brought it. */
  readonly paymentId: string | null;
  /** Who named it so; null: the MoR did. A name that the MoR does not know is taken back. */
  readonly identifiedBy: string | null;
  readonly invoiceId: string;
  readonly customerId: string;
  readonly origin: PaymentOrigin;
  readonly status: PaymentStatus;
  /** Null while only a refund of it is known. */
  readonly amount: bigint | null;
  readonly currency: string;
  readonly processorChargeId: string | null;
  readonly processorPaymentIntentId: string | null;
  /** What Stripe shows as the payment's reference: the charge id, or the proforma invoice's or payment link's id. */
  readonly reference: string | null;
  /** When the MoR took the money; null: it did not (yet, as far as we know). */
  readonly succeededAt: Date | null;
  /** The newest failed or requires_action verdict, to order two of them. */
  readonly verdictAt: Date | null;
  readonly failureMessage: string | null;
  readonly declineCode: string | null;
  readonly mark: MarkStage;
  readonly markMode: MarkMode | null;
  readonly paymentRecordId: string | null;
  /** How often a refused mark was tried again after a fresh read. */
  readonly markTries: number;
  readonly proveDueAt: Date | null;
  readonly proveAttempts: number;
  /** Since when the MoR knows a signup's charge and has not settled it (202); null: it never said so. */
  readonly pendingSince: Date | null;
  /** Checks that a person waived for this payment, by the review item's kind; `surplus`: it was known to be more than was due. */
  readonly waived: readonly (ReviewKind | 'surplus')[];
  /** Refunds that count, in smallest units. */
  readonly amountRefunded: bigint;
  /** The largest `amount_refunded_total` any event carried; null: none did. */
  readonly refundedTotal: bigint | null;
  readonly signupId: string | null;
  readonly recordedAt: Date;
};

export type MarkMode = 'payment_record' | 'out_of_band';

/** One verdict of the MoR on one try to charge. */
export type AttemptRow = {
  readonly eventId: string;
  readonly invoiceId: string;
  readonly paymentId: string;
  readonly outcome: 'succeeded' | 'failed' | 'requires_action';
  readonly amount: bigint;
  readonly currency: string;
  readonly failureMessage: string | null;
  readonly declineCode: string | null;
  readonly processorPaymentIntentId: string | null;
  readonly at: Date;
};

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

export type RefundRow = {
  /** Ours, permanent. */
  readonly id: string;
  /** Our id of the payment. */
  readonly paymentRowId: string;
  readonly invoiceId: string;
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: RefundStatus;
  /** The MoR's own word while it is none of Document 3's: not final, so `status` is `pending`. Null: none. */
  readonly morStatus: string | null;
  readonly reason: string | null;
  /** `api`: asked for through us. `event`: made elsewhere, known by its event. */
  readonly origin: 'api' | 'event';
  /** The MoR's id of the payment in our request; null: there was no request of ours. */
  readonly askedOf: string | null;
  /** Our id under which it was asked for when its event had come already, as after a restore: that row is `joined`. Null: it was not. */
  readonly askedAs: string | null;
  /** False: it would exceed the payment, so it is shown but not counted (a review item says so). */
  readonly counted: boolean;
  /** `amount_refunded_total` of its event; null: no event, or the event had none. */
  readonly totalAfter: bigint | null;
  /** How much of it gives back what was paid beyond the amount due. No sale is lowered by that, so no credit note shows it. */
  readonly surplus: bigint;
  readonly mirror: MirrorStage;
  readonly creditNoteId: string | null;
  /** The MoR's refusal; null: none. */
  readonly failure: { readonly status: number | null; readonly code: string | null; readonly message: string } | null;
  readonly createdAt: Date;
  readonly succeededAt: Date | null;
};

export type Resolution = 'apply' | 'refund' | 'retry' | 'credit' | 'dismiss';

export type ReviewRow = {
  readonly id: string;
  readonly kind: ReviewKind;
  readonly status: 'open' | 'resolved';
  /** The code of its fact. */
  readonly topic: FactCode;
  /** What it is about, in one word: one open item per kind, topic and subject. */
  readonly subject: string;
  readonly invoiceId: string | null;
  /** Our id of the payment. */
  readonly paymentRowId: string | null;
  readonly refundId: string | null;
  /** Why it is open. Sentences are made from it when somebody reads them. */
  readonly fact: Fact;
  /** What a person may choose. A refund needs the MoR's id of the payment as well. */
  readonly actions: readonly Resolution[];
  /** One of the actions; null: something must be found out first. */
  readonly proposed: Resolution | null;
  /** Until when a person must have acted, or it is too late; null: nobody set a time. */
  readonly dueAt: Date | null;
  readonly createdAt: Date;
  readonly resolvedAt: Date | null;
  /** An API key's name, or `crossbill` when the item closed itself. */
  readonly resolvedBy: string | null;
  readonly resolution: Resolution | 'cleared' | null;
  readonly note: string | null;
};

export type OutboxKind =
  BillingCallKind | 'create_refund' | 'relay_event' | 'retry_charge' | 'create_proforma' | 'create_payment_link';

/** A call that was decided: key and bytes are stored before it is sent. */
export type OutboxRow = {
  readonly id: string;
  readonly lane: string;
  readonly peer: 'stripe' | 'mor' | 'relay';
  readonly kind: OutboxKind;
  /** The payment's or refund's own id; with `kind` and `generation` unique for good. */
  readonly subject: string;
  /** Our id of the payment that is marked by it, or whose refund it shows, whatever that is called by now; null: it is neither. */
  readonly paymentRowId: string | null;
  /** Raised only when the effect of the earlier key is surely absent. */
  readonly generation: number;
  readonly key: string;
  readonly wire: WireRequest;
  /** What a call to Stripe asks for, by which its effect is recognised; null for the other peers. */
  readonly asked: BillingCall | null;
  readonly status: 'pending' | 'done' | 'refused' | 'cancelled';
  readonly attempts: number;
  /** When it was sent first, or its effect looked for before that: its key's age counts from then. */
  readonly firstTriedAt: Date | null;
  readonly nextTryAt: Date;
  readonly lastStatus: number | null;
  readonly lastCode: string | null;
  readonly lastMessage: string | null;
  readonly lastRequestId: string | null;
  /** The peer replays a stored failure for this key. */
  readonly replaying: boolean;
  readonly createdAt: Date;
  readonly answeredAt: Date | null;
};

/** Accounts of the ledger. The two clearing accounts stand at zero when nothing is under way. */
export type Account =
  | 'mor_receivable' // money the MoR holds for the merchant
  | 'unmarked_payments' // clearing: taken by the MoR, not yet marked on Stripe
  | 'settled_invoices' // marked paid on Stripe
  | 'unmirrored_refunds' // clearing: given back by the MoR, not yet shown on Stripe
  | 'disputed_payments'; // taken back by a bank

/** One movement between two accounts. Unique by (reason, subject) for good. */
export type LedgerEntry = {
  readonly debit: Account;
  readonly credit: Account;
  readonly amount: Money;
  readonly reason: string;
  readonly subject: string;
  readonly invoiceId: string;
  readonly paymentRowId: string;
  /** The MoR's `pay_…`, where it was known; a payment is collected once under it, whatever invoice it names. */
  readonly paymentId: string | null;
  /** Money is collected once under a charge. Null: none was known, or another payment of this invoice was collected under it. */
  readonly processorChargeId: string | null;
  readonly refundId: string | null;
  /** The inbox event that caused it; null: a call's answer or a person did. */
  readonly eventId: string | null;
  /** When the entry was made. */
  readonly at: Date;
  /**
   * When the money that it tells of moved, which says what month it belongs to: the MoR's own time of money that was taken, given back or
   * lost. That Stripe shows it belongs to the same time, as Stripe itself dates it, so that a month is even once all of it is shown.
   */
  readonly movedAt: Date;
};

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

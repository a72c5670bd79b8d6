// The rows of one invoice's lane, as plain values. Amounts are smallest units, times UTC.
import { type Fact, type FactCode, FACT_WAY, type ReviewKind } from './fact.js';
import { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus } from './invoice-row.js';
import { type Money } from './money.js';
import { type MorObjectRow } from './mor-object.js';
import { type FeatureCalls } from './feature-calls.js';
import { type BillingCall, type BillingCallKind, CALL_WAY, type OptionalCallKind } from './ports/billing-platform.js';
import { type WireRequest } from './ports/call.js';
import { type MirrorStage, mirrorMoves, REFUND, refundMoves, type RefundRow, type RefundStatus } from './refund-row.js';
import { bigint, bool, code, type Mutable, int, json, key, rowOf, type RowOf, text, time, word, words } from './row.js';
import { keepCode, withoutWords } from './foreign-words.js';

export { type InvoiceRow, type PlatformStatus, type PublicInvoiceStatus, type ReviewKind };
export { mirrorMoves, type MirrorStage, REFUND, refundMoves, type RefundRow, type RefundStatus };

/**
 * A payment's status, in Document 3's words ("Payment status as delivered in events"). `processing` is its word for an
 * intent: a signup's payment is `processing` until the MoR proves its charge. For a bank debit this takes days.
 */
export type PaymentStatus =
  'processing' | 'succeeded' | 'failed' | 'requires_action' | 'partially_refunded' | 'refunded';

/**
 * The stages of a payment's mark, each with its possible next stages. After a crash between two calls, the mark resumes
 * at the right call. `parked`: a person must decide. `closed`: nothing more will happen.
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

/** In these stages of its mark, a payment blocks the invoice: Crossbill marks no second payment meanwhile. */
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
  /** Our own id. It never changes. */
  id: key(),
  /** The MoR's `pay_…`. Null until an event brings it. */
  paymentId: text().orNull,
  /** Who entered the payment id, a person or an API key. Null: nobody, or the MoR has since given or refused the id. */
  identifiedBy: text().orNull,
  invoiceId: text(),
  customerId: text(),
  origin: word<PaymentOrigin>().first('renewal'),
  status: word<PaymentStatus>().first('succeeded'),
  /** Null while Crossbill knows only a refund of the payment. */
  amount: bigint().orNull,
  currency: code(3),
  processorChargeId: text().orNull,
  processorPaymentIntentId: text().orNull,
  /** The reference of the payment in Stripe: the charge id, or the id of the proforma invoice or payment link. */
  reference: text().orNull,
  /** When the MoR took the money. Null: not yet, as far as Crossbill knows. */
  succeededAt: time().orNull,
  /** The time of the newest `failed` or `requires_action` verdict, to put two verdicts in order. */
  verdictAt: time().orNull,
  failureMessage: text().orNull.said(),
  declineCode: word().orNull.personal(keepCode),
  mark: word<MarkStage>().first('none'),
  markMode: word<MarkMode>().orNull,
  paymentRecordId: text().orNull,
  /** How often Crossbill repeated a refused mark after a fresh read. */
  markTries: int().first(0),
  proveDueAt: time().orNull,
  proveAttempts: int().first(0),
  /** When the MoR first reported the charge of a signup as known but not settled (202). Null: never. */
  pendingSince: time().orNull,
  /** The checks a person waived, by kind of review item. `surplus`: the person accepts more than the amount due. */
  waived: words<ReviewKind | 'surplus'>().first([]),
  /** The sum of the counted refunds, in smallest units. */
  amountRefunded: bigint().first(0n),
  /** The largest `amount_refunded_total` of all events. Null: no event had one. */
  refundedTotal: bigint().orNull,
  signupId: text().orNull,
  recordedAt: time(),
});
export type PaymentRow = RowOf<typeof PAYMENT>;

export type MarkMode = 'payment_record' | 'out_of_band';

/** One verdict of the MoR on one charge. */
export const ATTEMPT = rowOf('', {
  eventId: key(),
  invoiceId: text(),
  paymentId: text(),
  outcome: word<'succeeded' | 'failed' | 'requires_action'>(),
  amount: bigint(),
  currency: text(),
  failureMessage: text().orNull.said(),
  declineCode: word().orNull.personal(keepCode),
  processorPaymentIntentId: text().orNull,
  at: time(),
});
export type AttemptRow = RowOf<typeof ATTEMPT>;

/**
 * Throws if the table lacks this change of status: then the code has a bug. The lane stops and a person gets an item,
 * before any money follows an impossible status.
 */
function check(what: string, moves: Readonly<Record<string, readonly string[]>>, from: string, to: string): void {
  if (from !== to && moves[from]?.includes(to) !== true) throw new Error(`${what} cannot move from ${from} to ${to}`);
}

/** Moves the mark of a payment. `also`: other fields to change with it. */
export function moveMark(payment: Mutable<PaymentRow>, to: MarkStage, also: Partial<PaymentRow> = {}): void {
  check('a mark', markMoves, payment.mark, to);
  // A mark waiting for a new decision has no mode yet.
  if (payment.mark !== to && to === 'waiting') payment.markMode = null;
  Object.assign(payment, { mark: to }, also);
}

/** Moves the status of a refund: whether the money went back. */
export function moveRefund(refund: Mutable<RefundRow>, to: RefundStatus, also: Partial<RefundRow> = {}): void {
  check('a refund', refundMoves, refund.status, to);
  if (refund.status !== to) refund.morStatus = null;
  Object.assign(refund, { status: to }, also);
}

/** Moves the `mirror` stage of a refund: how far Stripe shows the refund. */
export function moveMirror(refund: Mutable<RefundRow>, to: MirrorStage, also: Partial<RefundRow> = {}): void {
  check("a refund's twin", mirrorMoves, refund.mirror, to);
  Object.assign(refund, { mirror: to }, also);
}

export const RESOLUTIONS = ['apply', 'refund', 'retry', 'credit', 'dismiss'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const REVIEW = rowOf('review', {
  id: key(),
  kind: word<ReviewKind>(),
  status: word<'open' | 'resolved'>(),
  /** The code of the fact. */
  topic: word<FactCode>(),
  /** The id of the item's object. For each kind, topic and subject only one item is open. */
  subject: text(),
  invoiceId: text().orNull,
  /** Our id of the payment. */
  paymentRowId: text().orNull,
  refundId: text().orNull,
  /** Why the item is open. Pages make their sentences from the fact. */
  fact: json<Fact>(FACT_WAY).said(withoutWords),
  /** What a person may choose. The choice `refund` also needs the MoR's id of the payment. */
  actions: words<Resolution>(),
  /** One of the actions. Null: a person must find something out first. */
  proposed: word<Resolution>().orNull,
  /** The deadline for a person. Null: there is none. */
  dueAt: time().orNull,
  createdAt: time(),
  resolvedAt: time().orNull,
  /** The name of an API key, or `crossbill` if the item closed automatically. */
  resolvedBy: text().orNull,
  resolution: word<Resolution | 'cleared'>().orNull,
  note: text().orNull.said(),
});
export type ReviewRow = RowOf<typeof REVIEW>;

export type CallKind = CoreCallKind | keyof FeatureCalls;
/** A call to Stripe that the core or a feature makes. */
export type MadeCall = Extract<BillingCall, { readonly kind: CallKind }>;
export type CoreCallKind = Exclude<BillingCallKind, OptionalCallKind> | 'create_refund' | 'relay_event';

/** A call that a rule decided to make. Crossbill stores its key and bytes before it sends the call. */
export const CALL = rowOf('', {
  id: key(),
  lane: text(),
  peer: word<'stripe' | 'mor' | 'relay'>(),
  kind: word<CallKind>(),
  /** The id of the call's object, such as a refund. `kind`, `subject` and `generation` together are unique for good. */
  subject: text(),
  /**
   * Our id of the payment the call marks, or of the payment behind its refund. It stays the same even if the payment's
   * id changes. Null: the call is about no payment.
   */
  paymentRowId: text().orNull,
  /** Counts the keys of this call. Crossbill makes a new key only if the earlier call certainly had no effect. */
  generation: int(),
  key: text(),
  wire: json<WireRequest>(),
  /** The content of a call to Stripe, to recognise its effect. Null for a call to the MoR or the relay. */
  asked: json<BillingCall>(CALL_WAY).orNull,
  status: word<'pending' | 'done' | 'refused' | 'cancelled'>(),
  attempts: int().first(0),
  /** When Crossbill first sent the call, or first searched for its effect. The age of its key counts from then. */
  firstTriedAt: time().orNull,
  nextTryAt: time(),
  lastStatus: int().orNull,
  lastCode: word().orNull.personal(keepCode),
  lastMessage: text().orNull.said(),
  lastRequestId: text().orNull,
  /** True: Stripe or the MoR replays a stored failure for this key. */
  replaying: bool().first(false),
  createdAt: time(),
  answeredAt: time().orNull,
});
export type CallRow = RowOf<typeof CALL>;

/** The accounts of the ledger. The two clearing accounts are at zero if nothing is under way. */
export type Account =
  | 'mor_receivable' // money the MoR holds for the merchant
  | 'unmarked_payments' // clearing: the MoR took the money, Stripe does not show it yet
  | 'settled_invoices' // marked paid on Stripe
  | 'unmirrored_refunds' // clearing: the MoR refunded the money, Stripe does not show it yet
  | 'disputed_payments'; // money a bank took back

/** One movement between two accounts. The pair (reason, subject) is unique for good. */
export const LEDGER_ENTRY = rowOf('ledger_entry', {
  debit: word<Account>().named('debit_account'),
  credit: word<Account>().named('credit_account'),
  amount: bigint(),
  currency: code(3),
  reason: word(),
  subject: text(),
  invoiceId: text(),
  paymentRowId: text(),
  /** The MoR's `pay_…`. Null: not known. Across all invoices, the ledger books a payment with this id only one time. */
  paymentId: text().orNull,
  /** The ledger books a charge only one time. Null: no charge is known, or another payment of this invoice has it. */
  processorChargeId: text().orNull,
  refundId: text().orNull,
  /** The inbox event behind the entry. Null: the cause is a reply to a call, or a person. */
  eventId: text().orNull,
  /**
   * When the money moved, by the MoR's clock. The ledger puts the entry into the month of this time. The later entry
   * for the mark on Stripe has the same time, so both entries fall into one month.
   */
  movedAt: time(),
  /** When Crossbill made the entry. */
  at: time().named('recorded_at'),
});
export type LedgerEntry = Omit<RowOf<typeof LEDGER_ENTRY>, 'amount' | 'currency'> & { readonly amount: Money };

/** One line of an invoice's timeline. */
export type JournalLine = {
  readonly lane: string;
  readonly at: Date;
  readonly kind: 'event' | 'decision' | 'call' | 'person';
  /** The id of the line's event, call, review item or refund. */
  readonly ref: string | null;
  readonly text: string;
  readonly detail: Readonly<Record<string, string | number | boolean | null>> | null;
};

/** The rows of a lane, from a state or a draft, for functions that only read them. */
export type LaneRows = Omit<LaneState, 'entries' | 'journal'>;

/** The loaded rows of one lane, and the additions of one decision. */
export type LaneState = {
  readonly lane: string;
  readonly invoice: InvoiceRow | null;
  readonly payments: readonly PaymentRow[];
  readonly attempts: readonly AttemptRow[];
  readonly refunds: readonly RefundRow[];
  /** The MoR's objects for the invoice. */
  readonly objects: readonly MorObjectRow[];
  /** All calls, also calls with a reply: the next key of a call needs the number of its last key. */
  readonly calls: readonly CallRow[];
  /** The review items, open and resolved. */
  readonly reviews: readonly ReviewRow[];
  /** Only new entries. Crossbill never loads old entries. */
  readonly entries: readonly LedgerEntry[];
  readonly journal: readonly JournalLine[];
};

// A payment, the stages of its mark, and the verdicts of the MoR on its charges.
import { rowOf, key, text, word, bigint, code, time, int, words, type RowOf, type Mutable } from './row.js';
import { keepCode } from './foreign-words.js';
import { type ReviewKind } from './fact.js';
import { checkMove } from './move.js';

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

/** Moves the mark of a payment. `also`: other fields to change with it. */
export function moveMark(payment: Mutable<PaymentRow>, to: MarkStage, also: Partial<PaymentRow> = {}): void {
  checkMove('a mark', markMoves, payment.mark, to);
  // A mark waiting for a new decision has no mode yet.
  if (payment.mark !== to && to === 'waiting') payment.markMode = null;
  Object.assign(payment, { mark: to }, also);
}

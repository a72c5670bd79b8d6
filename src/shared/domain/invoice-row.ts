// Crossbill's row for an invoice of the billing platform.
import { type InvoiceStatus } from './ports/billing-platform.js';
import { type ChargedMethod } from './ports/billing-reader.js';
import { type ConfirmedMethod, type RetryHistory } from './retry.js';
import { bigint, bool, code, int, json, key, rowOf, type RowOf, text, time, word } from './row.js';
import { ERASED, keepCode } from './foreign-words.js';

/** The platform's last status for the invoice. `unknown`: no event and no read so far. */
export type PlatformStatus = InvoiceStatus | 'unknown';

/** The status of the invoice as the API shows it. */
export type PublicInvoiceStatus = 'expected' | 'open' | 'held' | 'marking' | 'paid' | 'ignored' | 'void' | 'review';

/** An erasure keeps the code of the last refusal. Before this release a bank's sentence could stand in its place. */
const withoutSentence = (history: RetryHistory): RetryHistory => {
  const { code } = history.refusal;
  return { ...history, refusal: { ...history.refusal, code: code === null ? null : keepCode(code) } };
};

export const INVOICE = rowOf('invoice', {
  invoiceId: key(),
  customerId: text().orNull,
  /** The country of the customer's address on the invoice, ISO 3166-1 alpha-2. Null: unknown. */
  customerCountry: code(2).orNull,
  /** The number printed on the invoice. Null: Stripe has not given one, or has not reported it. */
  number: text().orNull,
  status: word<PublicInvoiceStatus>().first('expected'),
  platformStatus: word<PlatformStatus>().first('unknown'),
  billingReason: word().orNull.personal(keepCode),
  currency: code(3).orNull,
  amountDue: bigint().orNull,
  amountPaid: bigint().orNull,
  amountRemaining: bigint().orNull,
  /**
   * The amount the customer paid beyond the amount due, as Stripe last reported it. Null: Stripe has reported nothing.
   */
  amountOverpaid: bigint().orNull,
  total: bigint().orNull,
  /** The sum of the credit notes on the invoice, as Stripe last reported it. Null: Stripe has reported nothing. */
  amountCredited: bigint().orNull,
  /**
   * The customer's older debt that the invoice collects on top of its own total (Stripe's `starting_balance`).
   * Null: Stripe has reported nothing.
   */
  olderDebt: bigint().orNull,
  subscriptionId: text().orNull,
  collectionMethod: word().orNull.personal(keepCode),
  /** When the platform made the invoice. */
  platformCreatedAt: time().orNull,
  /** When Stripe finalizes the draft. */
  finalizesAt: time().orNull,
  finalizationError: text().orNull.said(() => ERASED),
  /** The time of the read or event behind the stored facts of this invoice. */
  factsAt: time().orNull,
  /** When Crossbill last read the invoice from the platform. Null: never. */
  readAt: time().orNull,
  /** When Crossbill reads again after a failed read. Null: no read is waiting. */
  readDueAt: time().orNull,
  readAttempts: int().first(0),
  /** Until when Crossbill expects the MoR's verdict. Null: Crossbill expects none. */
  expectedBy: time().orNull,
  /** True if the customer pays by bank debit. Crossbill looks this up when a verdict is late. Null: not looked up. */
  paysByDebit: bool().orNull,
  /**
   * Of the first invoice of a subscription: true if no signup asks for it, and the MoR has a payment method of the
   * customer. Crossbill looks this up if the invoice stays open. Null: not looked up.
   */
  leftOut: bool().orNull,
  /**
   * True if the customer was enrolled at the first event of the invoice. If a later event shows the enrolment metadata,
   * Crossbill changes false to true. Null: all customers are enrolled, or the answer is still unknown.
   */
  enrolled: bool().orNull,
  /** True if the platform finalizes and collects the invoice automatically. Null: the platform has not said. */
  autoAdvance: bool().orNull,
  /** The payment method on the invoice itself. Null: none. */
  ownMethodId: text().orNull,
  /** The newest revision, which replaces this invoice on the platform. Null: none. */
  latestRevision: text().orNull,
  /** The payment method the platform itself would charge, by the last read. Null: none, or not read yet. */
  charged: json<ChargedMethod>().orNull,
  chargeLookedAt: time().orNull,
  /**
   * When Crossbill asks the platform about the invoice's customer again, after a failed request. Null: no request
   * failed.
   */
  lookDueAt: time().orNull,
  lookAttempts: int().first(0),
  /** When Crossbill decides on a held payment again, unless an event arrives first. */
  holdUntil: time().orNull,
  /** The MoR's refusals and the steps after them. Null: the MoR refused nothing. */
  retries: json<RetryHistory>().orNull.personal(withoutSentence),
  /** The payment method the customer confirmed last. Null: the customer has confirmed none since the invoice began. */
  method: json<ConfirmedMethod>().orNull,
  /** When Crossbill or Stripe tries a refused renewal again. Null: no try is known. */
  nextTryAt: time().orNull,
  firstSeenAt: time(),
  /**
   * The amount due in Stripe's `invoice.created`, if the invoice was a draft then. Null: it was final at once, or the
   * event has not arrived.
   */
  draftedDue: bigint().orNull,
  /**
   * When Crossbill next reads the invoice to see if it is final, before it asks the MoR for the first charge. Null: no
   * such request is planned.
   */
  relayDueAt: time().orNull,
});
export type InvoiceRow = RowOf<typeof INVOICE>;

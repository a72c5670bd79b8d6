// Our knowledge of an invoice of the platform, as one row.
import { type InvoiceStatus } from './ports/billing-platform.js';
import { type ChargedMethod } from './ports/billing-reader.js';
import { type ConfirmedMethod, type RetryTrail } from './retry.js';
import { bigint, bool, code, int, json, key, rowOf, type RowOf, text, time } from './row.js';

/** The platform's last word on the invoice; `unknown` before the first event or read. */
export type PlatformStatus = InvoiceStatus | 'unknown';

/** The invoice's status as the API shows it. */
export type PublicInvoiceStatus = 'expected' | 'open' | 'held' | 'marking' | 'paid' | 'ignored' | 'void' | 'review';

export const INVOICE = rowOf('invoice', {
  invoiceId: key(),
  customerId: text().orNull,
  /** ISO 3166-1 alpha-2, of the customer's address on the invoice; null: the platform has not said. */
  customerCountry: code(2).orNull,
  /** As the customer reads it on the invoice; null: Stripe has not given it one yet, or has not said. */
  number: text().orNull,
  status: text<PublicInvoiceStatus>().first('expected'),
  platformStatus: text<PlatformStatus>().first('unknown'),
  billingReason: text().orNull,
  currency: code(3).orNull,
  amountDue: bigint().orNull,
  amountPaid: bigint().orNull,
  amountRemaining: bigint().orNull,
  /** What the customer paid beyond the amount due, as Stripe last reported it; null: Stripe has reported nothing. */
  amountOverpaid: bigint().orNull,
  total: bigint().orNull,
  subscriptionId: text().orNull,
  collectionMethod: text().orNull,
  /** When the platform made the invoice. */
  platformCreatedAt: time().orNull,
  /** Stripe finalizes the draft then. */
  finalizesAt: time().orNull,
  finalizationError: text().orNull,
  /** How old the facts above are: the time of the read, or the event's own time. */
  factsAt: time().orNull,
  /** The last read from the platform; null: never read. */
  readAt: time().orNull,
  /** Time of the next try after a failed read; null: no read is waiting. */
  readDueAt: time().orNull,
  readAttempts: int().first(0),
  /** Time of the MoR's expected verdict; null: none is expected. */
  expectedBy: time().orNull,
  /** Whether its customer is known to pay by bank debit, looked up at a late verdict; null: not looked up. */
  paysByDebit: bool().orNull,
  /**
   * Whether its customer was enrolled when we first learned of the invoice, decided once; null: no question (all are),
   * or unknown so far. enrolment/rules/enrolment.ts reads it.
   */
  enrolled: bool().orNull,
  /** Whether the platform goes on with it; null: it has not said. */
  autoAdvance: bool().orNull,
  /** The invoice's own method; null: none. */
  ownMethodId: text().orNull,
  /** The newest revision, made on the platform to replace this invoice; null: none. */
  latestRevision: text().orNull,
  /** The platform's own coming charge, by the last look; null: nothing, or no look. */
  charged: json<ChargedMethod>().orNull,
  chargeLookedAt: time().orNull,
  /** Time of the next look at its customer after a failed one; null: none failed. */
  lookDueAt: time().orNull,
  lookAttempts: int().first(0),
  /** Time of the next look at a held payment, without an event before. */
  holdUntil: time().orNull,
  /** The consequences of the MoR's refusals; null: it refused nothing. */
  retries: json<RetryTrail>().orNull,
  /** The customer's newest payment method with a confirmation known here; null: none since the invoice came. */
  method: json<ConfirmedMethod>().orNull,
  /** Time of a refused renewal's next automatic try; null: none, as far as known. */
  nextTryAt: time().orNull,
  firstSeenAt: time(),
});
export type InvoiceRow = RowOf<typeof INVOICE>;

// What is known of an invoice of the platform, as one row.
import { type InvoiceStatus } from './ports/billing-platform.js';
import { type ChargedMethod } from './ports/billing-reader.js';
import { type ConfirmedMethod, type RetryTrail } from './retry.js';
import { bigint, bool, code, int, json, key, rowOf, type RowOf, text, time } from './row.js';

/** What the platform last said of the invoice; `unknown` until an event or a read told us. */
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
  /** Paid beyond what was due, as the platform last said; null: it has not said since. */
  amountOverpaid: bigint().orNull,
  total: bigint().orNull,
  subscriptionId: text().orNull,
  collectionMethod: text().orNull,
  /** When the platform made the invoice. */
  platformCreatedAt: time().orNull,
  /** A draft finalizes by itself then. */
  finalizesAt: time().orNull,
  finalizationError: text().orNull,
  /** How old the facts above are: the time of the read, or the event's own time. */
  factsAt: time().orNull,
  /** The last read from the platform; null: never read. */
  readAt: time().orNull,
  /** A read that failed is tried again then; null: no read is waiting. */
  readDueAt: time().orNull,
  readAttempts: int().first(0),
  /** A verdict of the MoR is expected by then; null: none is expected. */
  expectedBy: time().orNull,
  /** Whether its customer is known to pay by bank debit, looked up once its verdict is late; null: not looked up. */
  paysByDebit: bool().orNull,
  /**
   * Whether its customer was enrolled when we first learned of the invoice, decided once; null: nobody had to ask (all are), or it is
   * not known yet. enrolment/rules/enrolment.ts reads it.
   */
  enrolled: bool().orNull,
  /** Whether the platform goes on with it by itself; null: it has not said. */
  autoAdvance: bool().orNull,
  /** A method that stands on the invoice itself; null: none. */
  ownMethodId: text().orNull,
  /** The newest revision, made on the platform to replace this invoice; null: none. */
  latestRevision: text().orNull,
  /** What the platform would charge by itself, as it was last looked at; null: nothing, or not looked at. */
  charged: json<ChargedMethod>().orNull,
  chargeLookedAt: time().orNull,
  /** A look at its customer that failed is made again then; null: none failed. */
  lookDueAt: time().orNull,
  lookAttempts: int().first(0),
  /** When a held payment is looked at again, should no event come. */
  holdUntil: time().orNull,
  /** What followed the MoR's refusals; null: it refused nothing. */
  retries: json<RetryTrail>().orNull,
  /** The customer's newest payment method whose confirmation is known here; null: none was confirmed since the invoice came. */
  method: json<ConfirmedMethod>().orNull,
  /** When a refused renewal is tried again by itself; null: it is not, as far as is known. */
  nextTryAt: time().orNull,
  firstSeenAt: time(),
});
export type InvoiceRow = RowOf<typeof INVOICE>;

// What is known of an invoice of the platform, as one row.
import { type InvoiceStatus } from './ports/billing-platform.js';
import { type ChargedMethod } from './ports/billing-reader.js';
import { type ConfirmedMethod, type RetryTrail } from './retry.js';

/** What the platform last said of the invoice; `unknown` until an event or a read told us. */
export type PlatformStatus = InvoiceStatus | 'unknown';

/** The invoice's status as the API shows it. */
export type PublicInvoiceStatus = 'expected' | 'open' | 'held' | 'marking' | 'paid' | 'ignored' | 'void' | 'review';

export type InvoiceRow = {
  readonly invoiceId: string;
  readonly customerId: string | null;
  /** ISO 3166-1 alpha-2, of the customer's address on the invoice; null: the platform has not said. */
  readonly customerCountry: string | null;
  /** As the customer reads it on the invoice; null: Stripe has not given it one yet, or has not said. */
  readonly number: string | null;
  readonly status: PublicInvoiceStatus;
  readonly platformStatus: PlatformStatus;
  readonly billingReason: string | null;
  readonly currency: string | null;
  readonly amountDue: bigint | null;
  readonly amountPaid: bigint | null;
  readonly amountRemaining: bigint | null;
  /** Paid beyond what was due, as the platform last said; null: it has not said since. */
  readonly amountOverpaid: bigint | null;
  readonly total: bigint | null;
  readonly subscriptionId: string | null;
  readonly collectionMethod: string | null;
  /** When the platform made the invoice. */
  readonly platformCreatedAt: Date | null;
  /** A draft finalizes by itself then. */
  readonly finalizesAt: Date | null;
  readonly finalizationError: string | null;
  /** How old the facts above are: the time of the read, or the event's own time. */
  readonly factsAt: Date | null;
  /** The last read from the platform; null: never read. */
  readonly readAt: Date | null;
  /** A read that failed is tried again then; null: no read is waiting. */
  readonly readDueAt: Date | null;
  readonly readAttempts: number;
  /** A verdict of the MoR is expected by then; null: none is expected. */
  readonly expectedBy: Date | null;
  /** Whether its customer is known to pay by bank debit, looked up once its verdict is late; null: not looked up. */
  readonly paysByDebit: boolean | null;
  /**
   * Whether its customer was enrolled when we first learned of the invoice, decided once; null: nobody had to ask (all are), or it is
   * not known yet. enrolment/rules/enrolment.ts reads it.
   */
  readonly enrolled: boolean | null;
  /** Whether the platform goes on with it by itself; null: it has not said. */
  readonly autoAdvance: boolean | null;
  /** A method that stands on the invoice itself; null: none. */
  readonly ownMethodId: string | null;
  /** The newest revision, made on the platform to replace this invoice; null: none. */
  readonly latestRevision: string | null;
  /** What the platform would charge by itself, as it was last looked at; null: nothing, or not looked at. */
  readonly charged: ChargedMethod | null;
  readonly chargeLookedAt: Date | null;
  /** A look at its customer that failed is made again then; null: none failed. */
  readonly lookDueAt: Date | null;
  readonly lookAttempts: number;
  /** When a held payment is looked at again, should no event come. */
  readonly holdUntil: Date | null;
  /** What followed the MoR's refusals; null: it refused nothing. */
  readonly retries: RetryTrail | null;
  /** The customer's newest payment method whose confirmation is known here; null: none was confirmed since the invoice came. */
  readonly method: ConfirmedMethod | null;
  /** When a refused renewal is tried again by itself; null: it is not, as far as is known. */
  readonly nextTryAt: Date | null;
  readonly firstSeenAt: Date;
};

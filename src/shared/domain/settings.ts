// The settings the rules read.
import { type MarkMode } from './payment-row.js';
import { type RetrySchedule } from './retry.js';

/**
 * The setting for automatic payment links after a failed renewal. `jurisdiction`: the country of a link if the
 * customer's country is unknown, or if the MoR does not collect there.
 */
export type RecoveryLinks = {
  /** ISO 3166-1 alpha-2. */
  readonly jurisdiction: string;
  readonly returnUrl: string;
  readonly expiresSec: number;
};

/** The setting for enrolment: whose invoices the MoR should collect. */
export type Enrolment =
  | { readonly by: 'all' }
  /** Enrolled are the customers with a customer link. */
  | { readonly by: 'linked' }
  /** Enrolled are the subscriptions and customers with this metadata at the billing platform. */
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

/**
 * The `invoice.created` events that Crossbill sends to the MoR. `created`: Stripe's events, at once. `finalized`: one
 * event of Crossbill's own, once the invoice is final. `retries`: only retries of a refused charge; the MoR gets the
 * first event from Stripe.
 */
export type RelayEvents = 'created' | 'finalized' | 'retries';

export type DecisionSettings = {
  readonly markMode: MarkMode;
  readonly draftPolicy: 'wait' | 'finalize';
  /** After this many hours without a verdict, an expected renewal becomes a review item. */
  readonly renewalAlarmAfterHours: number;
  /**
   * After this many days without a verdict, the renewal of a customer paying by bank debit becomes a review item. The
   * same limit applies to the debit of a signup.
   */
  readonly bankDebitAlarmAfterDays: number;
  readonly signupChargeCheck: 'psp_reference' | 'off';
  /** Null: there is no relay, so Crossbill can ask the MoR for no charge (MOR_RELAY_URL). */
  readonly relay: RelayEvents | null;
  /** Null: Crossbill makes payment links only on request. */
  readonly recoveryLinks: RecoveryLinks | null;
  /** Null: Crossbill retries a refused renewal only on request. */
  readonly retrySchedule: RetrySchedule | null;
  /** True: Crossbill warns about charges the billing platform itself would make. Absent: false. */
  readonly guard?: boolean;
  /** Absent: all customers are enrolled. */
  readonly enrolment?: Enrolment;
  /** True: Crossbill stores calls and never sends them, since another program acts (`isUnsent`). Absent: false. */
  readonly sendsNothing?: boolean;
};

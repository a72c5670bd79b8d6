// The settings that rules read. They do not show where a value comes from.
import { type MarkMode } from './model.js';
import { type RetrySchedule } from './retry.js';

/**
 * The automatic payment link after a failed renewal. `jurisdiction`: used if the customer's country is unknown or not
 * served.
 */
export type RecoveryLinks = {
  /** ISO 3166-1 alpha-2. */
  readonly jurisdiction: string;
  readonly returnUrl: string;
  readonly expiresSec: number;
};

/** How Crossbill knows the invoices that the MoR should collect. */
export type Enrolment =
  | { readonly by: 'all' }
  /** Customers with a customer link. */
  | { readonly by: 'linked' }
  /** Subscriptions or customers with this metadata at the billing platform. */
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

export type FlowSettings = {
  readonly markMode: MarkMode;
  readonly draftPolicy: 'wait' | 'finalize';
  /** Hours without a verdict before an expected renewal becomes a review item. */
  readonly renewalAlarmAfterHours: number;
  /** The same alarm in days, for customers paying by bank debit. A signup's debit waits as long. */
  readonly bankDebitAlarmAfterDays: number;
  readonly signupChargeCheck: 'psp_reference' | 'off';
  /** True: Crossbill relays each `invoice.created` to the MoR. */
  readonly relay: boolean;
  /** Null: Crossbill makes payment links only on request. */
  readonly recoveryLinks: RecoveryLinks | null;
  /** Null: Crossbill retries a refused renewal only on request. */
  readonly retrySchedule: RetrySchedule | null;
  /** True: Crossbill looks for charges the billing platform itself would make. Absent: false. */
  readonly guard?: boolean;
  /** Absent: all customers are enrolled. */
  readonly enrolment?: Enrolment;
  /** True: Crossbill stores calls and never sends them. Absent: false. */
  readonly shadow?: boolean;
};

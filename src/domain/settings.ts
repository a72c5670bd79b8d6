// The settings of decisions, apart from their source.
import { type MarkMode } from './model.js';
import { type RetrySchedule } from './retry.js';

/** The automatic payment link of a failed renewal. `jurisdiction`: for a customer of an unknown or unserved country. */
export type RecoveryLinks = {
  /** ISO 3166-1 alpha-2. */
  readonly jurisdiction: string;
  readonly returnUrl: string;
  readonly expiresSec: number;
};

/** The invoices expected to be paid through the MoR. */
export type Enrolment =
  | { readonly by: 'all' }
  /** Customers with a link to a customer of the MoR. */
  | { readonly by: 'linked' }
  /** Subscriptions or customers with this metadata at the platform. */
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

export type FlowSettings = {
  readonly markMode: MarkMode;
  readonly draftPolicy: 'wait' | 'finalize';
  /** Hours before an expected renewal without a verdict becomes a review item. */
  readonly renewalAlarmAfterHours: number;
  /** A bank debit's days: the same alarm for customers paying by debit, and the wait for a signup's debit. */
  readonly bankDebitAlarmAfterDays: number;
  readonly signupChargeCheck: 'psp_reference' | 'off';
  /** True: relay each `invoice.created` to the MoR. */
  readonly relay: boolean;
  /** Null: payment links only on request. */
  readonly recoveryLinks: RecoveryLinks | null;
  /** Null: a refused renewal gets another try only on request. */
  readonly retrySchedule: RetrySchedule | null;
  /** True: looks at the platform's own coming charges. Left out: false. */
  readonly guard?: boolean;
  /** Left out: all. */
  readonly enrolment?: Enrolment;
  /** True: stores calls and never sends them. Left out: false. */
  readonly shadow?: boolean;
};

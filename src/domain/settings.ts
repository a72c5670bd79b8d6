// The settings that decisions depend on, apart from where they come from.
import { type MarkMode } from './model.js';
import { type RetrySchedule } from './retry.js';

/** How a renewal that failed gets a payment link by itself. `jurisdiction`: where the customer's country is not known, or not served. */
export type RecoveryLinks = {
  /** ISO 3166-1 alpha-2. */
  readonly jurisdiction: string;
  readonly returnUrl: string;
  readonly expiresSec: number;
};

/** Whose invoices are expected to be paid through the MoR. */
export type Enrolment =
  | { readonly by: 'all' }
  /** Customers who have a link to a customer of the MoR. */
  | { readonly by: 'linked' }
  /** Subscriptions or customers that carry this metadata at the platform. */
  | { readonly by: 'metadata'; readonly key: string; readonly value: string };

export type FlowSettings = {
  readonly markMode: MarkMode;
  readonly draftPolicy: 'wait' | 'finalize';
  /** Hours after which an expected renewal without a verdict becomes a review item. */
  readonly renewalAlarmAfterHours: number;
  /** Days that a bank debit may take: the same alarm for customers who pay by debit, and how long a signup's debit is waited for. */
  readonly bankDebitAlarmAfterDays: number;
  readonly signupChargeCheck: 'psp_reference' | 'off';
  /** True: relay each `invoice.created` to the MoR. */
  readonly relay: boolean;
  /** Null: payment links are made on request only. */
  readonly recoveryLinks: RecoveryLinks | null;
  /** Null: a refused renewal is tried again on request only. */
  readonly retrySchedule: RetrySchedule | null;
  /** True: what the platform would charge by itself is looked at. Left out: false. */
  readonly guard?: boolean;
  /** Left out: all. */
  readonly enrolment?: Enrolment;
  /** True: calls are written down and never sent. Left out: false. */
  readonly shadow?: boolean;
};

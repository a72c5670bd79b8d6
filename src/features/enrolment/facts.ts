// What enrolment adds to the facts of review items.
import { type CodesIn } from '../../shared/domain/fact.js';
import { type Time } from '../../shared/domain/facts/parts.js';

type EnrolmentFacts = {
  readonly effect_failed: { readonly code: 'enrolment-unread'; readonly customer: string | null; readonly since: Time };
  readonly double_charge_risk: {
    readonly code: 'stripe-would-charge';
    readonly invoice: string;
    readonly customer: string | null;
    readonly subscription: string | null;
    readonly method: string;
    readonly methodType: string | null;
    readonly from: 'invoice' | 'subscription' | 'customer';
  };
};

export type EnrolmentCode = CodesIn<EnrolmentFacts>;

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly enrolment: EnrolmentFacts;
  }
}

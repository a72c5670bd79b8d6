// Which customers the MoR charges.
import { type Enrolled } from '../enrolment.js';
import { type ChargedFor, type ChargedMethod, isEnded, type SubscriptionFacts } from './billing-reader.js';
import { type CallOutcome } from './call.js';

/** An invoice from an event, a list or our database. */
export type Invoiced = {
  readonly customerId: string;
  readonly createdAt: Date | null;
  /** Absent: the invoice has no subscription. */
  readonly subscriptionId?: string | null;
  readonly collectionMethod?: string | null;
  /** The subscription's metadata. Absent: there is no subscription, or Crossbill has checked its metadata before. */
  readonly metadata?: Readonly<Record<string, string>>;
};

export abstract class EnrolmentPort {
  /** Decides without a request: from our database and the metadata of a listed subscription or customer. */
  abstract isEnrolled(of: Pick<SubscriptionFacts, 'customerId' | 'metadata' | 'customerMetadata'>): Promise<boolean>;
  /** True if Crossbill expects the MoR to charge the subscription's next renewal. */
  abstract expectsMor(subscription: SubscriptionFacts): Promise<boolean>;
  /** Checks if the invoice's customer is enrolled. */
  abstract readEnrolment(invoice: Invoiced): Promise<CallOutcome<Enrolled>>;
  /** Finds the payment method Stripe would charge. `fresh`: an earlier reply is not enough. */
  abstract readCharging(of: ChargedFor, fresh: boolean): Promise<CallOutcome<ChargedMethod | null>>;
}

const known = <T>(value: T): Promise<CallOutcome<T>> =>
  Promise.resolve({ ok: true, value, status: 200, requestId: null });

/** Without a feature that decides, every customer is enrolled, and nobody looks at Stripe's own charges. */
export const EVERYBODY_ENROLLED: EnrolmentPort = {
  isEnrolled: () => Promise.resolve(true),
  expectsMor: ({ status }) => Promise.resolve(!isEnded(status)),
  readEnrolment: () => known({ enrolled: true }),
  readCharging: () => known(null),
};

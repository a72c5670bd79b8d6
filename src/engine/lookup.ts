// A lane's next request to Stripe or the MoR is a stored call, a search for a call's effect, or a lookup.
// A lookup asks a question and changes nothing outside.
import { type CallRow } from '../shared/domain/call-row.js';
import { type CallOutcome } from '../shared/domain/ports/call.js';
import { type EnrolmentPort } from '../shared/domain/ports/enrolment.js';
import { type BillingPlatform } from '../shared/domain/ports/billing-platform.js';
import { type MorChannels } from '../shared/domain/ports/mor-channels.js';
import { type PaymentGateway } from '../shared/domain/ports/payment-gateway.js';
import { type Lane, type Rule } from './lane.js';

/** The name of the read of the lane's invoice, in metrics and in the log. */
export const READ_INVOICE = 'read-invoice';

/** What lookups ask and calls are sent to: Stripe, the MoR, and Crossbill's own tables. */
export type Peers = {
  readonly platform: BillingPlatform;
  readonly gateway: PaymentGateway;
  readonly channels: MorChannels;
  readonly signups: Signups;
  readonly customers: Customers;
  /** Reads our own Stripe account, to compare it with an event's account. Null: Crossbill compares no accounts. */
  readonly account: { readonly read: () => Promise<void> } | null;
  /** Relays stored bytes to the MoR, signed with the time of the database. */
  readonly relay: (body: string) => Promise<CallOutcome<object>>;
};

/** Reads facts about a customer's signups. */
export type Signups = {
  /** True if the customer is known to pay by bank debit. */
  readonly paysByDebit: (customerId: string) => Promise<boolean>;
  /** True if the MoR has a payment method of the customer, and the customer made no signup since. */
  readonly leavesOut: (question: LeftOutQuestion) => Promise<boolean>;
};

export type LeftOutQuestion = { readonly customerId: string; readonly since: Date };

/** Reads facts about a customer. Crossbill checks its own tables first. */
export type Customers = Pick<EnrolmentPort, 'readEnrolment' | 'readCharging'>;

/** Waits for a call and returns its result. The log and the metrics show the call as `name`. */
export type CarriedBy = <T>(name: string, calling: Promise<T>) => Promise<T>;

export type NextRequest =
  | { readonly do: 'send'; readonly call: CallRow }
  | { readonly do: 'probe'; readonly call: CallRow }
  | {
      readonly do: 'look-up';
      readonly name: string;
      readonly question: unknown;
      readonly ask: (peers: Peers, call: CarriedBy) => Promise<Rule>;
    };

/**
 * Returns the lane's next request (see the top of this file). Null: none now. If a request must wait, the function calls
 * `lane.isPast` with the time. The engine then decides again at this time.
 */
export type RequestRule = (lane: Lane) => NextRequest | null;

/** `Q` is the type of the question, `A` the type of the reply. */
export type Lookup<Q, A> = {
  /** The name in the log and the metrics. */
  readonly name: string;
  /**
   * Returns the question to ask now. Null: none. If a question must wait until a later time, the function calls
   * `lane.isPast` with this time, and the engine decides again then.
   */
  readonly wanted: (lane: Lane) => Q | null;
  /** Asks the question. No database transaction is open meanwhile. */
  readonly ask: (question: Q, peers: Peers) => Promise<A>;
  readonly apply: (lane: Lane, reply: A, question: Q) => void;
};

/** Makes the request of the lookup's next question. Null: the lookup has no question now. */
export function nextLookup<Q, A>(lookup: Lookup<Q, A>): RequestRule {
  return (lane) => {
    const question = lookup.wanted(lane);
    return question === null ? null : askFor(lookup, question);
  };
}

/** Makes the request for this question. */
export function askFor<Q, A>({ name, ask, apply }: Lookup<Q, A>, question: Q): NextRequest {
  const asked = async (peers: Peers, call: CarriedBy): Promise<Rule> => {
    const reply = await call(name, ask(question, peers));
    return (lane) => apply(lane, reply, question);
  };
  return { do: 'look-up', name, question, ask: asked };
}

// An errand is one request to somebody else that the lane needs next: a stored call, or a lookup. A lookup asks a question and changes nothing
// outside.
import { type InvoiceRow, type OutboxRow } from '../domain/model.js';
import { type Enrolled } from '../domain/enrolment.js';
import { type ChargedFor, type ChargedMethod } from '../domain/ports/billing-reader.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { type BillingPlatform } from '../domain/ports/billing-platform.js';
import { type MorChannels } from '../domain/ports/mor-channels.js';
import { type PaymentGateway } from '../domain/ports/payment-gateway.js';
import { type Lane, type Rule } from './draft.js';

/** Whom a lookup may ask. */
export type Peers = {
  readonly platform: BillingPlatform;
  readonly gateway: PaymentGateway;
  readonly channels: MorChannels;
  readonly signups: Signups;
  readonly customers: Customers;
  /** Null: nobody compares accounts. */
  readonly account: { readonly read: () => Promise<void> } | null;
};

/** Questions about a customer's signups. */
export type Signups = {
  /** Is the customer known to pay by bank debit? */
  readonly paysByDebit: (customerId: string) => Promise<boolean>;
};

/** Questions about a customer. Crossbill looks into its own books first. */
export type Customers = {
  /** Is the invoice's customer enrolled? */
  readonly look: (
    invoice: Pick<InvoiceRow, 'subscriptionId' | 'collectionMethod'> & {
      readonly customerId: string;
      readonly createdAt: Date | null;
    },
  ) => Promise<CallOutcome<Enrolled>>;
  /** What would the platform charge? `fresh`: an earlier look will not do. */
  readonly lookAtCharging: (of: ChargedFor, fresh: boolean) => Promise<CallOutcome<ChargedMethod | null>>;
};

/** Makes a call under the name by which it is logged. */
export type CarriedBy = <T>(name: string, calling: Promise<T>) => Promise<T>;

export type Errand =
  | { readonly do: 'send'; readonly message: OutboxRow }
  | { readonly do: 'probe'; readonly message: OutboxRow }
  | {
      readonly do: 'look-up';
      readonly name: string;
      readonly question: unknown;
      readonly ask: (peers: Peers, call: CarriedBy) => Promise<Rule>;
    };

/** The errand that a lane needs next; null: none. A time to come belongs into `lane.isPast`. */
export type NextErrand = (lane: Lane) => Errand | null;

/** `Q`: the question, `A`: the answer. */
export type Lookup<Q, A> = {
  /** As the trail and the metrics name it. */
  readonly name: string;
  /** The question to ask now; null: there is none. A time to come belongs into `lane.isPast`. */
  readonly wanted: (lane: Lane) => Q | null;
  /** No transaction is open meanwhile. */
  readonly ask: (question: Q, peers: Peers) => Promise<A>;
  readonly take: (lane: Lane, answer: A, question: Q) => void;
};

/** The next question of a lookup, ready to be asked; null: there is none. */
export function nextLookup<Q, A>(lookup: Lookup<Q, A>): NextErrand {
  return (lane) => {
    const question = lookup.wanted(lane);
    return question === null ? null : askFor(lookup, question);
  };
}

/** Asks this question next. */
export function askFor<Q, A>({ name, ask, take }: Lookup<Q, A>, question: Q): Errand {
  const asked = async (peers: Peers, call: CarriedBy): Promise<Rule> => {
    const answer = await call(name, ask(question, peers));
    return (lane) => take(lane, answer, question);
  };
  return { do: 'look-up', name, question, ask: asked };
}

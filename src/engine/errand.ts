// One call to somebody else that a lane needs next.
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
  readonly signups: { readonly paysByDebit: (customerId: string) => Promise<boolean> };
  readonly customers: Customers;
};

/** What is to be found out of a customer. Our own books are asked first. */
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

/** One call to somebody else. */
export type Errand =
  /** Whose is the key? An event that names an account waits for it. */
  | { readonly do: 'read-account' }
  | { readonly do: 'send'; readonly message: OutboxRow }
  | { readonly do: 'probe'; readonly message: OutboxRow }
  /** A lookup of a subject (lookup.ts), with its question. */
  | {
      readonly do: 'look-up';
      readonly name: string;
      readonly question: unknown;
      readonly ask: (peers: Peers, call: CarriedBy) => Promise<Rule>;
    };

/** What a lane needs next of somebody else; null: nothing. A time to come belongs into `lane.isPast`. */
export type NextErrand = (lane: Lane) => Errand | null;

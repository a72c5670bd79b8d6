// Facts that stories plant and that the peers' books do not show: names given to payments, and two statements about one
// id.
import { type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';

/**
 * A name somebody gave to a payment at the MoR. The payment is identified by its charge, link or proforma invoice, the
 * reference in Stripe.
 */
export type Naming = {
  readonly reference: string;
  readonly said: string;
  /** `mistyped`: the MoR has no such payment. `another`: the MoR has one, but it is another customer's money. */
  readonly as: 'right' | 'mistyped' | 'another';
};

/** Two events of the MoR that name one charge, each for another invoice. */
export type OneCharge = {
  readonly chargeId: string;
  readonly first: { readonly paymentId: string; readonly invoiceId: string };
  readonly second: { readonly paymentId: string; readonly invoiceId: string; readonly eventId: string };
};

/** A `payment.captured` of a payment. */
export type Capture = {
  readonly eventId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly saysId: boolean;
  readonly saysAmount: 'right' | 'wrong' | 'not';
};

/** A payment on a link, with the names in the MoR's announcement. */
export type LinkPaid = {
  readonly linkId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly chargeId: string;
  /** The id of its `payment.captured` event. */
  readonly eventId: string;
  readonly names: CaptureNames;
};

/**
 * The shopper confirmed an intent in the browser. Only this fact shows whose payment method it is: no book of the MoR
 * does.
 */
export type Confirmation = { readonly intentId: string; readonly customerId: string; readonly at: number };

export class Planted {
  /** Oldest first. */
  readonly confirmed: Confirmation[] = [];
  /** Namings the daemon accepted, in order. */
  readonly namings: Naming[] = [];
  /** Names the MoR does not know: it said so when somebody requested a refund under the name. */
  readonly disowned = new Set<string>();
  /** The id of a transfer in the MoR's portal, by its proforma invoice. */
  readonly transfers = new Map<string, string>();
  readonly oneCharge: OneCharge[] = [];
  /** Processor ids that refunds of two payments share. */
  readonly oneRefundId = new Set<string>();
  readonly captures: Capture[] = [];
  readonly linksPaid: LinkPaid[] = [];
  /** Refunds of the whole rest, by their click, requested again after a restore. */
  readonly restsAgain = new Set<string>();
  /** Ids of events with two bodies, both answered with 200. */
  readonly twins = new Set<string>();
  /** Settled debits that a person reports as returned, by `pay_…`, with the last report. */
  readonly returns = new Map<string, 'returned' | 'undone'>();
  /** Customers that a person linked to the MoR, with the time when the link was certain. */
  readonly linked = new Map<string, number>();

  /**
   * True for payments with wrong books because a person confused them: by reference for the first, by pay_… id for the
   * second.
   */
  isMixedUp(p: { readonly id: string; readonly reference: string }): boolean {
    return this.namings.some((n) => n.as === 'another' && (n.reference === p.reference || n.said === p.id));
  }
}

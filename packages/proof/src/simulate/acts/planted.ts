// Facts from the stories that the sandbox does not store: payment ids people reported (called names), and ids the MoR
// used twice.
import { type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';

/**
 * A payment id somebody told Crossbill. `reference`: the payment's reference in Stripe (its charge, link or proforma
 * invoice).
 */
export type Naming = {
  readonly reference: string;
  readonly said: string;
  /** `mistyped`: the MoR has no such payment. `another`: the id belongs to another customer's payment. */
  readonly as: 'right' | 'mistyped' | 'another';
};

/** Two events of the MoR for one charge, each for another invoice. */
export type OneCharge = {
  readonly chargeId: string;
  readonly first: { readonly paymentId: string; readonly invoiceId: string };
  readonly second: { readonly paymentId: string; readonly invoiceId: string; readonly eventId: string };
};

/** A `payment.captured` event of a story, and whether it contains the payment's id and amount. */
export type Capture = {
  readonly eventId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly saysId: boolean;
  readonly saysAmount: 'right' | 'wrong' | 'not';
};

/** A payment on a link. `names`: the ids in its `payment.captured` event. */
export type LinkPaid = {
  readonly linkId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly chargeId: string;
  /** The id of the payment's `payment.captured` event. */
  readonly eventId: string;
  readonly names: CaptureNames;
};

/** A shopper confirmed an intent in the browser. The MoR's data does not show whose payment method the intent saved. */
export type Confirmation = { readonly intentId: string; readonly customerId: string; readonly at: number };

export class Planted {
  /** Oldest first. */
  readonly confirmed: Confirmation[] = [];
  /** Payment ids people reported and Crossbill accepted, oldest first. */
  readonly namings: Naming[] = [];
  /** Mistyped payment ids with a refund request: the MoR has no such payment. */
  readonly disowned = new Set<string>();
  /** Proforma invoice → the id of its bank transfer in the MoR's portal. */
  readonly transfers = new Map<string, string>();
  readonly oneCharge: OneCharge[] = [];
  /** Processor ids that refunds of two payments share. */
  readonly oneRefundId = new Set<string>();
  readonly captures: Capture[] = [];
  readonly linksPaid: LinkPaid[] = [];
  /** The idempotency keys of refunds without an amount (all money left), requested again after a restore. */
  readonly restsAgain = new Set<string>();
  /** Ids of events with two bodies: Crossbill answered 200 to the second body. */
  readonly twins = new Set<string>();
  /** `pay_…` → a person's last report about this settled debit. `undone`: the report of a return was a mistake. */
  readonly returns = new Map<string, 'returned' | 'undone'>();
  /** Customer → the time when a person linked the customer to the MoR. */
  readonly linked = new Map<string, number>();

  /** True if a person mixed up this payment with another: one of the two payments got the id of the other. */
  isMixedUp(part: { readonly id: string; readonly reference: string }): boolean {
    return this.namings.some((n) => n.as === 'another' && (n.reference === part.reference || n.said === part.id));
  }
}

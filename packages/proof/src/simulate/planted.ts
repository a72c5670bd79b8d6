// Facts planted by the stories and missing in the books of Stripe and the MoR: names given to payments, and two
// statements about one id.
import { type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';

/**
 * A name somebody gave to a payment at the MoR. `reference`: the payment's reference in Stripe (its charge, link or
 * proforma invoice).
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

/** A `payment.captured` event sent by a story, and whether it names the payment's id and amount. */
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
  /** The id of the payment's `payment.captured` event. */
  readonly eventId: string;
  readonly names: CaptureNames;
};

/** A shopper confirmed an intent in the browser. The MoR's data does not show whose payment method the intent saved. */
export type Confirmation = { readonly intentId: string; readonly customerId: string; readonly at: number };

export class Planted {
  /** Oldest first. */
  readonly confirmed: Confirmation[] = [];
  /** Payment names given by a person and accepted by the daemon, oldest first. */
  readonly namings: Naming[] = [];
  /** Payment names unknown to the MoR: it refused a refund request under such a name. */
  readonly disowned = new Set<string>();
  /** The id of a transfer in the MoR's portal, by its proforma invoice. */
  readonly transfers = new Map<string, string>();
  readonly oneCharge: OneCharge[] = [];
  /** Processor ids that refunds of two payments share. */
  readonly oneRefundId = new Set<string>();
  readonly captures: Capture[] = [];
  readonly linksPaid: LinkPaid[] = [];
  /** The idempotency keys of refunds without an amount (the whole rest), requested again after a restore. */
  readonly restsAgain = new Set<string>();
  /** Ids of events that arrived with two different bodies, and the daemon answered 200 to both. */
  readonly twins = new Set<string>();
  /** Settled debits that a person reports as returned, by `pay_…`, with the last report. */
  readonly returns = new Map<string, 'returned' | 'undone'>();
  /** Customer → the time when the daemon confirmed a person's request to link the customer to the MoR. */
  readonly linked = new Map<string, number>();

  /** True if a person gave this payment another payment's name, or gave this payment's name to another. */
  isMixedUp(p: { readonly id: string; readonly reference: string }): boolean {
    return this.namings.some((n) => n.as === 'another' && (n.reference === p.reference || n.said === p.id));
  }
}

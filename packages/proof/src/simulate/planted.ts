// What stories put into a world that its peers' books do not show by themselves: who was called what, and what one id was said of twice.
import { type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';

/** What somebody said a payment is called at the MoR. Payments go by their charge, link or proforma invoice: what Stripe shows as reference. */
export type Naming = {
  readonly reference: string;
  readonly said: string;
  /** `mistyped`: the MoR has no such payment. `another`: it has one, and it is somebody else's money. */
  readonly as: 'right' | 'mistyped' | 'another';
};

/** Two events of the MoR that name one charge, each for an invoice of its own. */
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

/** What was paid on a link, and what the MoR's announcement of it names. */
export type LinkPaid = {
  readonly linkId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly chargeId: string;
  /** Of its `payment.captured`. */
  readonly eventId: string;
  readonly names: CaptureNames;
};

/** The shopper of an intent confirmed it in the browser. This, and no book of the MoR, says whose method it is. */
export type Confirmation = { readonly intentId: string; readonly customerId: string; readonly at: number };

export class Planted {
  /** Oldest first. */
  readonly confirmed: Confirmation[] = [];
  /** Taken by the daemon, in the order they were said. */
  readonly namings: Naming[] = [];
  /** Names that the MoR does not know and under which it was asked for a refund: it has said so by then. */
  readonly disowned = new Set<string>();
  /** A transfer's id in the MoR's portal, by its proforma invoice. */
  readonly transfers = new Map<string, string>();
  readonly oneCharge: OneCharge[] = [];
  /** Processor's ids that refunds of two payments bear. */
  readonly oneRefundId = new Set<string>();
  readonly captures: Capture[] = [];
  readonly linksPaid: LinkPaid[] = [];
  /** Refunds of all that remained, by the click that asked for them, which were asked for again after a restore. */
  readonly restsAgain = new Set<string>();
  /** Events under whose id other bytes came as well, and were answered 200. */
  readonly twins = new Set<string>();
  /** Settled debits that a person said the bank took back, by `pay_…`: what was said last. */
  readonly returns = new Map<string, 'returned' | 'undone'>();
  /** Customers whom a person linked to the MoR, and when that was done for sure. */
  readonly linked = new Map<string, number>();

  /** Payments whose books are wrong because a person took one for the other: references of the first, pay_… ids of the second. */
  isMixedUp(p: { readonly id: string; readonly reference: string }): boolean {
    return this.namings.some((n) => n.as === 'another' && (n.reference === p.reference || n.said === p.id));
  }
}

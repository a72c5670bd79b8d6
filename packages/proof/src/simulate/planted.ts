// Facts planted by stories, invisible in the peers' books: names given to payments, and two statements about one id.
import { type CaptureNames } from '@crossbill/sandbox/mor/payment-links.js';

/**
 * Somebody's name for a payment at the MoR. A payment goes by its charge, link or proforma invoice: the reference in
 * Stripe.
 */
export type Naming = {
  readonly reference: string;
  readonly said: string;
  /** `mistyped`: the MoR has no such payment. `another`: it has one, and it is somebody else's money. */
  readonly as: 'right' | 'mistyped' | 'another';
};

/** Two events of the MoR naming one charge, each for its own invoice. */
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

/** A payment on a link, and the names in the MoR's announcement of it. */
export type LinkPaid = {
  readonly linkId: string;
  /** pay_… */
  readonly paymentId: string;
  readonly chargeId: string;
  /** Of its `payment.captured`. */
  readonly eventId: string;
  readonly names: CaptureNames;
};

/**
 * The shopper of an intent confirmed it in the browser. Only this tells whose method it is; no book of the MoR does.
 */
export type Confirmation = { readonly intentId: string; readonly customerId: string; readonly at: number };

export class Planted {
  /** Oldest first. */
  readonly confirmed: Confirmation[] = [];
  /** Accepted by the daemon, in their order. */
  readonly namings: Naming[] = [];
  /** Names unknown to the MoR: asked for a refund under one of them, it has said so. */
  readonly disowned = new Set<string>();
  /** A transfer's id in the MoR's portal, by its proforma invoice. */
  readonly transfers = new Map<string, string>();
  readonly oneCharge: OneCharge[] = [];
  /** Processor ids shared by refunds of two payments. */
  readonly oneRefundId = new Set<string>();
  readonly captures: Capture[] = [];
  readonly linksPaid: LinkPaid[] = [];
  /** Refunds of the whole rest, by their click, asked for again after a restore. */
  readonly restsAgain = new Set<string>();
  /** Ids of events with a second body, both answered 200. */
  readonly twins = new Set<string>();
  /** Settled debits a person reports as returned, by `pay_…`: the last report. */
  readonly returns = new Map<string, 'returned' | 'undone'>();
  /** Customers linked to the MoR by a person, and the time of the sure link. */
  readonly linked = new Map<string, number>();

  /** Payments with wrong books because a person confused them: references of the first, pay_… ids of the second. */
  isMixedUp(p: { readonly id: string; readonly reference: string }): boolean {
    return this.namings.some((n) => n.as === 'another' && (n.reference === p.reference || n.said === p.id));
  }
}

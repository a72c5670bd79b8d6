// The demo's notes on its own actions, for the final check: the sandbox's list of payments shows no bank transfer, no
// invoice of a payment link and no lost dispute.

/** A transfer the MoR received. `amount` is in the currency's smallest unit; `currency` is in lower case. */
export type NotifiedTransfer = {
  readonly proformaId: string;
  readonly invoiceId: string;
  readonly amount: number;
  readonly currency: string;
};

/** A payment on a link: the MoR's `pay_…`, and the invoice of the link. The MoR does not know this invoice. */
export type NotifiedLink = { readonly paymentId: string; readonly linkId: string; readonly invoiceId: string };

/** A dispute the merchant lost: the money is gone. `amount` is in smallest units. */
export type NotifiedLoss = { readonly paymentId: string; readonly amount: number; readonly currency: string };

export type NotifiedSide = {
  readonly transfers: NotifiedTransfer[];
  readonly links: NotifiedLink[];
  readonly lost: NotifiedLoss[];
  /** Customers from whom Stripe itself collects. */
  readonly outsiders: string[];
};

// The story's instructions to the sandbox, remembered by their author: the oracle for money by other ways than cards.

/** A transfer received by the MoR. `amount` in the currency's smallest unit; `currency` in lower case. */
export type ToldTransfer = {
  readonly proformaId: string;
  readonly invoiceId: string;
  readonly amount: number;
  readonly currency: string;
};

/** A payment at a link: the MoR's `pay_…`, and the link's invoice, unknown to the MoR. */
export type ToldLink = { readonly paymentId: string; readonly linkId: string; readonly invoiceId: string };

/** A dispute the customer won: the money is gone. `amount` in smallest units. */
export type ToldLoss = { readonly paymentId: string; readonly amount: number; readonly currency: string };

export type Told = {
  readonly transfers: ToldTransfer[];
  readonly links: ToldLink[];
  readonly lost: ToldLoss[];
  /** Customers in Stripe's own collection. */
  readonly outsiders: string[];
};

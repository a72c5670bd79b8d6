// What the story told the sandbox to let happen, remembered by whoever told it: the oracle for money that comes by other ways than cards.

/** A transfer that reached the MoR. `amount` in the currency's smallest unit, what was received; `currency` in lower case. */
export type ToldTransfer = {
  readonly proformaId: string;
  readonly invoiceId: string;
  readonly amount: number;
  readonly currency: string;
};

/** A payment at a link: the MoR's `pay_…`, and the invoice that the link was made for, which the MoR does not know. */
export type ToldLink = { readonly paymentId: string; readonly linkId: string; readonly invoiceId: string };

/** A dispute that the bank decided for the customer: the money is gone. `amount` in smallest units. */
export type ToldLoss = { readonly paymentId: string; readonly amount: number; readonly currency: string };

export type Told = {
  readonly transfers: ToldTransfer[];
  readonly links: ToldLink[];
  readonly lost: ToldLoss[];
  /** Customers whom Stripe charges by itself. */
  readonly outsiders: string[];
};

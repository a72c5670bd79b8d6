// Verify's differences between the ledger, the billing platform and the MoR, and the progress of its run.
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from './model.js';
import { type MorObjectRow } from './mor-object.js';
import { type FlowSettings } from './settings.js';

export type Acknowledgement = { readonly note: string; readonly by: string; readonly at: Date };

/** Every kind, in the order a person should look. */
export const differenceKinds = [
  'charged_not_marked', // the MoR took money and Stripe does not show it
  'marked_not_charged', // Stripe shows a payment without a word of the MoR
  'charge_on_two_invoices', // payments of two invoices name one charge of the MoR
  'amount_differs',
  'refund_not_mirrored',
  'refunded_by_hand', // Stripe shows money given back without a refund of the MoR
  'credited_by_hand', // money on a customer's balance at Stripe, unknown to the MoR
  'overpaid', // Stripe shows more paid than was due
  'event_never_delivered',
  'no_verdict', // an expected renewal without one, past its time; or in a loss window without one, or refused
  'unreadable', // an unreadable object, and so not compared
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

export type Repair =
  | 'look-again' // read the invoice afresh and settle its lane
  | 'take-in-event' // put the event into the inbox, as if delivered
  | 'person';

export type Difference = {
  readonly kind: DifferenceKind;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly eventId: string | null;
  /** Its other object on the billing platform: a credit note, a payment record, an entry of a balance; null: none. */
  readonly objectId: string | null;
  readonly detail: string;
  readonly repair: Repair;
  /** The open review item about it; null: there is none. */
  readonly reviewId: string | null;
  /** By a person, of this very difference; null or left out: by nobody. */
  readonly acknowledged?: Acknowledgement | null;
};

/** The ledger's side of one invoice. */
export type OurInvoice = {
  readonly invoice: InvoiceRow;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  readonly openReviews: readonly ReviewRow[];
  /** The MoR's objects of it; left out: none. */
  readonly objects?: readonly MorObjectRow[];
  /** Payments of other invoices naming a charge of one of its own; left out: none. */
  readonly sameCharge?: readonly PaymentRow[];
};

/** No open review item is about it, and nobody has acknowledged it. */
export function isUntold(d: Difference): boolean {
  return d.reviewId === null && !d.acknowledged;
}

/** A person need not mend it. */
export function isRepairable(d: Difference): boolean {
  return d.repair !== 'person' && isUntold(d);
}

/** Still to list: from (included) to (not included; null: the newest). */
export type Stretch = { readonly from: Date; readonly to: Date | null };

/** The rest of a list, newest first. Times and not ids: an object may disappear before its next read. */
export type Listing = {
  /** Newest first. Empty: all compared. */
  readonly todo: readonly Stretch[];
  /** Creation time of the newest listed object, by the platform's clock; null: there was none. */
  readonly newest: Date | null;
};

/** The lists of the platform, in the order of their comparison. */
export const LISTS = ['invoices', 'records', 'notes', 'events'] as const;
export type ListName = (typeof LISTS)[number];

export type VerifyProgress = {
  readonly version: number;
  /** Other settings compare other things. */
  readonly settings: FlowSettings;
  readonly lists: Readonly<Record<ListName, Listing>>;
  /** Invoices with something open, in their own order: compared with their credit notes up to here. */
  readonly refundsAfter: bigint;
  /** Invoices with a difference to a peer: the run looks at them again before it goes on. */
  readonly again: readonly string[];
  /** Differences to a peer beyond the kept ones, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

// What verify found to differ between the ledger, the billing platform and the MoR, and how far its run is.
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from './model.js';
import { type MorObjectRow } from './mor-object.js';
import { type FlowSettings } from './settings.js';

export type Acknowledgement = { readonly note: string; readonly by: string; readonly at: Date };

/** Every kind, in the order in which a person should look. */
export const differenceKinds = [
  'charged_not_marked', // the MoR took money and Stripe does not show it
  'marked_not_charged', // Stripe shows a payment that no word of the MoR covers
  'charge_on_two_invoices', // one charge of the MoR is named by payments of two invoices
  'amount_differs',
  'refund_not_mirrored',
  'refunded_by_hand', // Stripe shows money given back that no refund of the MoR covers
  'credited_by_hand', // money on a customer's balance at Stripe, of which the MoR knows nothing
  'overpaid', // Stripe shows more paid than was due
  'event_never_delivered',
  'no_verdict', // an expected renewal without one, past its time; or in a loss window without one, or refused
  'unreadable', // an object that could not be understood, and so not compared
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

export type Repair =
  | 'look-again' // read the invoice afresh and settle its lane
  | 'take-in-event' // put the event into the inbox, as if it had been delivered
  | 'person';

export type Difference = {
  readonly kind: DifferenceKind;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly eventId: string | null;
  /** What it is about on the billing platform besides: a credit note, a payment record, an entry of a balance; null: nothing. */
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
  /** What the MoR keeps beside it; left out: nothing. */
  readonly objects?: readonly MorObjectRow[];
  /** Payments of other invoices that name a charge of one of its own; left out: none. */
  readonly sameCharge?: readonly PaymentRow[];
};

/** True: no open review item tells of it, and nobody has acknowledged it. */
export function isUntold(d: Difference): boolean {
  return d.reviewId === null && !d.acknowledged;
}

/** True for what is mended without a person: nobody was asked to decide it already. */
export function isRepairable(d: Difference): boolean {
  return d.repair !== 'person' && isUntold(d);
}

/** What is still to be listed: from (included) to (not included; null: whatever is newest). */
export type Stretch = { readonly from: Date; readonly to: Date | null };

/**
 * A list that the billing platform gives newest first, and what of it was not compared yet. Times and not ids: the object that an
 * id names may be deleted, or be no longer listed, until it is asked after.
 */
export type Listing = {
  /** Newest first. Empty: all was compared. */
  readonly todo: readonly Stretch[];
  /** When the newest object that was listed was made, by the platform's clock; null: there was none. */
  readonly newest: Date | null;
};

export type VerifyProgress = {
  readonly version: number;
  /** What the run was made with: with other settings it would have compared other things. */
  readonly settings: FlowSettings;
  readonly invoices: Listing;
  readonly records: Listing;
  readonly notes: Listing;
  readonly events: Listing;
  /** Of the invoices with something open, in their own order, those up to here were compared with their credit notes. */
  readonly refundsAfter: bigint;
  /** Invoices that differed from what a peer showed: they are looked at again before the run goes on. */
  readonly again: readonly string[];
  /** Differences that a peer showed beyond those that are kept, by kind. */
  readonly more: Readonly<Record<string, number>>;
};

// Verify's differences between the ledger, the billing platform and the MoR.
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from './model.js';
import { type MorObjectRow } from './mor-object.js';

export type Acknowledgement = { readonly note: string; readonly by: string; readonly at: Date };

/** Every kind, in the order a person should look. */
export const differenceKinds = [
  'charged_not_marked', // the MoR took money and Stripe does not show it
  'marked_not_charged', // Stripe shows a payment, and the MoR reported none
  'charge_on_two_invoices', // payments of two invoices name one charge of the MoR
  'amount_differs',
  'refund_not_mirrored',
  'refunded_by_hand', // Stripe shows money given back without a refund of the MoR
  'credited_by_hand', // money on a customer's balance at Stripe, unknown to the MoR
  'overpaid', // Stripe shows more paid than was due
  'event_never_delivered',
  'no_verdict', // the MoR owes a verdict for a renewal, or a later one may be lost
  'unreadable', // Crossbill could not read an object, and did not compare it
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

export type Repair =
  | 'look-again' // read the invoice again and settle its lane
  | 'take-in-event' // put the event into the inbox, as if delivered
  | 'person';

export type Difference = {
  /** The same in each run while its kind, ids and facts are the same. */
  readonly id: string;
  readonly kind: DifferenceKind;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly eventId: string | null;
  /** Its other object on the billing platform: a credit note, a payment record, an entry of a balance; null: none. */
  readonly objectId: string | null;
  /** In a sentence, for people alone. */
  readonly detail: string;
  readonly repair: Repair;
  /** The open review item about it; null: there is none. */
  readonly reviewId: string | null;
  /** By a person; null or left out: by nobody. */
  readonly acknowledged?: Acknowledgement | null;
};

/** The ledger's side of one invoice. */
export type OurInvoice = {
  readonly invoice: InvoiceRow;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  readonly openReviews: readonly ReviewRow[];
  /** The MoR's objects of it. */
  readonly objects: readonly MorObjectRow[];
  /** Payments of other invoices naming a charge of one of its own. */
  readonly sameCharge: readonly PaymentRow[];
};

/** It has no open review item and no acknowledgement. */
export function isUntold(d: Difference): boolean {
  return d.reviewId === null && !d.acknowledged;
}

/** Crossbill can mend it without a person. */
export function isRepairable(d: Difference): boolean {
  return d.repair !== 'person' && isUntold(d);
}

// The differences verify finds between the ledger, the billing platform and the MoR.
import { type InvoiceRow } from './invoice-row.js';
import { type PaymentRow } from './payment-row.js';
import { type RefundRow } from './refund-row.js';
import { type ReviewRow } from './review-row.js';
import { type MorObjectRow } from './mor-object.js';

export type Acknowledgement = { readonly note: string; readonly by: string; readonly at: Date };

/** Every kind of difference, in the order a person should look at them. */
export const differenceKinds = [
  'charged_not_marked', // the MoR took money, and Stripe does not show it
  'marked_not_charged', // Stripe shows a payment, and the MoR reported none
  'charge_on_two_invoices', // payments of two invoices name one charge of the MoR
  'amount_differs',
  'refund_not_mirrored',
  'refunded_by_hand', // Stripe shows returned money, and the MoR made no refund
  'credited_by_hand', // a credit on a customer's balance at Stripe, unknown to the MoR
  'overpaid', // Stripe shows more paid than was due
  'event_never_delivered',
  'no_verdict', // the MoR owes a verdict on a renewal, or a later verdict may be lost
  'unreadable', // Crossbill could not read an object, and did not compare it
] as const;

export type DifferenceKind = (typeof differenceKinds)[number];

export type Repair =
  | 'look-again' // read the invoice from Stripe again, and let the rules decide on it
  | 'take-in-event' // put the event into the inbox, as if the sender had delivered it
  | 'person';

export type Difference = {
  /** The same in each run of verify, as long as kind, ids and facts stay the same. */
  readonly id: string;
  readonly kind: DifferenceKind;
  readonly invoiceId: string | null;
  readonly paymentId: string | null;
  readonly refundId: string | null;
  readonly eventId: string | null;
  /**
   * The id of the credit note, payment record or balance entry at Stripe. Null: the difference concerns none of these.
   */
  readonly objectId: string | null;
  /** A sentence for people. No code reads it. */
  readonly detail: string;
  readonly repair: Repair;
  /** The open review item about the difference. Null: there is none. */
  readonly reviewId: string | null;
  /** A person's acknowledgement. Null or absent: nobody has acknowledged the difference. */
  readonly acknowledged?: Acknowledgement | null;
};

/** A month's comparison by the verify runs. */
export type MonthCompared = {
  /** The number of the newest run's unsettled differences about the month. */
  readonly differences: number;
  /** The start of the newest complete run over the month. Null: there was none. */
  readonly comparedAt: Date | null;
  /** True if complete runs have compared every day of the month up to `comparedAt`. */
  readonly isWhole: boolean;
};

/** What our database knows about one invoice. */
export type OurInvoice = {
  readonly invoice: InvoiceRow;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  readonly openReviews: readonly ReviewRow[];
  /** The MoR's objects for this invoice. */
  readonly objects: readonly MorObjectRow[];
  /** Payments of other invoices with the same charge as a payment of this invoice. */
  readonly sameCharge: readonly PaymentRow[];
};

/** True if no person has acknowledged the difference. */
export function isOpen(difference: Difference): boolean {
  return !difference.acknowledged;
}

/** True if neither a review item nor a person's acknowledgement covers the difference yet. */
export function isUnnotified(difference: Difference): boolean {
  return difference.reviewId === null && isOpen(difference);
}

/** True if Crossbill can repair the difference without a person. */
export function isRepairable(difference: Difference): boolean {
  return difference.repair !== 'person' && isUnnotified(difference);
}

/** For example `1 invoice, 4 stripe events`. A kind is a plural, with `_` between its words. */
export const showCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} ${(n === 1 ? kind.replace(/s$/, '') : kind).replaceAll('_', ' ')}`)
    .join(', ');

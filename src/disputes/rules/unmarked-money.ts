// Disputed or returned money that was not marked on its invoice, or is not known here: what is to be said of its loss.
import { type LaneState, type ReviewRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { mayHaveSettled } from '../../engine/payment.js';

/** A double payment, or one of a void invoice: the customer had no invoice settled by it, and owes nothing for its loss. */
export const FOR_NOTHING = {
  said: '; that money stands on no invoice',
  proposal:
    'Do not bill the customer for it: it paid for nothing. Settle the item of the payment itself, then dismiss this.',
};
/** It may have: somebody may have marked the invoice by hand for it, or the MoR may have named one charge twice. */
const MAYBE_FOR_NOTHING = {
  said: '; no invoice was marked for that money from here',
  proposal:
    'If the invoice was paid with this money (somebody marked it by hand, or the MoR told of one payment twice), bill the customer again or write the loss off. If it was paid twice, do not bill them: they owe nothing. Settle the item of the payment itself, then dismiss this.',
};
/** How what is said of a loss that is not booked ends: once it is booked, whoever dealt with it hears so. */
export const NOT_IN_LEDGER = 'the loss is not in the ledger';

/** The event names none of two payments, or its payment was never told of, or its charge is booked for another invoice. */
const NOT_BOOKED = {
  said: `; whose money that was is not known here, and ${NOT_IN_LEDGER}`,
  proposal:
    "Find the payment in the MoR's dashboard. If its money is in the ledger, book the loss beside it. If an invoice was paid with it, bill the customer again or write the loss off.",
};
const APARTS = [FOR_NOTHING, MAYBE_FOR_NOTHING] as const;

/** What is to be said of money that was not marked on its invoice; null: it was. */
export function apartOf(s: LaneState, o: MorObjectRow): (typeof APARTS)[number] | typeof NOT_BOOKED | null {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || p.succeededAt === null || p.amount === null) return NOT_BOOKED;
  if (p.mark !== 'parked' && p.mark !== 'closed') return null;
  return mayHaveSettled(s, p) ? MAYBE_FOR_NOTHING : FOR_NOTHING;
}

/** It was marked on its invoice, or booked at all, after a person was told otherwise: what they heard holds no more. */
export function isOtherSince(s: LaneState, o: MorObjectRow, told: string): boolean {
  if (told.endsWith(NOT_BOOKED.said)) return apartOf(s, o) !== NOT_BOOKED;
  const mark = s.payments.find((x) => x.id === o.paymentRowId)?.mark;
  return mark === 'confirmed' && APARTS.some(({ said }) => told.endsWith(said));
}

/** What whoever dealt with a loss that was not booked must hear now. */
export function bookedSince(o: MorObjectRow, dealtWith: readonly ReviewRow[]): string {
  const isBooked = BigInt(o.detail.loss?.minor ?? '0') > 0n;
  return isBooked && dealtWith.some((r) => r.summary.endsWith(NOT_IN_LEDGER)) ? '; it is in the ledger now' : '';
}

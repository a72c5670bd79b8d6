// Disputed or returned money that was not marked on its invoice, or is not known here: where it stands.
import { type LaneState, type ReviewRow } from '../../domain/model.js';
import { type Apart } from '../../domain/facts/parts.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { mayHaveSettled } from '../../engine/payment.js';

/**
 * What is to be said of money that was not marked on its invoice; null: it was. `for-nothing`: a double payment, or one of a void invoice:
 * the customer had no invoice settled by it, and owes nothing for its loss. `maybe-for-nothing`: somebody may have marked the invoice by hand
 * for it, or the MoR may have named one charge twice. `not-booked`: the event names none of two payments, or its payment was never told of,
 * or its charge is booked for another invoice.
 */
export function apartOf(s: LaneState, o: MorObjectRow): Apart {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || p.succeededAt === null || p.amount === null) return 'not-booked';
  if (p.mark !== 'parked' && p.mark !== 'closed') return null;
  return mayHaveSettled(s, p) ? 'maybe-for-nothing' : 'for-nothing';
}

/** It was marked on its invoice, or booked at all, after a person was told otherwise: what they heard holds no more. */
export function isOtherSince(s: LaneState, o: MorObjectRow, told: Apart): boolean {
  if (told === 'not-booked') return apartOf(s, o) !== told;
  const mark = s.payments.find((x) => x.id === o.paymentRowId)?.mark;
  return mark === 'confirmed' && told !== null;
}

/** Whoever dealt with it was told that the ledger does not have the loss. */
export function isNotInLedger({ fact }: ReviewRow): boolean {
  return fact.code === 'loss-unread' || (fact.code === 'dispute-lost' && fact.apart === 'not-booked');
}

/** The ledger has the loss now, and whoever dealt with it was told that it had not. */
export function isBookedSince(o: MorObjectRow, dealtWith: readonly ReviewRow[]): boolean {
  return BigInt(o.detail.loss?.minor ?? '0') > 0n && dealtWith.some(isNotInLedger);
}

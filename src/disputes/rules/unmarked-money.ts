// What a person was told of disputed money apart from its invoice, and holds no more.
import { type LaneState, type ReviewRow } from '../../domain/model.js';
import { type Apart } from '../../domain/facts/parts.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { apartOf } from '../../returns/rules/return-items.js';

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

// Disputed money that was not marked on its invoice: what is to be said of its loss.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';

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
    'If the invoice was paid with this money (somebody marked it by hand, or the MoR named one charge twice), bill the customer again or write the loss off. If it was paid twice, do not bill them: they owe nothing. Settle the item of the payment itself, then dismiss this.',
};
const APARTS = [FOR_NOTHING, MAYBE_FOR_NOTHING] as const;

/** What is to be said of money that was not marked on its invoice; null: it was. */
export function apartOf(s: LaneState, o: MorObjectRow): (typeof APARTS)[number] | null {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p?.mark !== 'parked' && p?.mark !== 'closed') return null;
  const others = s.payments.filter((x) => x.id !== p.id && x.mark === 'confirmed');
  const isSame = others.some((x) => x.processorChargeId !== null && x.processorChargeId === p.processorChargeId);
  const byHand = others.length === 0 && s.invoice?.platformStatus === 'paid';
  return isSame || byHand ? MAYBE_FOR_NOTHING : FOR_NOTHING;
}

/** It was marked on its invoice after a person was told so: what they heard holds no more. */
export function isAppliedSince(s: LaneState, o: MorObjectRow, told: string): boolean {
  const mark = s.payments.find((x) => x.id === o.paymentRowId)?.mark;
  return mark === 'confirmed' && APARTS.some(({ said }) => told.endsWith(said));
}

// Shows the search for the proof of a signup's charge: the wait for settlement, and the next question to the MoR.
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type Piece } from '../../frames/console/html.js';
import { time } from '../../frames/console/show.js';

export function proofFacts(payment: PaymentRow): readonly (readonly [string, Piece])[] {
  if (payment.mark !== 'proving') return [];
  const next = ['Crossbill asks the MoR again', time(payment.proveDueAt, 'at once')] as const;
  return payment.pendingSince === null ? [next] : [['Waiting for settlement since', time(payment.pendingSince)], next];
}

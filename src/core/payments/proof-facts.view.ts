// Shows the search for the proof of a signup's charge: the wait for settlement, and the next question to the MoR.
import { type PaymentRow } from '../../shared/domain/model.js';
import { type Piece } from '../../frames/console/html.js';
import { time } from '../../frames/console/show.js';

export function proofFacts(p: PaymentRow): readonly (readonly [string, Piece])[] {
  if (p.mark !== 'proving') return [];
  const next = ['Crossbill asks the MoR again', time(p.proveDueAt, 'at once')] as const;
  return p.pendingSince === null ? [next] : [['Waiting for settlement since', time(p.pendingSince)], next];
}

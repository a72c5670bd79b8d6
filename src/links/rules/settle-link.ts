// A link that can still be paid when its invoice is paid already: the customer may pay twice.
import { type LaneState } from '../../domain/model.js';
import { isPayableLink, type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, putObject } from '../../domain/lane/change.js';
import { type LookAgain, type SettleRule } from '../../domain/lane/subject.js';
import { bookedByCharge } from '../../channels/rules/mor-object.js';
import { tellOfStanding } from '../../channels/rules/standing.js';

export const settleLinks: SettleRule = (s, ctx, lookAgain) =>
  s.objects.reduce((state, o) => (o.kind === 'payment_link' ? settleLink(state, o, ctx, lookAgain) : state), s);

/** Paid another way while its link can still be paid: the customer may pay twice. */
function settleLink(s: LaneState, o: MorObjectRow, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const expired = o.status === 'PAYABLE' && !isPayableLink(o, ctx.now);
  const row: MorObjectRow = expired ? { ...o, status: 'EXPIRED', updatedAt: ctx.now } : o;
  if (row.status === 'PAYABLE') lookAgain(row.deadline);
  const told = tellOfStanding(expired ? putObject(s, row) : s, row, row.status === 'PAYABLE', ctx);
  // While it is read, the read tells what was paid.
  return row.readDueAt === null ? (bookedByCharge(told, row, ctx) ?? told) : told;
}

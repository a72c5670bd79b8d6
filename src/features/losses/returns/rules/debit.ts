// Records a returned debit for a person, and undoes the record. Document 3 has no event for a returned debit.
import { startOfDay } from '../../../../shared/domain/day.js';
import { showMoney } from '../../../../shared/domain/money.js';
import { lostOf, type MorObjectRow, newMorObject, returnOf } from '../../../../shared/domain/mor-object.js';
import { type Refusal, refuse, type Result } from '../../../../engine/commanded.js';
import { type Lane } from '../../../../engine/lane.js';
import { isOnItsWay } from '../../../../shared/domain/status.js';

/**
 * A person's report of the return: the reporter (`by`), and the source, such as `bank statement, line 12`
 * (`reference`). Null: no source given.
 */
export type ReturnWord = {
  readonly by: string;
  readonly reference: string | null;
  /** The day of the return. The ledger puts the loss into the month of this day. Null or absent: today. */
  readonly on?: Date | null;
};

/** Records the return of the payment's unrefunded rest. Then the engine books the loss and opens the item. */
export function returnDebit(
  lane: Lane,
  paymentRowId: string,
  { by, reference, on = null }: ReturnWord,
): Result<MorObjectRow> {
  const p = lane.findPayment(paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.succeededAt === null || p.amount === null)
    return notReturnable('This payment never succeeded: there is nothing to take back.');
  const before = returnOf(lane, p.id);
  if (before !== undefined) {
    const message = `This payment already has a recorded return, ${before.id}. If that is wrong, undo the return.`;
    return refuse(409, 'payment_already_returned', message);
  }
  const left = p.amount - p.amountRefunded - lostOf(p.id, lane.objects);
  if (left <= 0n)
    return notReturnable(
      'Nothing of this payment is left to book: all of it was refunded, or lost in a dispute. If the bank took the debit back as well, the customer got the money twice, or the MoR owes it to you: ask the MoR.',
    );
  const open = lane.findRefunds(p).find(isOnItsWay);
  if (open !== undefined) {
    const message = `Refund ${open.id} of this payment is ${open.status}. Record the return after the refund has succeeded or failed.`;
    return refuse(409, 'refund_under_way', message);
  }
  const taken = startOfDay(p.succeededAt);
  if (on !== null && (on > lane.now || on < taken)) {
    const message = `The day must be from ${showDay(taken)}, the day of the payment, to today (UTC).`;
    return refuse(400, 'invalid_request', message, 'returned_on');
  }
  // A loss never comes before its payment. `on` is the start of a day, so a return on the day of the payment gets the
  // payment's exact time.
  const at = on === null ? {} : { returnedAt: (on > p.succeededAt ? on : p.succeededAt).toISOString() };
  const row = newMorObject(lane.now, {
    id: lane.ctx.newId('ret'),
    kind: 'debit_return',
    invoiceId: p.invoiceId,
    paymentRowId: p.id,
    status: 'returned',
    amount: left,
    currency: p.currency,
    number: reference,
    detail: { outcomeAt: lane.now.toISOString(), ...at },
  });
  const when = on === null ? '' : ` on ${showDay(on)}`;
  const said = `${by} recorded that the bank returned ${showMoney({ minor: left, currency: p.currency })}${when}`;
  lane.log('person', said, row);
  return { ok: true, value: lane.add('objects', row) };
}

/** Undoes the record of a return: a further ledger entry reverses the loss. A new return needs a new record. */
export function undoReturn(lane: Lane, paymentRowId: string, by: string): Result<MorObjectRow> {
  const row = lane.findObject(returnOf(lane, paymentRowId)?.id);
  if (row === undefined) return refuse(409, 'payment_not_returned', 'This payment has no recorded return.');
  Object.assign(row, { status: 'undone', updatedAt: lane.now });
  lane.log('person', `${by} undid the return`, row);
  return { ok: true, value: row };
}

function notReturnable(why: string): Refusal {
  return refuse(422, 'payment_not_returnable', why);
}

const showDay = (at: Date): string => at.toISOString().slice(0, 10);

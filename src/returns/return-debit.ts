// A person's record of a returned debit (Document 3 sends no event for it), and its end.
import { type Ctx, note, putObject } from '../engine/change.js';
import { type LaneState } from '../domain/model.js';
import { showMoney } from '../domain/money.js';
import { lostOf, type MorObjectRow, newMorObject, returnOf } from '../domain/mor-object.js';
import { type Commanded, refuse } from '../engine/commanded.js';
import { startOfDay } from '../domain/day.js';

/** The speaker, and the source, such as `bank statement, line 12`; null: not said. */
export type ReturnWord = {
  readonly by: string;
  readonly reference: string | null;
  /** The day of the return, for the month of the books; null or left out: today. */
  readonly on?: Date | null;
};

/** Records the return of the rest of a payment. The loss and the item follow at rest. */
export function returnDebit(
  s: LaneState,
  paymentRowId: string,
  { by, reference, on = null }: ReturnWord,
  ctx: Ctx,
): Commanded<MorObjectRow> {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.succeededAt === null || p.amount === null) {
    return refuse(422, 'payment_not_returnable', 'This payment never succeeded: there is nothing to take back.');
  }
  const before = returnOf(s, p.id);
  if (before !== undefined) {
    const message = `The return of this payment is recorded already: ${before.id}. If that was wrong, undo it.`;
    return refuse(409, 'payment_already_returned', message);
  }
  const left = p.amount - p.amountRefunded - lostOf(p.id, s.objects);
  if (left <= 0n) {
    const message =
      'Nothing of this payment is left to book: all of it was refunded, or lost in a dispute. If the bank took the debit back as well, the customer got it twice, or the MoR owes it to you: ask the MoR.';
    return refuse(422, 'payment_not_returnable', message);
  }
  const open = s.refunds.find((r) => r.paymentRowId === p.id && ['requested', 'unknown', 'pending'].includes(r.status));
  if (open !== undefined) {
    const message = `Refund ${open.id} of this payment is ${open.status}: what the bank took is known once it has succeeded or failed. Record the return then.`;
    return refuse(409, 'refund_under_way', message);
  }
  const taken = startOfDay(p.succeededAt);
  if (on !== null && (on > ctx.now || on < taken)) {
    const message = `The bank took it back on a day from ${showDay(taken)}, when the payment was taken, to today (UTC).`;
    return refuse(400, 'invalid_request', message, 'returned_on');
  }
  // No money is lost before its payment, though the day may begin earlier.
  const at = on === null ? {} : { returnedAt: (on > p.succeededAt ? on : p.succeededAt).toISOString() };
  const row = newMorObject(ctx.now, {
    id: ctx.newId('ret'),
    kind: 'debit_return',
    invoiceId: p.invoiceId,
    paymentRowId: p.id,
    status: 'returned',
    amount: left,
    currency: p.currency,
    number: reference,
    detail: { outcomeAt: ctx.now.toISOString(), ...at },
  });
  const when = on === null ? '' : ` on ${showDay(on)}`;
  const said = `${by} recorded that the bank returned ${showMoney({ minor: left, currency: p.currency })}${when}`;
  return { ok: true, state: note(putObject(s, row), ctx, 'person', said, row.id), value: row };
}

/** Takes the word back: a further entry reverses the loss. An undone return stays so. */
export function undoReturn(s: LaneState, paymentRowId: string, by: string, ctx: Ctx): Commanded<MorObjectRow> {
  const row = returnOf(s, paymentRowId);
  if (row === undefined) return refuse(409, 'payment_not_returned', 'No return of this payment stands.');
  const undone = { ...row, status: 'undone', updatedAt: ctx.now };
  return {
    ok: true,
    state: note(putObject(s, undone), ctx, 'person', `${by} undid the return`, row.id),
    value: undone,
  };
}

const showDay = (at: Date): string => at.toISOString().slice(0, 10);

// How much of an invoice credit notes may still take, from Stripe's sum and from our own notes.
import { expect, it } from '@jest/globals';
import { creditRoom, isNoteOnItsWay } from '../../../../src/shared/domain/credit-room.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../../src/shared/domain/refund-row.js';
import { type LossCredit } from '../../../../src/shared/domain/mor-object.js';
import { byEvent, lane, payment } from '../../../support/builders/asked-refund.js';
import { aDispute } from '../../../support/builders/disputed-lane.js';
import { putRefund } from '../../../support/builders/put-rows.js';

const noted = (over: Partial<RefundRow> = {}): RefundRow =>
  byEvent({ id: 'ref_1', counted: true, mirror: 'done', creditNoteId: 'cn_1', ...over });
const aCredit = (over: Partial<LossCredit> = {}): LossCredit => ({
  ...{ name: 'loss:dp_1', of: 'pmt_1', minor: '500', stage: 'done', noteId: 'cn_2', booked: '500', entries: 1 },
  ...over,
});

/** An invoice of 29.90 EUR with the sum of its credit notes on Stripe. Null: Stripe has reported no sum. */
function invoiced(amountCredited: bigint | null, refunds: readonly RefundRow[] = [], credit?: LossCredit): LaneState {
  const s = lane(payment());
  const invoice = s.invoice === null ? null : { ...s.invoice, amountCredited };
  const objects = credit === undefined ? [] : [aDispute({ detail: { credit } })];
  return refunds.reduce(putRefund, { ...s, invoice, objects });
}

it.each([
  ['nothing is credited', invoiced(0n), 2990n],
  ['Stripe has reported no sum', invoiced(null), 2990n],
  ['a person credited a part', invoiced(700n), 2290n],
  ['Stripe’s sum has our own note', invoiced(1000n, [noted()]), 1990n],
  ['Stripe’s sum has our own note and a note by hand', invoiced(1700n, [noted()]), 1290n],
  ['our newest note is younger than Stripe’s sum', invoiced(0n, [noted()]), 1990n],
  ['our notes are known alone', invoiced(null, [noted()], aCredit()), 1490n],
  ['a returned surplus has no note', invoiced(null, [noted({ surplus: 400n })]), 2390n],
  ['a part of a refund is beyond the sale', invoiced(null, [noted({ beyondSale: 300n })]), 2290n],
  [
    'a refund or a loss has no note yet',
    invoiced(null, [noted({ creditNoteId: null })], aCredit({ noteId: null })),
    2990n,
  ],
  ['all is credited', invoiced(2990n), 0n],
  ['more than the total is credited', invoiced(3500n), 0n],
])('when %s, the room for a credit note is the total less all credit notes', (_, s, room) => {
  expect(creditRoom(s)).toBe(room);
});

it('without a known total the room for a credit note is unknown', () => {
  const s = invoiced(0n);
  expect(creditRoom({ ...s, invoice: null })).toBeNull();
  expect(creditRoom({ ...s, invoice: s.invoice === null ? null : { ...s.invoice, total: null } })).toBeNull();
});

it('a credit note is on its way from the report of its refund or loss until the reply to the note', () => {
  const stages = (mirror: RefundRow['mirror']) => isNoteOnItsWay(invoiced(0n, [noted({ mirror })]));
  expect((['waiting', 'reporting', 'crediting', 'done', 'parked'] as const).map(stages)).toEqual([
    ...[false, true, true, false, false],
  ]);
  const loss = (stage: LossCredit['stage']) => isNoteOnItsWay(invoiced(0n, [], aCredit({ stage })));
  expect((['reporting', 'crediting', 'done', 'parked'] as const).map(loss)).toEqual([true, true, false, false]);
});

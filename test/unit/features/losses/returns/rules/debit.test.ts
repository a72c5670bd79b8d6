// A debit that a bank took back, as a person records it: what the ledger says, what a person is asked, and how it is undone.
import { never } from '../../../../../support/never.js';
import { expect, it } from '@jest/globals';
import { eur } from '../../../../../support/builders/channel-object.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type MorObjectRow, newMorObject, returnOf } from '../../../../../../src/shared/domain/mor-object.js';
import { addEntry, putPayment, putRefund, putObject } from '../../../../../support/builders/put-rows.js';
import { declares } from '../../../../../../src/engine/items.js';
import { paymentCollected } from '../../../../../../src/shared/domain/postings.js';
import { newRefund } from '../../../../../../src/core/refunds/rules/refund.js';
import { returnDebit, undoReturn } from '../../../../../support/rigs/return-debit.js';
import { returnedDebits } from '../../../../../../src/features/losses/returns/rules/loss-items.js';
import { askRefund } from '../../../../../support/rigs/ask-refund.js';
import { aCtx, aPaymentEvent, hear, NOW, open, paidByCard } from '../../../../../support/builders/channel-lane.js';
import { FACTS } from '../../../../../support/builders/item-facts.js';
import { balances } from '../../../../../support/rigs/lane-harness.js';
import { settle } from '../../../../../support/builders/settled.js';
import { applyEvent, resolveReview, decide, openReview } from '../../../../../support/rigs/decide.js';

const later = (minutes: number) => aCtx(new Date(NOW.getTime() + minutes * 60_000));

const withReturn = (state: LaneState, object: MorObjectRow, minute: number): LaneState =>
  decide(putObject(state, object), later(minute), declares(returnedDebits));

/** A payment of 29.90 that is in the ledger as collected. */
function paid(): { s: LaneState; id: string } {
  const s = paidByCard();
  const [p = never()] = s.payments;
  return { s: addEntry(s, paymentCollected(p, 2990n, NOW, null)), id: p.id };
}

function returned({ s, id }: { s: LaneState; id: string }, minute = 1): LaneState {
  const done = returnDebit(s, id, { by: 'ada', reference: 'line 12' }, later(minute));
  if (!done.ok) throw new Error(done.code);
  return settle(done.state, later(minute));
}

function undone(state: LaneState, id: string, minute = 2): LaneState {
  const done = undoReturn(state, id, 'ada', later(minute));
  if (!done.ok) throw new Error(done.code);
  return settle(done.state, later(minute));
}

it('a returned debit books one loss, opens a review item and leaves the invoice paid', () => {
  const before = paid();
  const s = returned(before);
  expect(balances(s)).toEqual({ unmarked_payments: -2990n, disputed_payments: 2990n });
  expect(s.entries.filter((e) => e.reason === 'debit_returned')).toMatchObject([{ amount: { minor: 2990n } }]);
  expect(open(s)).toMatchObject([
    {
      kind: 'debit_returned',
      fact: { code: 'debit-returned', payment: 'pay_1', amount: eur(2990n) },
    },
  ]);
  expect(s.calls).toEqual(before.s.calls);
  expect(s.invoice?.status).toBe('paid');
  expect(settle(s, later(9)).entries).toEqual(s.entries);
});

it("the ledger dates a returned debit by the bank's date, and the reversal by the moment when a person undoes the return", () => {
  const p = paid();
  const recordedAt = aCtx(new Date('2026-12-02T09:00:00Z'));
  const movedAt = (on: Date | null): string | undefined => {
    const done = returnDebit(p.s, p.id, { by: 'ada', reference: null, on }, recordedAt);
    if (!done.ok) throw new Error(done.code);
    const s = settle(done.state, recordedAt);
    return s.entries.find((e) => e.reason === 'debit_returned')?.movedAt.toISOString();
  };
  expect(movedAt(new Date('2026-11-24T00:00:00Z'))).toBe('2026-11-24T00:00:00.000Z');
  expect(movedAt(null)).toBe('2026-12-02T09:00:00.000Z');
  // The day of the payment began before it was taken.
  expect(movedAt(new Date('2026-11-20T00:00:00Z'))).toBe(NOW.toISOString());
  const word = { by: 'ada', reference: null, on: new Date('2026-11-24T00:00:00Z') };
  const done = returnDebit(p.s, p.id, word, recordedAt);
  const back = done.ok ? undoReturn(settle(done.state, recordedAt), p.id, 'ada', recordedAt) : done;
  const s = settle(back.ok ? back.state : p.s, recordedAt);
  expect(s.entries.find((e) => e.reason === 'debit_return_reversed')?.movedAt).toEqual(recordedAt.now);
});

it('Crossbill refuses a returned debit dated before its payment or in the future', () => {
  const p = paid();
  for (const day of ['2026-11-19', '2026-11-22']) {
    const word = { by: 'ada', reference: null, on: new Date(`${day}T00:00:00Z`) };
    expect(returnDebit(p.s, p.id, word, later(60))).toMatchObject({ ok: false, status: 400, field: 'returned_on' });
  }
});

it('Crossbill refuses a second return of a debit and a refund of the returned money', () => {
  const p = paid();
  const s = returned(p);
  expect(returnDebit(s, p.id, { by: 'ada', reference: null }, later(2))).toMatchObject({
    ok: false,
    status: 409,
    code: 'payment_already_returned',
  });
  const refund = askRefund(s, p.id, { amount: null, reason: null, metadata: null, by: 'ada' }, later(2));
  expect(refund).toMatchObject({ ok: false, status: 422, code: 'payment_not_refundable' });
});

it('the undo of a returned debit books a reversal, closes the review item and allows a new return', () => {
  const p = paid();
  const s = undone(returned(p), p.id);
  expect(balances(s)).toEqual({ mor_receivable: 2990n, unmarked_payments: -2990n });
  expect(s.entries.map((e) => e.reason)).toEqual(['payment_collected', 'debit_returned', 'debit_return_reversed']);
  expect(open(s)).toEqual([]);
  expect(undoReturn(s, p.id, 'ada', later(3))).toMatchObject({ ok: false, code: 'payment_not_returned' });
  expect(balances(returned({ s, id: p.id }, 4))).toMatchObject({ disputed_payments: 2990n });
});

it('the undo of a returned debit opens a review item if an operator had dismissed the item of the return', () => {
  const p = paid();
  const s = returned(p);
  const done = resolveReview(
    s,
    open(s)[0]?.id ?? '',
    { resolution: 'dismiss', note: 'billed again', by: 'ada' },
    later(2),
  );
  if (!done.ok) throw new Error(done.code);
  expect(open(undone(settle(done.state, later(2)), p.id, 3))).toMatchObject([
    { kind: 'debit_returned', fact: { code: 'return-undone' } },
  ]);
});

it('the amount of a returned debit is the payment less its refunds; a refunded, lost or failed payment cannot be returned', () => {
  const p = paid();
  const word = { by: 'ada', reference: null };
  const [row = never()] = p.s.payments;
  const part = returned({ s: putPayment(p.s, { ...row, amountRefunded: 990n }), id: p.id });
  expect(part.objects).toMatchObject([{ kind: 'debit_return', amount: 2000n }]);
  const all = putPayment(p.s, { ...row, amountRefunded: 2990n });
  expect(returnDebit(all, p.id, word, later(1))).toMatchObject({ status: 422, code: 'payment_not_returnable' });
  const lost = hear(p.s, 'dispute.outcome', { disputeId: 'dp_1', paymentId: 'pay_1', outcome: 'lost' }, later(1));
  expect(returnDebit(lost, p.id, word, later(2))).toMatchObject({ status: 422, code: 'payment_not_returnable' });
  const failed = putPayment(p.s, { ...row, succeededAt: null, status: 'failed' });
  expect(returnDebit(failed, p.id, word, later(1))).toMatchObject({ status: 422, code: 'payment_not_returnable' });
});

it('after an operator dismissed a returned debit, a refund opens an item with the amount that the customer got twice', () => {
  const p = paid();
  const s = returned(p);
  const dismiss = { resolution: 'dismiss', note: 'billed again', by: 'ada' } as const;
  const done = resolveReview(s, open(s)[0]?.id ?? '', dismiss, later(2));
  if (!done.ok) throw new Error(done.code);
  const inPortal = (amount: bigint) => {
    const names = { refundId: 'rfnd_1', processorRefundId: 're_1', amountRefundedTotal: amount };
    const e = aPaymentEvent({ eventId: 'evt_r', type: 'payment.refunded', status: 'refunded', amount, ...names });
    return settle(applyEvent(done.state, e, later(3)).state, later(3));
  };
  const all = inPortal(2990n);
  expect(open(all)).toMatchObject([
    {
      kind: 'debit_returned',
      paymentRowId: p.id,
      fact: { code: 'returned-twice', payment: 'pay_1', got: eur(2990n), booked: eur(0n), how: 'refunded' },
    },
  ]);
  expect(balances(all)['disputed_payments'] ?? 0n).toBe(0n);
  const part = inPortal(1000n);
  expect(open(part)).toMatchObject([
    { fact: { code: 'returned-twice', got: eur(1000n), booked: eur(1990n), how: 'refunded' } },
  ]);
  expect(settle(part, later(9)).reviews).toEqual(part.reviews);
  expect(open(undone(all, p.id, 4))).toMatchObject([{ fact: { code: 'return-undone' } }]);
});

it("after an operator dismissed a returned debit, a second refund raises the item's amount that the customer got twice", () => {
  const refunded = (state: LaneState, count: number, amount: bigint, total: bigint): LaneState => {
    const names = { refundId: `rfnd_${count}`, processorRefundId: `re_${count}`, amountRefundedTotal: total };
    const about = { eventId: `evt_${count}`, type: 'payment.refunded', status: 'partially_refunded', amount } as const;
    return settle(applyEvent(state, aPaymentEvent({ ...about, ...names }), later(3 + count)).state, later(3 + count));
  };
  const once = refunded(returned(paid()), 1, 300n, 300n);
  const both = refunded(once, 2, 400n, 700n);
  const twice = (state: LaneState) => open(state).filter((r) => r.topic === 'returned-twice');
  const [before] = twice(once);
  const sums = { got: eur(700n), booked: eur(2290n) };
  expect(twice(both)).toEqual([{ ...before, fact: { ...before?.fact, ...sums } }]);
});

it('a returned debit stores its source and time; Crossbill refuses a return during a refund or for an unknown payment', () => {
  const p = paid();
  const s = returned(p);
  expect(s.objects).toMatchObject([
    { number: 'line 12', detail: { outcomeAt: later(1).now.toISOString() }, status: 'returned' },
  ]);
  const word = { by: 'ada', reference: null };
  expect(returnDebit(p.s, 'pmt_9', word, later(1))).toMatchObject({ ok: false, status: 404 });
  const [row = never()] = p.s.payments;
  const unknown = putPayment(p.s, { ...row, amount: null });
  expect(returnDebit(unknown, p.id, word, later(1))).toMatchObject({ status: 422, code: 'payment_not_returnable' });
  for (const status of ['requested', 'unknown', 'pending'] as const) {
    const back = { ...newRefund(later(0), row, { amount: 1000n, reason: null, origin: 'api' }), id: 'ref_1', status };
    const done = returnDebit(putRefund(p.s, back), p.id, word, later(1));
    expect(done).toMatchObject({ ok: false, status: 409, code: 'refund_under_way' });
    expect(done.ok ? '' : done.message).toContain(`Refund ref_1 of this payment is ${status}`);
    expect(returnDebit(putRefund(p.s, { ...back, paymentRowId: 'pmt_2' }), p.id, word, later(1)).ok).toBe(true);
    expect(returnDebit(putRefund(p.s, { ...back, status: 'failed' }), p.id, word, later(1)).ok).toBe(true);
  }
});

it('a returned debit belongs to one payment, and its amount does not depend on losses of other payments', () => {
  const p = paid();
  const s = returned(p);
  const [row = never()] = p.s.payments;
  const two = putPayment(s, { ...row, id: 'pmt_2', paymentId: 'pay_2' });
  expect([returnOf(two, p.id)?.id, returnOf(two, 'pmt_2')]).toEqual([s.objects[0]?.id, undefined]);
  expect(returnDebit(two, 'pmt_2', { by: 'ada', reference: null }, later(2))).toMatchObject({
    ...{ ok: true, value: { paymentRowId: 'pmt_2', amount: 2990n } },
  });
  const capture = newMorObject(NOW, {
    ...{ id: 'cap_1', kind: 'capture', invoiceId: 'in_1', paymentRowId: p.id, status: 'returned' },
  });
  expect(returnOf(putObject(p.s, capture), p.id)).toBeUndefined();
  const lostOther = newMorObject(NOW, {
    ...{ id: 'dsp_1', kind: 'dispute', invoiceId: 'in_1', paymentRowId: 'pmt_2', status: 'lost' },
    detail: { loss: { of: 'pmt_2', minor: '2990', entries: 1, movedAt: '2026-11-20T12:00:00Z' } },
  });
  const besides = putObject(putObject(p.s, lostOther), capture);
  expect(returnDebit(besides, p.id, { by: 'ada', reference: null }, later(1))).toMatchObject({
    ...{ ok: true, value: { amount: 2990n } },
  });
});

it('the review item of a returned debit says whether Stripe shows the invoice as paid, and closes with the undo', () => {
  const p = paid();
  const s = returned(p);
  expect(open(s)[0]?.fact).toMatchObject({ code: 'debit-returned', invoice: 'in_1', marked: true, apart: null });
  const [row] = p.s.payments;
  const [o] = s.objects;
  if (row === undefined || o === undefined) throw new Error('a row is missing');
  const bare = putPayment({ ...s, reviews: [] }, { ...row, mark: 'closed' });
  expect(open(withReturn(bare, o, 2))[0]?.fact).toMatchObject({
    code: 'debit-returned',
    marked: false,
    apart: 'maybe-for-nothing',
  });
  for (const missing of [{ amount: null }, { currency: null }, { paymentRowId: 'pmt_9' }])
    expect(withReturn(bare, { ...o, ...missing }, 2).reviews).toBe(bare.reviews);
  const second = openReview(s, later(2), { kind: 'dispute', subject: o.id, fact: FACTS.dispute });
  const gone = withReturn(second, { ...o, status: 'undone' }, 3);
  expect(open(gone).map((r) => [r.kind, r.subject])).toEqual([['dispute', o.id]]);
  expect(gone.reviews[0]).toMatchObject({ resolution: 'cleared' });
  const resolved = { status: 'resolved', resolution: 'dismiss' } as const;
  const reviews = second.reviews.map((r) => (r.kind === 'dispute' ? { ...r, ...resolved } : r));
  const dismissed: LaneState = { ...second, reviews };
  expect(open(withReturn(dismissed, { ...o, status: 'undone' }, 3))).toEqual([]);
});

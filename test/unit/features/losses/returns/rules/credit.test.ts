// A loss on Stripe: a person chooses the credit note, its two calls go out once, and the books follow the dispute.
import { never } from '../../../../../support/never.js';
import { expect, it } from '@jest/globals';
import { type CallRow } from '../../../../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../../src/shared/domain/payment-row.js';
import { type ReviewRow } from '../../../../../../src/shared/domain/review-row.js';
import { type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { type CallOutcome } from '../../../../../../src/shared/domain/ports/call.js';
import { type CallReply } from '../../../../../../src/engine/call.js';
import { putPayment, putRefund } from '../../../../../support/builders/put-rows.js';
import { returnDebit, undoReturn } from '../../../../../support/rigs/return-debit.js';
import { byEvent, refusal } from '../../../../../support/builders/asked-refund.js';
import { aCtx, open } from '../../../../../support/builders/channel-lane.js';
import {
  aDispute,
  goesOn,
  later,
  minutesLater,
  paid,
  withThem,
} from '../../../../../support/builders/disputed-lane.js';
import { decided, settle } from '../../../../../support/builders/settled.js';
import { applyReply, resolveReview } from '../../../../../support/rigs/decide.js';

const OUTCOME_AT = '2026-11-20T11:00:00.000Z';
const aLoss = (over: Partial<MorObjectRow> = {}): MorObjectRow =>
  aDispute({ status: 'lost', detail: { outcomeAt: OUTCOME_AT }, ...over });
const recorded: Partial<PaymentRow> = { paymentRecordId: 'inpay_1' };
const lostLane = (over: Partial<PaymentRow> = recorded, of: Partial<MorObjectRow> = {}): LaneState =>
  withThem(paid(over), [aLoss(of)]);
const find = (state: LaneState, subject: string): ReviewRow => {
  const found = state.reviews.findLast((r) => r.subject === subject) ?? never();
  return found;
};
const choose = (state: LaneState, subject = 'dp_1:lost', resolution: 'credit' | 'retry' = 'credit', ctx = later(10)) =>
  resolveReview(state, find(state, subject).id, { resolution, note: null, by: 'ada' }, ctx);
const chosen = (
  state: LaneState,
  ...of: Parameters<typeof choose> extends [LaneState, ...infer R] ? R : never
): LaneState => {
  const done = choose(state, ...of);
  if (!done.ok) throw new Error(done.code);
  return decided(state, () => ({ ...done.state, entries: [] }));
};
const calls = (state: LaneState): (readonly [string, string, string])[] =>
  state.calls.map((m) => [m.kind, m.key, m.status]);
const pending = (state: LaneState): CallRow => {
  const found = state.calls.find((m) => m.status === 'pending') ?? never();
  return found;
};
const answered = (state: LaneState, value: CallReply, minute = 11): LaneState => {
  const outcome: CallOutcome<CallReply> = { ok: true, value, status: 200, requestId: 'req_1' };
  return decided(state, (state) => {
    const next = applyReply(state, pending(state).id, outcome, later(minute));
    return settle({ ...next }, later(minute));
  });
};
const reported = (state: LaneState): LaneState =>
  answered(state, { kind: 'report_refund', paymentRecordId: 'inpay_1' });
const noted = (state: LaneState): LaneState => answered(state, { kind: 'issue_credit_note', creditNoteId: 'cn_1' });
const credited = (): LaneState => noted(reported(chosen(lostLane())));
const credit = (state: LaneState, id = 'dsp_1') => state.objects.find((o) => o.id === id)?.detail.credit;
const booked = (state: LaneState): (readonly [string, string, bigint])[] =>
  state.entries.filter((e) => e.reason.startsWith('loss_')).map((e) => [e.reason, e.subject, e.amount.minor]);

it('the review item of a lost dispute offers a credit note and proposes no action', () => {
  expect(find(lostLane(), 'dp_1:lost')).toMatchObject({ actions: ['credit', 'dismiss'], proposed: null });
});

it('Crossbill reports a loss to Stripe as a refund and then issues a credit note, under keys that stay the same after a restore', () => {
  const asked = chosen(lostLane());
  expect(calls(asked)).toEqual([['report_refund', 'crossbill:report_refund:loss:dp_1:1', 'pending']]);
  expect(pending(asked)).toMatchObject({
    paymentRowId: 'pmt_1',
    asked: {
      ...{ paymentRecordId: 'inpay_1', reference: 'loss:dp_1', refundId: 'loss:dp_1' },
      ...{ amount: { minor: 2990n, currency: 'EUR' }, refundedAt: new Date(OUTCOME_AT) },
    },
  });
  const s = reported(asked);
  expect(calls(s)[1]).toEqual(['issue_credit_note', 'crossbill:issue_credit_note:loss:dp_1:1', 'pending']);
  expect(pending(s).asked).toMatchObject({
    ...{ invoiceId: 'in_1', refundId: 'loss:dp_1', amount: { minor: 2990n } },
    refunded: { paymentRecordId: 'inpay_1', reference: 'loss:dp_1' },
  });
  expect(booked(s)).toEqual([]);
  const done = noted(s);
  expect(credit(done)).toMatchObject({ stage: 'done', noteId: 'cn_1', of: 'pmt_1', minor: '2990' });
  expect(done.entries.at(-1)).toMatchObject({
    ...{ debit: 'settled_invoices', credit: 'disputed_payments', reason: 'loss_credited', subject: 'dsp_1' },
    ...{ amount: { minor: 2990n, currency: 'EUR' }, movedAt: minutesLater(11) },
  });
  expect(open(done)).toEqual([]);
});

it('without a payment record, a loss goes to Stripe as a credit note alone', () => {
  const s = chosen(lostLane({ paymentRecordId: null, markMode: 'out_of_band' }));
  expect(calls(s)).toEqual([['issue_credit_note', 'crossbill:issue_credit_note:loss:dp_1:1', 'pending']]);
  expect(pending(s).asked).toMatchObject({ refunded: null, amount: { minor: 2990n } });
  expect(booked(noted(s))).toEqual([['loss_credited', 'dsp_1', 2990n]]);
});

it('the credit note of a loss has the amount of the dispute, and not of the whole payment', () => {
  const s = chosen(lostLane(recorded, { amount: 1000n, currency: 'EUR' }));
  expect(pending(s).asked).toMatchObject({ amount: { minor: 1000n } });
});

it('if an operator repeats the choice `credit`, Crossbill credits the loss once and opens no further review item', () => {
  const s = credited();
  const again = settle(goesOn(s, {}, 20), later(21));
  expect(open(again)).toEqual([]);
  expect(again.calls).toHaveLength(2);
  expect(choose(s)).toMatchObject({ ok: true, value: { resolution: 'credit', resolvedBy: 'ada' } });
  expect(booked(again)).toEqual([['loss_credited', 'dsp_1', 2990n]]);
});

it('after a crash between the report and the credit note of a loss, Crossbill sends the credit note once', () => {
  const s = reported(chosen(lostLane()));
  // Whoever takes the lane over finds the stored call, and nothing decides it anew.
  const after = settle(settle(s, later(40)), later(41));
  expect(after.calls).toEqual(s.calls);
  expect(booked(noted(after))).toHaveLength(1);
});

it('after a lost dispute has its credit note and is won after all, Crossbill reverses loss and credit, and an item names the note', () => {
  const s = goesOn(credited(), { status: 'won', detail: { ...(credited().objects[0]?.detail ?? {}) } }, 30);
  expect(s.entries.map((e) => e.reason)).toEqual([
    'dispute_lost',
    'loss_credited',
    'dispute_reversed',
    'loss_credit_reversed',
  ]);
  expect(s.entries.at(-1)).toMatchObject({
    debit: 'disputed_payments',
    credit: 'settled_invoices',
    subject: 'dsp_1:2',
  });
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'dispute', subject: 'dp_1:credit', actions: ['dismiss'] },
      fact: {
        ...{ code: 'credit-beyond-loss', creditNote: 'cn_1', payment: 'pay_1' },
        ...{ credited: { minor: 2990n }, lost: { minor: 0n }, over: true },
      },
    },
  ]);
  expect(s.calls).toHaveLength(2);
  const outcomeAt = minutesLater(35).toISOString();
  const lostAgain = goesOn(
    s,
    { status: 'lost', detail: { ...s.objects[0]?.detail, outcomeAt, outcomeHeardAt: outcomeAt } },
    40,
  );
  expect(booked(lostAgain).at(-1)).toEqual(['loss_credited', 'dsp_1:3', 2990n]);
  expect(find(lostAgain, 'dp_1:credit')).toMatchObject({ status: 'resolved', resolution: 'cleared' });
  expect(open(lostAgain)).toMatchObject([{ subject: 'dp_1:lost', actions: ['dismiss'] }]);
});

it('if the MoR wins a dispute before Stripe answers the credit note, Crossbill books no credit and a review item opens', () => {
  const s = goesOn(reported(chosen(lostLane())), { status: 'won' }, 30);
  const late = noted(s);
  expect(booked(late)).toEqual([]);
  expect(open(late)).toMatchObject([{ subject: 'dp_1:credit', fact: { lost: { minor: 0n } } }]);
});

it("if Stripe refuses the credit of a loss, a review item opens and the operator's retry sends the call again", () => {
  const asked = chosen(lostLane());
  const refused = decided(asked, (state) => applyReply(state, pending(state).id, refusal(), later(12)));
  expect(open(refused)).toMatchObject([
    { kind: 'effect_failed', paymentRowId: 'pmt_1', refundId: null, fact: { code: 'credit-refused', loss: 'dp_1' } },
  ]);
  expect(credit(refused)?.stage).toBe('parked');
  const again = chosen(refused, 'report_refund:loss:dp_1', 'retry', later(13));
  expect(calls(again).map(([kind, , status]) => [kind, status])).toEqual([
    ['report_refund', 'refused'],
    ['report_refund', 'pending'],
  ]);
  expect(booked(noted(reported(again)))).toEqual([['loss_credited', 'dsp_1', 2990n]]);
  const won = goesOn(refused, { status: 'won' }, 30);
  const tooLate = choose(won, 'report_refund:loss:dp_1', 'retry', later(31));
  expect(tooLate).toMatchObject({ ok: false, code: 'credit_not_available' });
});

const offers = (state: LaneState): readonly string[] => find(state, 'dp_1:lost').actions;
const withInvoice = (over: Partial<NonNullable<LaneState['invoice']>>): LaneState => {
  const s = paid(recorded);
  return withThem({ ...s, invoice: s.invoice === null ? null : { ...s.invoice, ...over } }, [aLoss()]);
};

it.each(['parked', 'closed', 'waiting', 'attaching'] as const)(
  'Crossbill offers no credit note for a lost payment whose mark is %s',
  (mark) => {
    expect(offers(lostLane({ ...recorded, mark }))).toEqual(['dismiss']);
  },
);

it('Crossbill offers no credit note for a loss on an unpaid or overpaid invoice', () => {
  expect(offers(withInvoice({ platformStatus: 'open' }))).toEqual(['dismiss']);
  expect(offers(withInvoice({ amountOverpaid: 100n }))).toEqual(['dismiss']);
  expect(offers(withInvoice({ total: null }))).toEqual(['dismiss']);
  expect(offers(withInvoice({}))).toContain('credit');
});

it('Crossbill offers no credit note for a loss while a refund is pending or the MoR reports unknown refunds', () => {
  const pendingRefund = byEvent({ id: 'ref_1', status: 'pending', amount: 500n });
  expect(offers(withThem(putRefund(paid(recorded), pendingRefund), [aLoss()]))).toEqual(['dismiss']);
  expect(offers(lostLane({ ...recorded, refundedTotal: 500n }))).toEqual(['dismiss']);
});

it('Crossbill refuses the credit note of a loss in shadow mode', () => {
  const ctx = aCtx(minutesLater(10), { sendsNothing: true });
  expect(choose(lostLane(), 'dp_1:lost', 'credit', ctx)).toMatchObject({ ok: false, code: 'shadow_mode' });
});

it('Crossbill refuses the credit note of a loss if the payment no longer settles the invoice', () => {
  const s = lostLane();
  const [p] = s.payments;
  const detached = p === undefined ? s : putPayment(s, { ...p, mark: 'parked' });
  expect(choose(detached)).toMatchObject({ ok: false, status: 409, code: 'credit_not_available' });
});

it('if a dispute with a credit note is won and then lost again, the item offers no second credit note', () => {
  const partial = { amount: 1000n, currency: 'EUR' };
  const first = noted(chosen(lostLane({ paymentRecordId: null }, partial)));
  const won = goesOn(first, { status: 'won' }, 30);
  const outcomeAt = minutesLater(35).toISOString();
  const lostAgain = goesOn(
    won,
    { status: 'lost', detail: { ...won.objects[0]?.detail, outcomeAt, outcomeHeardAt: outcomeAt } },
    40,
  );
  expect(offers(lostAgain)).toEqual(['dismiss']);
  expect(booked(lostAgain).at(-1)).toEqual(['loss_credited', 'dsp_1:3', 1000n]);
});

it('the credit note of a second dispute covers at most the rest of the payment after the first credit note', () => {
  const first = noted(chosen(lostLane({ paymentRecordId: null }, { amount: 2000n, currency: 'EUR' })));
  const second = aLoss({ id: 'dsp_2', morId: 'dp_2', amount: 2000n, currency: 'EUR' });
  const s = chosen(withThem(first, [second], 20), 'dp_2:lost');
  expect(pending(s).asked).toMatchObject({ amount: { minor: 990n } });
});

const returned = (): LaneState => {
  const s = paid(recorded);
  const done = returnDebit(s, 'pmt_1', { by: 'ada', reference: null }, later(1));
  if (!done.ok) throw new Error(done.code);
  return settle(done.state, later(1));
};

it("the credit note's ledger entry has the id of the debit's return, and an undo of the return reverses this entry", () => {
  const s = returned();
  const [o] = s.objects;
  const id = o?.id ?? '';
  expect(find(s, id)).toMatchObject({ kind: 'debit_returned', actions: ['credit', 'dismiss'] });
  const done = noted(reported(chosen(s, id)));
  expect(done.calls.map((m) => m.subject)).toEqual([`loss:${id}`, `loss:${id}`]);
  expect(booked(done)).toEqual([['loss_credited', id, 2990n]]);
  const undo = undoReturn(done, 'pmt_1', 'ada', later(20));
  if (!undo.ok) throw new Error(undo.code);
  const back = settle(undo.state, later(20));
  expect(booked(back).at(-1)).toEqual(['loss_credit_reversed', `${id}:2`, 2990n]);
  expect(open(back)).toMatchObject([
    { kind: 'debit_returned', subject: `${id}:credit`, fact: { code: 'credit-beyond-loss', lost: { minor: 0n } } },
  ]);
});

it('a loss above the room of the invoice gets a credit note over the room, and the timeline names the rest', () => {
  const s = chosen(withInvoice({ amountCredited: 790n }));
  expect(pending(s).asked).toMatchObject({ amount: { minor: 2200n } });
  expect(s.journal.map((line) => line.text)).toContainEqual(expect.stringContaining('7.90 EUR stays a loss'));
  expect(offers(withInvoice({ amountCredited: 2990n }))).toEqual(['dismiss']);
});

it('if a note by hand took the room, the retry of a loss makes a credit note over the rest and keeps its report', () => {
  const s = reported(chosen(lostLane()));
  const refused = decided(s, (state) => applyReply(state, pending(state).id, refusal(), later(12)));
  const read = { ...refused, invoice: { ...(refused.invoice ?? never()), amountCredited: 790n, readDueAt: null } };
  const again = chosen(read, 'issue_credit_note:loss:dp_1', 'retry', later(13));
  expect(pending(again)).toMatchObject({ kind: 'issue_credit_note', asked: { amount: { minor: 2200n } } });
  expect(credit(again)).toMatchObject({ minor: '2200', reported: '2990' });
  expect(booked(noted(again))).toEqual([['loss_credited', 'dsp_1', 2200n]]);
  const full = { ...read, invoice: { ...read.invoice, amountCredited: 2990n } };
  const none = choose(full, 'issue_credit_note:loss:dp_1', 'retry', later(13));
  expect(none).toMatchObject({ ok: false, code: 'credit_not_available' });
});

it('Crossbill offers no credit note for a loss while another credit note of the invoice is on its way', () => {
  const mirrored = (mirror: 'crediting' | 'waiting' | 'done') =>
    withThem(putRefund(paid(recorded), byEvent({ id: 'ref_1', amount: 500n, counted: true, mirror })), [aLoss()]);
  expect(offers(mirrored('crediting'))).toEqual(['dismiss']);
  expect(offers(mirrored('done'))).toContain('credit');
});

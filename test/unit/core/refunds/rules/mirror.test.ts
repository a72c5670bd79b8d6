// A refund on Stripe: the report on its payment record and the credit note, when they wait, and what is shown by neither.
import { chooseItem } from '../../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import { eur } from '../../../../support/builders/channel-object.js';
import { putCall, putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import { type CallRow } from '../../../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { creditNoteCall, mirrorRefunds, reportRefundCall } from '../../../../../src/core/refunds/rules/mirror.js';
import { byEvent, ctx, lane, payment, refusal } from '../../../../support/builders/asked-refund.js';
import { NOW, open } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { decide, onStates } from '../../../../support/rigs/decide.js';
import { mayHaveSettled } from '../../../../../src/core/books/rules/same-payment.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../../../../support/builders/events.js';
import { paidTwice } from '../../../../support/builders/disputed-lane.js';
import { balances, LaneHarness } from '../../../../support/rigs/lane-harness.js';

const withRefunds = (state: LaneState, ...refunds: RefundRow[]): LaneState => refunds.reduce(putRefund, state);

const waits = byEvent({ id: 'ref_1', processorRefundId: 're_1', mirror: 'waiting', counted: true });
const mirrored = (state: LaneState, over = {}) => decide(state, ctx(0, over), mirrorRefunds);
const kinds = (state: LaneState) => state.calls.map((m) => [m.kind, m.subject]);
const call = (state: LaneState): CallRow => state.calls[0] ?? never();

it("Stripe gets a refund as a report on the payment record and then a credit note, under the processor's refund id", () => {
  const s = mirrored(withRefunds(lane(payment()), waits));
  expect([kinds(s), s.refunds[0]?.mirror]).toEqual([[['report_refund', 'pay_1:re_1']], 'reporting']);
  expect(call(s).asked).toMatchObject({ reference: 're_1', amount: { minor: 1000n }, refundedAt: NOW });
  const done = { ...call(s), status: 'done' } as const;
  const answered = { kind: 'report_refund', paymentRecordId: 'inpay_1' } as const;
  const credited = onStates(reportRefundCall).answered(putCall(s, done), done, answered, ctx());
  expect(credited.refunds[0]?.mirror).toBe('crediting');
  const note = credited.calls[1] ?? never();
  expect(note).toMatchObject({
    ...{ kind: 'issue_credit_note', subject: 'pay_1:re_1' },
    asked: { refundId: 're_1', refunded: { paymentRecordId: 'inpay_1', reference: 're_1' } },
  });
  const shows = onStates(creditNoteCall).answered(
    credited,
    note,
    { kind: 'issue_credit_note', creditNoteId: 'cn_1' },
    ctx(),
  );
  expect(shows.refunds).toMatchObject([{ mirror: 'done', creditNoteId: 'cn_1' }]);
  expect(shows.entries.map((e) => e.amount.minor)).toEqual([1000n]);
  expect(
    onStates(creditNoteCall).answered(shows, note, { kind: 'issue_credit_note', creditNoteId: 'cn_2' }, ctx()),
  ).toBe(shows);
  expect(onStates(reportRefundCall).answered(shows, done, answered, ctx())).toBe(shows);
});

it('Crossbill sends a refund to Stripe only after the invoice is marked paid in full, and sends no refund of a closed payment', () => {
  for (const mark of ['waiting', 'parked', 'attaching'] as const) {
    const s = withRefunds(lane(payment({ mark })), waits);
    expect(mirrored(s)).toBe(s);
  }
  for (const platformStatus of ['open', 'uncollectible'] as const) {
    const s = withRefunds(lane(payment()), waits);
    const due = { ...s, invoice: s.invoice === null ? null : { ...s.invoice, platformStatus } };
    expect(mirrored(due)).toBe(due);
  }
  const closed = mirrored(withRefunds(lane(payment({ mark: 'closed' })), waits));
  expect([closed.refunds[0]?.mirror, closed.calls, closed.entries.length]).toEqual(['not_needed', [], 1]);
  const other = withRefunds(lane(payment()), { ...waits, paymentRowId: 'pmt_2' }, { ...waits, mirror: 'parked' });
  expect(mirrored(other)).toBe(other);
});

it('without a payment record, Stripe gets a refund as a credit note alone; a finished report is not sent twice', () => {
  const s = mirrored(withRefunds(lane(payment({ paymentRecordId: null })), waits));
  expect([kinds(s), s.refunds[0]?.mirror]).toEqual([[['issue_credit_note', 'pay_1:re_1']], 'crediting']);
  expect(call(s).asked).toMatchObject({ refunded: null, refundId: 're_1' });
  const first = mirrored(withRefunds(lane(payment()), { ...waits, processorRefundId: null, morRefundId: 'rfnd_1' }));
  const parked = putRefund(putCall(first, { ...call(first), status: 'done' }), {
    ...waits,
    morRefundId: 'rfnd_1',
  });
  const on = mirrored(parked);
  expect(kinds(on)).toEqual([
    ['report_refund', 'pay_1:rfnd_1'],
    ['issue_credit_note', 'pay_1:rfnd_1'],
  ]);
  expect(on.calls[1]?.asked).toMatchObject({
    refundId: 'rfnd_1',
    refunded: { paymentRecordId: 'inpay_1', reference: 'rfnd_1' },
  });
  const unsent = mirrored(putCall(parked, { ...call(parked), status: 'refused' }));
  expect(unsent.calls.map((m) => m.kind)).toEqual(['report_refund', 'report_refund']);
});

it('if the customer paid more than the invoice, Stripe gets the refund of the surplus as a report without a credit note', () => {
  const over = lane(payment());
  const paid = { ...over, invoice: over.invoice === null ? null : { ...over.invoice, amountOverpaid: 1000n } };
  const reported = mirrored(withRefunds(paid, waits));
  expect([kinds(reported), reported.refunds[0]?.surplus]).toEqual([[['report_refund', 'pay_1:re_1']], 1000n]);
  const answered = { kind: 'report_refund', paymentRecordId: 'inpay_1' } as const;
  const sent = { ...call(reported), status: 'done' } as const;
  const done = onStates(reportRefundCall).answered(putCall(reported, sent), sent, answered, ctx());
  expect([done.calls.length, done.refunds[0]?.mirror, done.entries.length]).toEqual([1, 'done', 1]);
  const bare = mirrored(withRefunds(putPayment(paid, payment({ paymentRecordId: null })), waits));
  expect([bare.calls, bare.refunds[0]?.mirror, bare.entries.length]).toEqual([[], 'not_needed', 1]);
  const shadow = mirrored(withRefunds(putPayment(paid, payment({ paymentRecordId: null })), waits), {
    sendsNothing: true,
  });
  expect(shadow.entries).toHaveLength(1);
});

it('in shadow mode Crossbill stores the credit note as cancelled and books the refund', () => {
  const s = mirrored(withRefunds(lane(payment({ paymentRecordId: null })), waits), { sendsNothing: true });
  expect([call(s).status, s.refunds[0]?.mirror, s.entries.length]).toEqual(['cancelled', 'not_needed', 1]);
});

it('if Stripe refuses a refund, a review item opens; if another refund has the same processor id, the item names that refund', () => {
  const s = mirrored(withRefunds(lane(payment()), waits));
  const refused = onStates(reportRefundCall).refused(s, call(s), refusal(), ctx());
  expect(refused.refunds[0]?.mirror).toBe('parked');
  expect(open(refused)).toMatchObject([{ kind: 'effect_failed', refundId: 'ref_1', paymentRowId: 'pmt_1' }]);
  expect(open(refused)[0]?.fact).toMatchObject({ code: 'mirror-refused' });
  const [other] = [{ refund: 'rfnd_2', payment: 'pay_2', invoiceId: 'in_2' }];
  const shared = onStates(reportRefundCall).refused(s, call(s), refusal(), {
    ...ctx(),
    refundsElsewhere: [other],
  });
  expect(open(shared)[0]?.fact).toMatchObject({
    code: 'mirror-refused',
    other: { refund: 'rfnd_2', payment: 'pay_2', invoice: 'in_2' },
  });
  const empty = lane(payment());
  expect(onStates(creditNoteCall).refused(empty, call(s), refusal(), ctx())).toBe(empty);
});

it("an operator's retry puts only a refused refund back in the queue for Stripe", () => {
  const of = (mirror: RefundRow['mirror'], resolution: 'retry' | 'dismiss') => {
    const s = withRefunds(lane(payment()), { ...waits, mirror });
    const item = { refundId: 'ref_1' } as ReviewRow;
    const done = onStates(reportRefundCall).resolve(s, item, { resolution, note: null, by: 'ada' }, ctx()) ?? never();
    return done.ok ? done.state.refunds[0]?.mirror : done.code;
  };
  expect([of('parked', 'retry'), of('parked', 'dismiss'), of('done', 'retry')]).toEqual([
    ...['waiting', 'parked', 'done'],
  ]);
});

const [one, two] = [payment(), payment({ id: 'pmt_2', paymentId: 'pay_2', paymentRecordId: 'inpay_2' })];
const shared = { processorRefundId: 're_shared', mirror: 'waiting', counted: true } as const;

it('refunds of two payments with one processor refund id reach Stripe one after the other, under different idempotency keys', () => {
  const [first, second] = [one, two].map((p) => byEvent({ id: `ref_${p.id}`, paymentRowId: p.id, ...shared }));
  const s = mirrored(withRefunds(lane(one, two), first ?? never(), second ?? never()));
  expect(s.refunds.map((r) => r.mirror)).toEqual(['reporting', 'waiting']);
  const next = mirrored(putRefund(s, { ...(s.refunds[0] ?? never()), mirror: 'done', creditNoteId: 'cn_1' }));
  expect(kinds(next)).toEqual([
    ['report_refund', 'pay_1:re_shared'],
    ['report_refund', 'pay_2:re_shared'],
  ]);
  expect(new Set(next.calls.map((m) => m.key)).size).toBe(2);
  expect(next.calls.map((m) => (m.asked?.kind === 'report_refund' ? m.asked.reference : null))).toEqual([
    ...['re_shared', 're_shared'],
  ]);
});

it('a refund keeps the idempotency keys of its calls to Stripe if the MoR corrects the ids of refund and payment', () => {
  const s = mirrored(withRefunds(lane(payment()), { ...waits, processorRefundId: null, morRefundId: 'rfnd_1' }));
  const done = { ...call(s), status: 'done' } as const;
  const named = putPayment(putCall(s, done), payment({ paymentId: 'pay_9' }));
  const renamed = putRefund(named, { ...(s.refunds[0] ?? never()), processorRefundId: 're_9' });
  const report = { kind: 'report_refund', paymentRecordId: 'inpay_1' } as const;
  const credited = onStates(reportRefundCall).answered(renamed, done, report, ctx());
  expect(credited.calls[1]).toMatchObject({
    ...{ kind: 'issue_credit_note', subject: 'pay_1:rfnd_1' },
    asked: { refunded: { reference: 'rfnd_1' } },
  });
});

// A refund of a payment that a person set aside: Stripe shows nothing of it, and whoever may have to credit the invoice hears so.
const openOf = async (harness: LaneHarness): Promise<readonly ReviewRow[]> =>
  (await harness.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');

async function choose(harness: LaneHarness, resolution: 'dismiss' | 'refund'): Promise<void> {
  await chooseItem(harness, resolution);
  await harness.idle(1);
}

/** A renewal whose invoice somebody has marked as paid by hand. */
async function markedByHand(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  h.platform.payAnotherWay(INVOICE_ID);
  await h.take(aPaymentSucceeded());
  return h;
}

it('each refund of an invoice that somebody marked paid by hand opens a refund_gap item and sends nothing to Stripe', async () => {
  const h = await markedByHand();
  expect((await openOf(h))[0]?.fact).toMatchObject({ code: 'paid-otherwise' });
  await choose(h, 'dismiss');
  await h.take(aRefund());
  await h.idle(48);
  expect(await openOf(h)).toMatchObject([
    {
      kind: 'refund_gap',
      fact: { code: 'refund-unshown', payment: 'pay_oak', amount: eur(300n) },
    },
  ]);
  await choose(h, 'dismiss');
  await h.take(aRefund({ eventId: 'evt_2', refundId: 'rfnd_2', amount: 700, total: 1000 }));
  await h.idle(48);
  expect(await openOf(h)).toMatchObject([{ fact: { amount: eur(700n) } }]);
  const s = await h.state(INVOICE_ID);
  expect([balances(s), h.platform.notes, s.refunds.map((r) => r.mirror)]).toEqual([
    {},
    [],
    ['not_needed', 'not_needed'],
  ]);
});

it('Crossbill opens no refund_gap item if the operator chose the refund or the MoR refunded the whole payment', async () => {
  const chosen = await markedByHand();
  await choose(chosen, 'refund');
  const portal = await markedByHand();
  await portal.take(aRefund({ amount: 1000, total: 1000 }));
  for (const h of [chosen, portal]) {
    await h.idle(48);
    const [p] = (await h.state(INVOICE_ID)).payments;
    expect([p?.mark, p?.amountRefunded, await openOf(h)]).toEqual(['closed', 1000n, []]);
  }
});

it('if an operator dismissed a double payment, a later refund of the second payment opens no review item', async () => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  await h.take(aPaymentSucceeded({ paymentId: 'pay_ash' }));
  await choose(h, 'dismiss');
  await h.take(aRefund({ paymentId: 'pay_ash', amount: 1000, total: 1000 }));
  await h.idle(48);
  expect(await openOf(h)).toEqual([]);
});

it('a closed payment perhaps paid the invoice if another payment has the same charge, or if one of the two came by a link without ids', () => {
  const asked = (second: Partial<PaymentRow>, first: Partial<PaymentRow> = {}): boolean => {
    const s = paidTwice({ mark: 'closed', ...second });
    const payments = s.payments.map((p) => (p.id === 'pmt_1' ? { ...p, ...first } : p));
    return mayHaveSettled({ ...s, payments }, payments[1] ?? never());
  };
  const named = { origin: 'payment_link', processorChargeId: null } as const;
  const link = { ...named, paymentId: null } as const;
  expect([asked(named), asked({}, named)]).toEqual([false, false]);
  expect([asked({}), asked({ processorChargeId: 'ch_1' }), asked(link), asked({}, link)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
  expect([asked({ amount: 1n }, link), asked({ currency: 'USD' }, link)]).toEqual([false, false]);
  expect([
    asked({ ...link, processorChargeId: 'ch_2' }),
    asked({ processorChargeId: null }, { processorChargeId: null }),
  ]).toEqual([false, false]);
});

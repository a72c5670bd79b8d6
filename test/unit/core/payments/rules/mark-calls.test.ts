// The calls of a mark: what follows from each reply of Stripe, and from a person's choice.
import { describe, expect, it } from '@jest/globals';
import { type ReviewKind } from '../../../../../src/shared/domain/fact.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundStatus } from '../../../../../src/shared/domain/refund-row.js';
import { type Resolution } from '../../../../../src/shared/domain/review-row.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { declares } from '../../../../../src/engine/items.js';
import { leftItems } from '../../../../../src/core/payments/rules/surplus.js';
import { LIST_TOO_LONG } from '../../../../../src/shared/domain/ports/call.js';
import { type Ctx } from '../../../../../src/engine/context.js';
import { putPayment, putRefund } from '../../../../support/builders/put-rows.js';
import {
  reviewIfBeyond,
  endOfMarkCall,
  finalizeCall,
  reportPaymentCall,
  setReferenceCall,
} from '../../../../../src/core/payments/rules/mark-calls.js';
import { chooseMark } from '../../../../../src/core/payments/rules/mark-choices.js';
import { identifyLookup } from '../../../../../src/core/payments/rules/identify-mark.js';
import { newRefund } from '../../../../../src/core/refunds/rules/refund.js';
import { aCtx, facts, NOW, open, openFacts } from '../../../../support/builders/channel-lane.js';
import { aKind } from '../../../../support/builders/item-facts.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';
import { choose } from '../../../../support/rigs/settle-rule.js';
import {
  at,
  ctx,
  invoice as anInvoice,
  kinds,
  lane,
  marks,
  call,
  payment,
  payment as aPayment,
  settled,
  withInvoice,
} from '../../../../support/builders/waiting-payment.js';
import { closeReviews, decide, onStates, openReview, recordRead } from '../../../../support/rigs/decide.js';

/** A look that found nothing. */
const NOTHING = { ok: true, value: { done: false }, status: 200, requestId: null } as const;
const refusedBy = { ok: false, kind: 'refused', status: 400, code: 'odd', message: 'no', retryAfterMs: null } as never;
/** A look at what paid the invoice came back. */
const identified = (
  state: LaneState,
  payment: string,
  outcome: Parameters<typeof identifyLookup.apply>[1],
  of: Ctx,
): LaneState =>
  decide(state, of, (l) =>
    identifyLookup.apply(l, outcome, { payment, asked: { kind: 'pay_out_of_band', invoiceId: 'in_1' } }),
  );

const reporting = (): LaneState => settled(lane({}, payment()));

it('after Stripe stores a payment record, Crossbill attaches the record and books the confirmed mark once', () => {
  const s = reporting();
  const reported = onStates(reportPaymentCall).answered(
    s,
    call(s, 'report_payment'),
    { kind: 'report_payment', paymentRecordId: 'pr_1' },
    ctx(),
  );
  expect([marks(reported), reported.payments[0]?.paymentRecordId]).toEqual([['attaching'], 'pr_1']);
  const attach = call(reported, 'attach_payment');
  expect([attach.subject, attach.asked]).toMatchObject(['pay_1', { paymentRecordId: 'pr_1' }] as const);
  const reply = { kind: 'attach_payment', invoice: facts({ status: 'paid', amountRemaining: 0n }) } as const;
  const done = onStates(endOfMarkCall).answered(reported, attach, reply, ctx());
  expect(marks(done)).toEqual(['confirmed']);
  expect(done.entries).toMatchObject([{ reason: 'payment_marked', amount: eur(2990n) }]);
  expect(done.journal.at(-1)?.text).toBe('payment pay_1 is marked: Stripe shows the invoice paid');
  expect(onStates(endOfMarkCall).answered(done, attach, reply, ctx()).entries).toHaveLength(1);
  expect(
    onStates(reportPaymentCall).answered(
      done,
      call(s, 'report_payment'),
      { kind: 'report_payment', paymentRecordId: 'pr_2' },
      ctx(),
    ),
  ).toBe(done);
});

it('after Stripe stores the payment’s reference, Crossbill marks the invoice paid out of band', () => {
  const s = settled(lane({}, payment()), ctx({ markMode: 'out_of_band' }));
  const reply = { kind: 'set_reference', invoice: facts() } as const;
  const next = onStates(setReferenceCall).answered(s, call(s, 'set_reference'), reply, ctx());
  expect([marks(next), call(next, 'pay_out_of_band').subject]).toEqual([['paying'], 'pay_1']);
  expect(onStates(setReferenceCall).answered(next, call(s, 'set_reference'), reply, ctx())).toBe(next);
});

it('an attached payment below the amount due opens a review item, unless the operator accepted the part', () => {
  const attached = (payment: PaymentRow, over: Partial<InvoiceFacts>): LaneState => {
    const s = settled(lane({}, payment));
    const m = call(s, 'attach_payment');
    const shown = onStates(endOfMarkCall).answered(s, m, { kind: 'attach_payment', invoice: facts(over) }, ctx());
    return decide(shown, ctx(), declares(leftItems));
  };
  const p = payment({ paymentRecordId: 'pr_1' });
  const remaining = attached(p, { amountRemaining: 500n });
  expect([marks(remaining), kinds(remaining)]).toEqual([['confirmed'], ['amount_mismatch']]);
  expect(open(remaining)[0]?.fact).toMatchObject({ code: 'rest-due', status: 'open', due: eur(500n) });
  expect(kinds(attached(p, { amountRemaining: 0n }))).toEqual([]);
  expect(kinds(attached(p, { status: 'paid', amountRemaining: 500n }))).toEqual([]);
  expect(kinds(attached({ ...p, waived: ['amount_mismatch'] }, { amountRemaining: 500n }))).toEqual([]);
});

it('after Stripe finalizes a draft or refuses the finalization, the payment of this draft waits for its mark', () => {
  const s = settled(lane({ status: 'draft' }, payment()), ctx({ draftPolicy: 'finalize' }));
  const reply = { kind: 'finalize_invoice', invoice: facts() } as const;
  const final = onStates(finalizeCall).answered(s, call(s, 'finalize_invoice'), reply, ctx());
  expect([marks(final), final.invoice?.platformStatus]).toEqual([['waiting'], 'open']);
  const refused = onStates(finalizeCall).refused(s, call(s, 'finalize_invoice'), refusedBy, ctx());
  expect([marks(refused), kinds(refused), refused.invoice?.finalizationError, refused.invoice?.readAt]).toEqual([
    ...[['waiting'], [], '400 odd no', null],
  ]);
});

it('a refused attach call leads to a read of the invoice and then to an item; a refused report leads directly to an item', () => {
  const s = settled(lane({}, payment({ paymentRecordId: 'pr_1' })));
  const once = onStates(endOfMarkCall).refused(s, call(s, 'attach_payment'), refusedBy, ctx());
  expect([marks(once), once.payments[0]?.markTries, once.invoice?.readAt, kinds(once)]).toEqual([
    ['waiting'],
    1,
    null,
    [],
  ]);
  const again = settled(recordRead(once, ctx(), facts()));
  const twice = onStates(endOfMarkCall).refused(again, again.calls.at(-1) ?? never(), refusedBy, ctx());
  expect([marks(twice), twice.payments[0]?.markTries, kinds(twice)]).toEqual([['parked'], 2, ['effect_failed']]);
  const first = reporting();
  const report = onStates(reportPaymentCall).refused(first, call(first, 'report_payment'), refusedBy, ctx());
  expect([marks(report), kinds(report)]).toEqual([['parked'], ['effect_failed']]);
});

it('after a withdrawn attach call, the payment waits to be marked again; a report without a clear result opens a review item', () => {
  const s = settled(lane({}, payment({ paymentRecordId: 'pr_1' })));
  const attach = call(s, 'attach_payment');
  expect(onStates(endOfMarkCall).withdrawn(s, attach, ctx())?.payments).toMatchObject([{ mark: 'waiting' }]);
  const first = reporting();
  const report = call(first, 'report_payment');
  const lost = onStates(reportPaymentCall).untraceable(first, report, 'too many records', ctx()) ?? never();
  expect([marks(lost), kinds(lost)]).toEqual([['parked'], ['effect_failed']]);
  expect(open(lost)[0]).toMatchObject({
    ...{ subject: 'report_payment:pay_1', paymentRowId: 'pmt_1' },
    fact: { code: 'mark-untraceable', payment: 'pay_1', reference: 'pay_1', why: 'too many records' },
  });
  const named = settled(lane({}, payment({ reference: 'own' })));
  const said = onStates(reportPaymentCall).untraceable(named, call(named, 'report_payment'), 'why', ctx()) ?? never();
  expect(open(said)[0]?.fact).toMatchObject({ code: 'mark-untraceable', reference: 'own', why: 'why' });
  const refused = onStates(reportPaymentCall).refused(first, report, refusedBy, ctx());
  expect(open(refused)[0]).toMatchObject({
    paymentRowId: 'pmt_1',
    fact: { code: 'mark-refused', byHand: { how: 'report', amount: eur(2990n), reference: 'ch_1' }, error: 'odd' },
  });
});

it('if Crossbill does not know the payment of a call, the reply of Stripe changes at most the invoice’s facts', () => {
  const s = reporting();
  const unmatched = { ...call(s, 'report_payment'), subject: 'pay_9', paymentRowId: 'pmt_9' };
  expect(
    onStates(reportPaymentCall).answered(s, unmatched, { kind: 'report_payment', paymentRecordId: 'pr_1' }, ctx()),
  ).toBe(s);
  expect(onStates(setReferenceCall).answered(s, unmatched, { kind: 'set_reference', invoice: facts() }, ctx())).toBe(s);
  expect(onStates(endOfMarkCall).withdrawn(s, unmatched, ctx())).toBeNull();
  expect(onStates(reportPaymentCall).untraceable(s, unmatched, 'why', ctx())).toBe(s);
  for (const { refused } of [onStates(reportPaymentCall), onStates(endOfMarkCall)])
    expect(refused(s, unmatched, refusedBy, ctx())).toBe(s);
  const paid = { kind: 'attach_payment', invoice: facts({ status: 'paid' }) } as const;
  const shown = onStates(endOfMarkCall).answered(s, { ...unmatched, kind: 'attach_payment' }, paid, ctx());
  expect([shown.invoice?.platformStatus, shown.entries, marks(shown)]).toEqual(['paid', [], ['reporting']]);
  const final = { kind: 'finalize_invoice', invoice: facts() } as const;
  const nobody = lane({ status: 'draft' }, payment({ mark: 'held' }));
  const finalize = { ...unmatched, kind: 'finalize_invoice' } as const;
  expect(marks(onStates(finalizeCall).answered(nobody, finalize, final, ctx()))).toEqual(['held']);
  expect(onStates(finalizeCall).refused(nobody, finalize, refusedBy, ctx())).toBe(nobody);
});

it.each([
  ['waiting', 1],
  ['attaching', 1],
  ['paying', 1],
  ['parked', 1],
  ['reporting', 0],
  ['held', 0],
  ['confirmed', 0],
] as const)(
  'after Stripe confirms an attach call, a payment with the mark status %s gets %s ledger entries',
  (mark, times) => {
    const s = lane({}, payment({ mark }));
    const m = { ...call(reporting(), 'report_payment'), kind: 'attach_payment' } as const;
    const reply = { kind: 'attach_payment', invoice: facts({ status: 'paid', amountRemaining: 0n }) } as const;
    expect(onStates(endOfMarkCall).answered(s, m, reply, ctx()).entries).toHaveLength(times);
    const unknown = lane({}, { ...payment({ mark }), amount: null });
    expect(onStates(endOfMarkCall).answered(unknown, m, reply, ctx()).entries).toEqual([]);
  },
);

it('on a paid invoice, a search of Stripe for the payment’s mark decides whether the payment is confirmed, waits or is parked', () => {
  const s = lane({ status: 'paid', amountRemaining: 0n }, payment());
  const found = (reply: object): LaneState =>
    identified(s, 'pmt_1', { ok: true, value: { done: true, reply } } as never, ctx());
  expect(marks(found({ kind: 'attach_payment' }))).toEqual(['confirmed']);
  expect(found({ kind: 'attach_payment' }).payments[0]?.markMode).toBe('payment_record');
  expect(found({ kind: 'pay_out_of_band' }).payments[0]).toMatchObject({ mark: 'confirmed', markMode: 'out_of_band' });
  expect(found({ kind: 'report_payment', paymentRecordId: 'pr_1' }).payments[0]).toMatchObject({
    mark: 'waiting',
    paymentRecordId: 'pr_1',
    markMode: 'payment_record',
  });
  expect(found({ kind: 'set_reference' }).payments[0]).toMatchObject({ mark: 'waiting', markMode: 'out_of_band' });
  const nobody = identified(s, 'pmt_1', NOTHING, ctx());
  expect(marks(nobody)).toEqual(['parked']);
  expect(open(nobody)[0]?.fact).toMatchObject({ code: 'paid-otherwise', taken: eur(2990n), record: null });
  const record = identified(lane({ status: 'paid' }, payment({ paymentRecordId: 'pr_1' })), 'pmt_1', NOTHING, ctx());
  expect(open(record)[0]?.fact).toMatchObject({ code: 'paid-otherwise', record: 'pr_1' });
  const failure = (over: object) =>
    identified(
      s,
      'pmt_1',
      { ok: false, kind: 'retry', status: 500, code: 'x', message: '', retryAfterMs: null, ...over } as never,
      ctx(),
    );
  expect(failure({}).invoice).toMatchObject({ readAt: null, readAttempts: 1, readDueAt: at(1_000) });
  expect(kinds(failure({ status: 404 }))).toEqual(['double_payment']);
  expect(kinds(failure({ status: null, code: LIST_TOO_LONG }))).toEqual(['double_payment']);
  const moved = lane({ status: 'paid' }, payment({ mark: 'parked' }));
  expect(identified(moved, 'pmt_1', NOTHING, ctx())).toBe(moved);
  expect(identified(s, 'pmt_9', NOTHING, ctx())).toBe(s);
});

const item = (state: LaneState, kind: ReviewKind, over = {}): LaneState =>
  openReview(state, ctx(), { ...aKind(kind), subject: 'pmt_1', paymentRowId: 'pmt_1', ...over });
const chosen = (state: LaneState, resolution: Resolution): LaneState => {
  const acted = choose(chooseMark, state, open(state)[0] ?? never(), { resolution, note: null, by: 'ops' }, ctx());
  if ('code' in acted) throw new Error(acted.code);
  return acted;
};

it('if the operator applies a payment, the payment waits for its mark with the accepted differences', () => {
  const s = chosen(item(lane({}, payment({ mark: 'parked', amount: 2000n })), 'amount_mismatch'), 'apply');
  expect(s.payments[0]).toMatchObject({ mark: 'waiting', waived: ['amount_mismatch'] });
  expect(s.invoice?.readAt).toBeNull();
  const more = chosen(item(lane({}, payment({ mark: 'parked', amount: 3000n })), 'amount_mismatch'), 'apply');
  expect(more.payments[0]?.waived).toEqual(['amount_mismatch', 'surplus']);
  const exact = chosen(item(lane({}, payment({ mark: 'parked' })), 'customer_mismatch'), 'apply');
  expect(exact.payments[0]?.waived).toEqual(['customer_mismatch']);
  const part = chosen(item(lane({}, payment({ mark: 'parked', amount: 1n })), 'partial_transfer'), 'apply');
  expect(part.payments[0]?.waived).toEqual(['amount_mismatch']);
  const there = item(lane({}, payment({ mark: 'confirmed' })), 'amount_mismatch');
  expect(chosen(there, 'apply')).toBe(there);
});

it('the choice `apply` keeps earlier accepted differences, but accepts no surplus of a payment with a refund', () => {
  const waived = (over: Partial<PaymentRow>, change = (s: LaneState): LaneState => s): readonly string[] => {
    const parked = change(lane({}, payment({ mark: 'parked', amount: 3000n, ...over })));
    return chosen(item(parked, 'amount_mismatch'), 'apply').payments.find((x) => x.id === 'pmt_1')?.waived ?? [];
  };
  const before = { amount: 2000n, waived: ['customer_mismatch', 'surplus'] } as const;
  expect(waived(before)).toEqual(['customer_mismatch', 'amount_mismatch']);
  const given = (status: RefundStatus, of = payment()) => {
    return (s: LaneState) =>
      putRefund(s, { ...newRefund(ctx(), of, { amount: 10n, reason: null, origin: 'api' }), status });
  };
  expect(waived({}, given('pending'))).toEqual(['amount_mismatch']);
  expect(waived({}, given('failed'))).toEqual(['amount_mismatch', 'surplus']);
  expect(waived({}, given('succeeded', payment({ id: 'pmt_2' })))).toEqual(['amount_mismatch', 'surplus']);
  expect(waived({}, (s) => ({ ...s, invoice: null }))).toEqual(['amount_mismatch']);
  const unknown = { ...payment({ mark: 'parked' }), amount: null };
  expect(waived({}, (s) => putPayment(s, unknown))).toEqual(['amount_mismatch']);
});

it('a choice about a review item without a payment changes nothing', () => {
  const none = item(lane({}, payment({ mark: 'parked' })), 'amount_mismatch', { paymentRowId: null });
  for (const resolution of ['apply', 'retry', 'dismiss'] as const) expect(chosen(none, resolution)).toBe(none);
});

it('after the choice `retry`, a payment waits for a new read of its invoice; after the choice `dismiss`, the payment is closed', () => {
  const parked = item(lane({}, payment({ mark: 'parked', markTries: 2 })), 'effect_failed');
  expect(chosen(parked, 'retry').payments[0]).toMatchObject({ mark: 'waiting', markTries: 0 });
  expect(marks(chosen(item(lane({}, payment({ mark: 'held' })), 'double_payment'), 'retry'))).toEqual(['waiting']);
  const reporting = item(lane({}, payment({ mark: 'reporting' })), 'double_payment');
  expect(chosen(reporting, 'retry')).toBe(reporting);
  expect(marks(chosen(parked, 'dismiss'))).toEqual(['closed']);
  expect(chosen(reporting, 'dismiss')).toBe(reporting);
  const surplus = item(lane({}, payment({ mark: 'confirmed' })), 'amount_mismatch', {
    subject: 'in_1',
    fact: {
      code: 'overpaid',
      over: eur(500n),
      due: eur(2490n),
      by: [],
      refunded: eur(0n),
      left: eur(500n),
      credited: true,
    },
  });
  expect(chosen(surplus, 'retry').invoice).toMatchObject({ readAt: null, readDueAt: NOW });
});

describe('an out-of-band mark above the payment’s amount', () => {
  const ctx = aCtx();
  const facts = (minor: bigint) => [{ code: 'marked-beyond', shown: eur(minor), taken: eur(2990n) }];
  const paid = (amountPaid: bigint): Partial<InvoiceFacts> => ({ status: 'paid', amountPaid, amountRemaining: 0n });
  const outOfBand = aPayment({ mark: 'confirmed', markMode: 'out_of_band' });
  const other = (over: Partial<PaymentRow> = {}): PaymentRow =>
    aPayment({ id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2', mark: 'confirmed', amount: 1000n, ...over });

  const beyond = (
    state: LaneState,
    before: bigint | null,
    of: PaymentRow = outOfBand,
    took?: bigint,
  ): readonly unknown[] =>
    openFacts(
      decide(state, ctx, (l) => {
        const p = Object.assign(l.findPayment('pmt_1') ?? never(), of);
        reviewIfBeyond(l, p, before === null ? null : anInvoice(paid(before)), took);
      }),
    );
  const forty = facts(4000n);

  it('if Stripe marks more out of band than the payment’s amount, a review item names the difference', () => {
    const s = lane(paid(4000n), outOfBand);
    expect(beyond(s, null)).toEqual(forty);
    expect(beyond(s, 0n)).toEqual(forty);
    expect(beyond(s, 1009n)).toEqual(facts(2991n));
    expect(beyond(s, 1010n)).toEqual([]);
    expect(beyond(lane(paid(2990n), outOfBand), 0n)).toEqual([]);
  });

  it('to check an out-of-band mark, Crossbill subtracts the invoice’s other confirmed payments from the amount paid', () => {
    const of = (...others: PaymentRow[]): readonly unknown[] => beyond(lane(paid(4000n), outOfBand, ...others), 4000n);
    expect(of()).toEqual(forty);
    expect(of(other())).toEqual(facts(3000n));
    expect(of(other({ amount: 1010n }))).toEqual([]);
    expect(of(other({ amount: 500n }), other({ id: 'pmt_3', amount: 510n }))).toEqual([]);
    expect(of(other({ mark: 'parked', amount: 1010n }))).toEqual(forty);
    expect(of({ ...other(), amount: null })).toEqual(forty);
  });

  it('if Stripe names the amount of an out-of-band mark, Crossbill compares the payment with this amount', () => {
    expect(beyond(lane(paid(4000n), outOfBand), 4000n, outOfBand, 2990n)).toEqual([]);
    expect(beyond(lane(paid(2990n), outOfBand), 0n, outOfBand, 4000n)).toEqual(forty);
  });

  it('Crossbill checks the marked amount only after an out-of-band mark, and only if the payment’s amount is known', () => {
    const s = lane(paid(4000n), outOfBand);
    expect(beyond(s, null, { ...outOfBand, markMode: 'payment_record' })).toEqual([]);
    expect(beyond(s, null, { ...outOfBand, amount: null })).toEqual([]);
    expect(beyond({ ...s, invoice: null }, null)).toEqual([]);
  });

  /** An open invoice with two marked payments. 5.00 of it are still due. */
  const isIdle = (over: Partial<PaymentRow> = {}, row: Partial<InvoiceRow> = {}): LaneState => {
    const s = lane({ amountPaid: 2490n, amountRemaining: 500n }, aPayment({ mark: 'confirmed', ...over }));
    return withInvoice(s, { readAt: ctx.now, ...row });
  };
  const declared = (state: LaneState): LaneState => decide(state, ctx, declares(leftItems));
  const ended = (state: LaneState, resolution: Resolution): LaneState =>
    closeReviews(declared(state), ctx, () => true, { by: 'ada', resolution, note: null });
  const topics = (state: LaneState): string[] => open(declared(state)).map((r) => r.topic);
  const refunded = (state: LaneState, status: RefundStatus, of: PaymentRow = aPayment()): LaneState =>
    putRefund(state, { ...newRefund(ctx, of, { amount: 500n, reason: null, origin: 'api' }), status });

  it('an amount still due after the mark opens a review item while the invoice is payable', () => {
    expect(openFacts(declared(isIdle()))).toEqual([{ code: 'rest-due', status: 'open', due: eur(500n) }]);
    expect(topics(isIdle({}, { platformStatus: 'uncollectible' }))).toEqual(['rest-due']);
    const paidSince = withInvoice(declared(isIdle()), { platformStatus: 'paid' });
    expect(declared(paidSince).reviews).toMatchObject([{ status: 'resolved' }]);
  });

  it.each<readonly [string, LaneState]>([
    ['the operator accepted a part', isIdle({ waived: ['amount_mismatch'] })],
    ['the payment is not marked', isIdle({ mark: 'waiting' })],
    ['nothing is due', isIdle({}, { amountRemaining: 0n })],
    ['the invoice is void', isIdle({}, { platformStatus: 'void' })],
    ['the payment’s refund is pending', refunded(isIdle(), 'pending')],
    ['the operator dismissed the item', ended(isIdle(), 'dismiss')],
    ['the operator asked for a new read', withInvoice(ended(isIdle(), 'retry'), { readAt: null })],
    ['the invoice is unknown', { ...isIdle(), invoice: null }],
  ])('an amount still due after the mark opens no review item if %s', (_, s) => {
    expect(topics(s)).toEqual([]);
  });

  it.each<readonly [string, LaneState]>([
    ['the operator chose retry', ended(isIdle(), 'retry')],
    ['the chosen refund failed', refunded(ended(isIdle(), 'refund'), 'failed')],
    ['another payment’s refund is pending', refunded(isIdle(), 'pending', other())],
    ['the operator applied a surplus', isIdle({ waived: ['amount_mismatch', 'surplus'] })],
    ['Crossbill reads the invoice right now', withInvoice(declared(isIdle()), { readAt: null })],
  ])('an amount still due after the mark keeps its review item open if %s', (_, s) => {
    expect(topics(s)).toEqual(['rest-due']);
  });
});

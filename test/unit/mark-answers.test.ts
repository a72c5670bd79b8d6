// What becomes of a payment's mark: what Stripe answers, and what the MoR says.
import { FACTS } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { openReview } from '../../src/engine/change.js';
import { takeRead } from '../../src/engine/facts.js';
import { type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { LIST_TOO_LONG } from '../../src/domain/ports/call.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import {
  applyIdentified,
  endOfMarkCall,
  finalizeCall,
  reportPaymentCall,
  setReferenceCall,
} from '../../src/payments/rules/mark-answer.js';
import { applyNotPaid, applySucceeded } from '../../src/payments/rules/payment-event.js';
import { aPaymentEvent, facts, NOW, open } from '../support/channel-lane.js';
import { never } from '../support/never.js';
import { at, ctx, kinds, lane, marks, message, payment, settled } from '../support/waiting-payment.js';

/** A look that found nothing. */
const NOTHING = { ok: true, value: { done: false }, status: 200, requestId: null } as const;
const refusedBy = { ok: false, kind: 'refused', status: 400, code: 'odd', message: 'no', retryAfterMs: null } as never;
describe('what Stripe answers to a step of the mark', () => {
  const reporting = (): LaneState => settled(lane({}, payment()));

  it('a report is followed by the attach of its record, and the end of the mark is in the books once', () => {
    const s = reporting();
    const reported = reportPaymentCall.answered(
      s,
      message(s, 'report_payment'),
      { kind: 'report_payment', paymentRecordId: 'pr_1' },
      ctx(),
    );
    expect([marks(reported), reported.payments[0]?.paymentRecordId]).toEqual([['attaching'], 'pr_1']);
    const attach = message(reported, 'attach_payment');
    expect([attach.subject, attach.asked]).toMatchObject(['pay_1', { paymentRecordId: 'pr_1' }] as const);
    const answer = { kind: 'attach_payment', invoice: facts({ status: 'paid', amountRemaining: 0n }) } as const;
    const done = endOfMarkCall.answered(reported, attach, answer, ctx());
    expect(marks(done)).toEqual(['confirmed']);
    expect(done.entries).toMatchObject([{ reason: 'payment_marked', amount: { minor: 2990n, currency: 'EUR' } }]);
    expect(done.journal.at(-1)?.text).toBe('payment pay_1 is marked: Stripe shows it paid');
    expect(endOfMarkCall.answered(done, attach, answer, ctx()).entries).toHaveLength(1);
    expect(
      reportPaymentCall.answered(
        done,
        message(s, 'report_payment'),
        { kind: 'report_payment', paymentRecordId: 'pr_2' },
        ctx(),
      ),
    ).toBe(done);
  });

  it('a reference is followed by the payment out of band', () => {
    const s = settled(lane({}, payment()), ctx({ markMode: 'out_of_band' }));
    const answer = { kind: 'set_reference', invoice: facts() } as const;
    const next = setReferenceCall.answered(s, message(s, 'set_reference'), answer, ctx());
    expect([marks(next), message(next, 'pay_out_of_band').subject]).toEqual([['paying'], 'pay_1']);
    expect(setReferenceCall.answered(next, message(s, 'set_reference'), answer, ctx())).toBe(next);
  });

  it('an attach after which something is still due is shown to a person, unless they let it through', () => {
    const attached = (p: PaymentRow, over: Partial<InvoiceFacts>): LaneState => {
      const s = settled(lane({}, p));
      return endOfMarkCall.answered(
        s,
        message(s, 'attach_payment'),
        { kind: 'attach_payment', invoice: facts(over) },
        ctx(),
      );
    };
    const p = payment({ paymentRecordId: 'pr_1' });
    const rest = attached(p, { amountRemaining: 500n });
    expect([marks(rest), kinds(rest)]).toEqual([['confirmed'], ['amount_mismatch']]);
    expect(wordsOf(open(rest)[0]).summary).toBe(
      'the payment is attached, and the invoice is still open with 5.00 EUR due',
    );
    expect(kinds(attached(p, { amountRemaining: 0n }))).toEqual([]);
    expect(kinds(attached(p, { status: 'paid', amountRemaining: 500n }))).toEqual([]);
    expect(kinds(attached({ ...p, waived: ['amount_mismatch'] }, { amountRemaining: 500n }))).toEqual([]);
  });

  it('a draft that was made final lets its payment wait for the mark', () => {
    const s = settled(lane({ status: 'draft' }, payment()), ctx({ draftPolicy: 'finalize' }));
    const answer = { kind: 'finalize_invoice', invoice: facts() } as const;
    const final = finalizeCall.answered(s, message(s, 'finalize_invoice'), answer, ctx());
    expect([marks(final), final.invoice?.platformStatus]).toEqual([['waiting'], 'open']);
    const refused = finalizeCall.refused(s, message(s, 'finalize_invoice'), refusedBy, ctx());
    expect([marks(refused), kinds(refused), refused.invoice?.finalizationError, refused.invoice?.readAt]).toEqual([
      ...[['waiting'], ['finalization_failed'], '400 odd no', null],
    ]);
  });

  it('a refusal is looked at afresh once, then a person is asked; of a report at once', () => {
    const s = settled(lane({}, payment({ paymentRecordId: 'pr_1' })));
    const once = endOfMarkCall.refused(s, message(s, 'attach_payment'), refusedBy, ctx());
    expect([marks(once), once.payments[0]?.markTries, once.invoice?.readAt, kinds(once)]).toEqual([
      ['waiting'],
      1,
      null,
      [],
    ]);
    const again = settled(takeRead(once, ctx(), facts()));
    const twice = endOfMarkCall.refused(again, again.messages.at(-1) ?? never(), refusedBy, ctx());
    expect([marks(twice), twice.payments[0]?.markTries, kinds(twice)]).toEqual([['parked'], 2, ['effect_failed']]);
    const first = reporting();
    const report = reportPaymentCall.refused(first, message(first, 'report_payment'), refusedBy, ctx());
    expect([marks(report), kinds(report)]).toEqual([['parked'], ['effect_failed']]);
  });

  it('that was never sent is taken back and its payment waits; what cannot be found among too many is for a person', () => {
    const s = settled(lane({}, payment({ paymentRecordId: 'pr_1' })));
    const attach = message(s, 'attach_payment');
    expect(endOfMarkCall.withdrawn?.(s, attach, ctx())?.payments).toMatchObject([{ mark: 'waiting' }]);
    const first = reporting();
    const report = message(first, 'report_payment');
    const lost = reportPaymentCall.untraceable?.(first, report, 'too many records', ctx()) ?? never();
    expect([marks(lost), kinds(lost)]).toEqual([['parked'], ['effect_failed']]);
    expect(withWords(open(lost)[0])).toMatchObject({
      ...{ subject: 'report_payment:pay_1', paymentRowId: 'pmt_1' },
      summary: 'Crossbill cannot tell whether payment pay_1 was reported: too many records',
      proposal: expect.stringContaining('a payment record with reference pay_1 on Stripe'),
    });
    const named = settled(lane({}, payment({ reference: 'own' })));
    const said = reportPaymentCall.untraceable?.(named, message(named, 'report_payment'), 'why', ctx()) ?? never();
    expect(wordsOf(open(said)[0]).proposal).toContain('with reference own on Stripe');
    const refused = reportPaymentCall.refused(first, report, refusedBy, ctx());
    expect(withWords(open(refused)[0])).toMatchObject({
      paymentRowId: 'pmt_1',
      proposal: expect.stringContaining('Fix what the answer names'),
    });
  });

  it('about a payment that is not there changes nothing but what Stripe shows', () => {
    const s = reporting();
    const stray = { ...message(s, 'report_payment'), subject: 'pay_9', paymentRowId: 'pmt_9' };
    expect(reportPaymentCall.answered(s, stray, { kind: 'report_payment', paymentRecordId: 'pr_1' }, ctx())).toBe(s);
    expect(setReferenceCall.answered(s, stray, { kind: 'set_reference', invoice: facts() }, ctx())).toBe(s);
    expect(endOfMarkCall.withdrawn?.(s, stray, ctx())).toBeNull();
    expect(reportPaymentCall.untraceable?.(s, stray, 'why', ctx())).toBe(s);
    for (const { refused } of [reportPaymentCall, endOfMarkCall]) expect(refused(s, stray, refusedBy, ctx())).toBe(s);
    const paid = { kind: 'attach_payment', invoice: facts({ status: 'paid' }) } as const;
    const shown = endOfMarkCall.answered(s, { ...stray, kind: 'attach_payment' }, paid, ctx());
    expect([shown.invoice?.platformStatus, shown.entries, marks(shown)]).toEqual(['paid', [], ['reporting']]);
    const final = { kind: 'finalize_invoice', invoice: facts() } as const;
    const nobody = lane({ status: 'draft' }, payment({ mark: 'held' }));
    const finalize = { ...stray, kind: 'finalize_invoice' } as const;
    expect(marks(finalizeCall.answered(nobody, finalize, final, ctx()))).toEqual(['held']);
    expect(finalizeCall.refused(nobody, finalize, refusedBy, ctx())).toBe(nobody);
  });

  it.each([
    ['waiting', 1],
    ['attaching', 1],
    ['paying', 1],
    ['parked', 1],
    ['reporting', 0],
    ['held', 0],
    ['confirmed', 0],
  ] as const)('the end of the mark of a payment that is %s is booked %s times', (mark, times) => {
    const s = lane({}, payment({ mark }));
    const m = { ...message(reporting(), 'report_payment'), kind: 'attach_payment' } as const;
    const answer = { kind: 'attach_payment', invoice: facts({ status: 'paid', amountRemaining: 0n }) } as const;
    expect(endOfMarkCall.answered(s, m, answer, ctx()).entries).toHaveLength(times);
    const unknown = lane({}, { ...payment({ mark }), amount: null });
    expect(endOfMarkCall.answered(unknown, m, answer, ctx()).entries).toEqual([]);
  });

  it('what was found out of a paid invoice decides whether it was this payment', () => {
    const s = lane({ status: 'paid', amountRemaining: 0n }, payment());
    const found = (answer: object): LaneState =>
      applyIdentified(s, 'pmt_1', { ok: true, value: { done: true, answer } } as never, ctx());
    expect(marks(found({ kind: 'attach_payment' }))).toEqual(['confirmed']);
    expect(found({ kind: 'attach_payment' }).payments[0]?.markMode).toBe('payment_record');
    expect(found({ kind: 'pay_out_of_band' }).payments[0]).toMatchObject({
      mark: 'confirmed',
      markMode: 'out_of_band',
    });
    expect(found({ kind: 'report_payment', paymentRecordId: 'pr_1' }).payments[0]).toMatchObject({
      mark: 'waiting',
      paymentRecordId: 'pr_1',
      markMode: 'payment_record',
    });
    expect(found({ kind: 'set_reference' }).payments[0]).toMatchObject({ mark: 'waiting', markMode: 'out_of_band' });
    const nobody = applyIdentified(s, 'pmt_1', NOTHING, ctx());
    expect([marks(nobody), wordsOf(open(nobody)[0]).summary, wordsOf(open(nobody)[0]).proposal]).toEqual([
      ['parked'],
      '29.90 EUR was taken although the invoice was already paid another way',
      'If somebody marked the invoice by hand for this money, dismiss this: a refund would give the only money back. If it was paid twice, refund 29.90 EUR.',
    ]);
    const record = applyIdentified(
      lane({ status: 'paid' }, payment({ paymentRecordId: 'pr_1' })),
      'pmt_1',
      NOTHING,
      ctx(),
    );
    expect(wordsOf(open(record)[0]).summary).toContain('(its payment record pr_1 is not attached)');
    const failure = (over: object) =>
      applyIdentified(
        s,
        'pmt_1',
        { ok: false, kind: 'retry', status: 500, code: 'x', message: '', retryAfterMs: null, ...over } as never,
        ctx(),
      );
    expect(failure({}).invoice).toMatchObject({ readAt: null, readAttempts: 1, readDueAt: at(1_000) });
    expect(kinds(failure({ status: 404 }))).toEqual(['double_payment']);
    expect(kinds(failure({ status: null, code: LIST_TOO_LONG }))).toEqual(['double_payment']);
    const moved = lane({ status: 'paid' }, payment({ mark: 'parked' }));
    expect(applyIdentified(moved, 'pmt_1', NOTHING, ctx())).toBe(moved);
    expect(applyIdentified(s, 'pmt_9', NOTHING, ctx())).toBe(s);
  });
});
describe('a verdict of the MoR', () => {
  const event = (over: Parameters<typeof aPaymentEvent>[0] = {}) => aPaymentEvent(over);
  const failed = (over: Parameters<typeof aPaymentEvent>[0] = {}) =>
    event({
      type: 'payment.failed',
      status: 'failed',
      eventId: 'evt_f',
      declineCode: 'lost_card',
      failureMessage: 'lost',
      ...over,
    });

  it('of money that was taken is a payment that waits, booked once', () => {
    const { state, verdict } = applySucceeded(lane(), event(), ctx());
    expect(state.payments).toMatchObject([
      {
        paymentId: 'pay_1',
        mark: 'waiting',
        status: 'succeeded',
        amount: 2990n,
        succeededAt: NOW,
        reference: 'ch_1',
        failureMessage: null,
      },
    ]);
    expect(state.entries).toMatchObject([{ reason: 'payment_collected', eventId: 'evt_pay' }]);
    expect(state.attempts).toMatchObject([{ outcome: 'succeeded', amount: 2990n }]);
    expect(JSON.stringify(verdict)).toContain('29.90 EUR was taken, payment pay_1');
    const again = applySucceeded(state, event({ eventId: 'evt_2' }), ctx());
    expect([again.state.entries.length, kinds(again.state)]).toEqual([1, []]);
    expect(JSON.stringify(again.verdict)).toContain('already recorded');
  });

  it.each([{ amount: 1n }, { currency: 'USD' }, { customerId: 'cus_2' }])(
    'that differs from the record (%p) is shown to a person and not applied',
    (over) => {
      const { state } = applySucceeded(lane(), event(), ctx());
      const told = applySucceeded(state, event({ eventId: 'evt_2', ...over }), ctx()).state;
      expect(kinds(told)).toEqual(['conflicting_event']);
      expect(told.entries).toHaveLength(1);
      expect(told.payments[0]).toMatchObject({ amount: 2990n, currency: 'EUR', customerId: 'cus_1' });
    },
  );

  it.each(['none', 'proving', 'closed'] as const)('of money makes a payment that was %s wait for its mark', (mark) => {
    const known = payment({ mark, succeededAt: null, failureMessage: 'lost', declineCode: 'lost_card' });
    const { state } = applySucceeded(lane({}, known), event({ processorChargeId: null }), ctx());
    expect(state.payments).toMatchObject([
      { mark: 'waiting', processorChargeId: 'ch_1', failureMessage: null, declineCode: null },
    ]);
  });

  it('of money leaves a payment that a person decides on where it is, unless only its proof was missing', () => {
    const parked = lane({}, payment({ mark: 'parked', succeededAt: null }));
    expect(marks(applySucceeded(parked, event(), ctx()).state)).toEqual(['parked']);
    const item = {
      kind: 'signup_unproven',
      subject: 'pmt_1',
      paymentRowId: 'pmt_1',
      fact: FACTS.signup_unproven,
    } as const;
    const unproven = applySucceeded(openReview(parked, ctx(), item), event(), ctx()).state;
    expect([marks(unproven), kinds(unproven)]).toEqual([['waiting'], []]);
  });

  it('that refuses is remembered with its reason; the newest counts, in whatever order they come', () => {
    const { state } = applyNotPaid(lane(), failed(), ctx());
    expect(state.payments).toMatchObject([
      { mark: 'none', status: 'failed', declineCode: 'lost_card', failureMessage: 'lost', verdictAt: NOW },
    ]);
    expect(state.attempts).toMatchObject([{ outcome: 'failed' }]);
    const older = applyNotPaid(state, failed({ eventId: 'evt_o', at: at(-1), declineCode: 'older' }), ctx()).state;
    expect(older.payments).toMatchObject([{ declineCode: 'lost_card' }]);
    const newer = applyNotPaid(state, failed({ eventId: 'evt_n', at: at(1), declineCode: 'newer' }), ctx()).state;
    expect(newer.payments).toMatchObject([{ declineCode: 'newer', verdictAt: at(1) }]);
    const action = event({ type: 'payment.requires_action', status: 'requires_action', eventId: 'evt_a' });
    expect(applyNotPaid(state, action, ctx()).state.payments).toMatchObject([{ status: 'failed' }]);
    const first = applyNotPaid(lane(), action, ctx()).state;
    expect(applyNotPaid(first, failed(), ctx()).state.payments).toMatchObject([{ status: 'failed' }]);
  });

  it('that refuses undoes no success, whenever it comes', () => {
    const { state } = applySucceeded(lane(), event(), ctx());
    const late = applyNotPaid(state, failed({ at: at(9) }), ctx());
    expect(late.state.payments).toMatchObject([{ mark: 'waiting', status: 'succeeded', declineCode: null }]);
    expect(JSON.stringify(late.verdict)).toContain('late: the payment has succeeded (lost_card)');
    expect(late.state.invoice?.retries).toBeNull();
  });

  it('that says after the browser that the charge of a signup failed disproves it; one of before does not', () => {
    const proving = lane({}, payment({ mark: 'proving', succeededAt: null, origin: 'signup' }));
    const disproven = applyNotPaid(proving, failed({ at: at(1) }), ctx()).state;
    expect([marks(disproven), kinds(disproven), disproven.payments[0]?.status]).toEqual([
      ['parked'],
      ['signup_unproven'],
      'failed',
    ]);
    for (const e of [failed({ at: NOW }), failed({ at: at(1), type: 'payment.requires_action' })]) {
      const earlier = applyNotPaid(proving, e, ctx());
      expect(marks(earlier.state)).toEqual(['proving']);
      expect(JSON.stringify(earlier.verdict)).toContain('late: an earlier attempt of the same intent');
    }
  });
});

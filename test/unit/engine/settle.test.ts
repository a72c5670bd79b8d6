// How a lane comes to rest: which call goes next, what comes before it, when it is looked at again, and what a person's choice does.
import { FACTS, aKind } from '../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { putPayment, putCall } from '../../support/builders/put-rows.js';
import { type CallKind, type CallRow } from '../../../src/shared/domain/call-row.js';
import { type ReviewKind } from '../../../src/shared/domain/fact.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type Resolution } from '../../../src/shared/domain/review-row.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { aPaymentEvent, facts, NOW, open, PROFORMA } from '../../support/builders/channel-lane.js';
import { aLink, aProforma, channelEvent, withObjects } from '../../support/builders/channel-object.js';
import { never } from '../../support/never.js';
import { at, ctx as on, lane, payment, withInvoice } from '../../support/builders/waiting-payment.js';
import { addCallRow, openReview, applyEvent, nextRequestOf, resolveReview, settle } from '../../support/rigs/decide.js';

const HOUR_MS = 3_600_000;
const ctx = (ms = 0, over: Partial<DecisionSettings> = {}): Ctx => on(over, ms);
/** An invoice that was read just now, made two hours ago. */
const fresh = (over: Partial<InvoiceFacts> = {}, ms = 0): LaneState =>
  withInvoice(lane({ createdAt: at(ms - 2 * HOUR_MS), ...over }), { readAt: at(ms) });

function calls(state: LaneState, ...kinds: (CallKind | readonly [CallKind, Partial<CallRow>])[]): LaneState {
  return kinds.reduce((state, of) => {
    const [kind, over] = typeof of === 'string' ? [of, {}] : of;
    const peer = kind === 'relay_event' ? 'relay' : kind === 'create_refund' ? 'mor' : 'stripe';
    const added = addCallRow(state, ctx(), {
      peer,
      kind,
      subject: 'x',
      wire: { method: 'POST', path: '/x', body: null },
    });
    return putCall(added, { ...(added.calls.at(-1) ?? never()), ...over });
  }, state);
}

const polls: (Date | null)[] = [];
function next(state: LaneState, of = ctx()): string | null {
  polls.length = 0;
  const request = nextRequestOf(state, of, (when) => polls.push(when));
  if (request === null) return null;
  return request.do === 'look-up' ? request.name : `${request.do} ${request.call.kind}`;
}

it('Crossbill sends the report of a payment first, then a refund, then the refund’s report, and a relayed event last', () => {
  const all = ['relay_event', 'report_refund', 'create_refund', 'report_payment'] as const;
  const order = all.map((_, i) => next(calls(fresh(), ...all.slice(0, all.length - i))));
  expect(order).toEqual(['send report_payment', 'send create_refund', 'send report_refund', 'send relay_event']);
  const two = calls(fresh(), 'create_refund', ['create_refund', { subject: 'y' }]);
  expect(nextRequestOf(two, ctx(), () => undefined)).toEqual({ do: 'send', call: two.calls[0] });
});

it('Crossbill sends a pending call at its next try time, and schedules the invoice’s next step for that time', () => {
  expect(next(calls(fresh(), ['report_payment', { status: 'done' }]))).toBeNull();
  const two = calls(fresh(), ['report_payment', { nextTryAt: at(9_000) }], 'create_refund');
  expect([next(two), polls]).toEqual(['send create_refund', [at(9_000)]]);
  expect(next(two, ctx(9_000))).toBe('send report_payment');
  expect(next(calls(fresh(), 'relay_event'), ctx(0, { enrolment: { by: 'linked' } }))).toBe('look-up-enrolment');
});

it('in shadow mode, Crossbill sends no call, not even a call stored before shadow mode', () => {
  expect(next(calls(fresh(), 'report_payment'), ctx(0, { sendsNothing: true }))).toBeNull();
});

it('Crossbill reads an invoice from Stripe before each change of the invoice on Stripe', () => {
  const stale = (over = {}) => withInvoice(calls(fresh(), 'report_payment'), { readAt: null, ...over });
  expect(next(stale())).toBe('read-invoice');
  expect([next(stale({ readDueAt: at(5_000) })), polls]).toEqual([null, [at(5_000), at(5_000)]]);
  expect(next(withInvoice(calls(fresh(), 'create_refund'), { readAt: null }))).toBe('send create_refund');
  expect(next({ ...calls(fresh(), 'report_payment'), invoice: null })).toBe('send report_payment');
  const behind = withInvoice(calls(fresh(), 'report_payment', 'create_refund'), { readAt: null, readDueAt: at(5_000) });
  expect(next(behind)).toBe('send create_refund');
});

const DAY = 23 * HOUR_MS;
const tried = (ms: number, over: Partial<CallRow> = {}) => ({ firstTriedAt: at(-ms), attempts: 1, ...over });
const goes = (kind: CallKind, over: Partial<CallRow>, state = fresh()) =>
  next(calls(state, [kind, over]))?.split(' ')[0];

it('from 23 hours after the first try, Crossbill searches Stripe for the effect of a call before it repeats the call', () => {
  expect([goes('report_payment', tried(DAY - 1)), goes('report_payment', tried(DAY))]).toEqual(['send', 'probe']);
  const unmarked = { firstTriedAt: null, createdAt: at(-DAY) };
  expect(goes('report_payment', unmarked)).toBe('probe');
  expect(goes('report_payment', tried(1, { createdAt: at(-DAY) }))).toBe('probe'); // one before it may have left no record
  expect(goes('create_refund', tried(DAY))).toBe('send');
});

it('a minute after Stripe replays a stored error for a call, Crossbill searches Stripe for the call’s effect before a repeat', () => {
  const replaying = { replaying: true };
  expect(goes('report_payment', tried(59_999, replaying))).toBe('send');
  expect(goes('report_payment', tried(60_000, replaying))).toBe('probe');
  expect(goes('report_payment', tried(60_000))).toBe('send');
});

it('Crossbill searches Stripe for an earlier mark before the first call about an old, partly paid invoice', () => {
  const old = (over: Partial<InvoiceFacts> = {}) => fresh({ createdAt: at(-DAY), amountPaid: 1n, ...over });
  expect(goes('report_payment', {}, old())).toBe('probe');
  expect(goes('report_payment', {}, old({ createdAt: at(1 - DAY) }))).toBe('send');
  expect(goes('report_payment', {}, old({ amountPaid: 0n }))).toBe('send');
  expect(goes('report_payment', tried(1), old())).toBe('send');
  expect(goes('set_reference', {}, old())).toBe('send');
  expect(goes('report_refund', {}, withInvoice(old(), { platformCreatedAt: null }))).toBe('probe');
  expect(goes('report_refund', {}, { ...old(), invoice: null })).toBe('probe');
});

it('Crossbill searches Stripe for an attached payment before it attaches a payment to a void invoice', () => {
  expect(goes('attach_payment', {}, fresh({ status: 'void' }))).toBe('probe');
  expect(goes('attach_payment', {})).toBe('send');
  expect(goes('attach_payment', {}, fresh({ status: 'uncollectible' }))).toBe('send');
  expect(goes('report_payment', {}, fresh({ status: 'void' }))).toBe('send');
});

it('an invoice without other work waits for the nearest deadline of its payment links', () => {
  const s = withObjects(fresh(), aLink({ id: 'lnk_0', deadline: at(30_000) }), aLink({ deadline: at(10_000) }));
  const rested = settle(s, ctx());
  expect([rested.request, rested.dueAt]).toEqual([null, at(10_000)]);
  expect(settle(emptyLane('in_1'), ctx())).toEqual({ state: emptyLane('in_1'), request: null, dueAt: null });
  const over = settle(lane({ status: 'paid' }), ctx());
  expect([over.request, over.dueAt]).toEqual([null, null]);
});

it('Crossbill schedules no next step of an invoice for a past time', () => {
  const o = aProforma({ status: 'SETTLED' });
  const s = withObjects(lane({ status: 'paid' }), o);
  expect(settle(s, ctx(HOUR_MS - 1)).dueAt).toEqual(at(HOUR_MS));
  const late = settle(s, ctx(HOUR_MS));
  expect([late.dueAt, open(late.state).length]).toEqual([null, 1]);
});

it('Crossbill works an invoice immediately if the invoice has a call to send', () => {
  const { request, dueAt } = settle(calls(fresh(), 'create_refund'), ctx(1));
  expect([request?.do, dueAt]).toEqual(['send', at(1)]);
  const unknown = { ...calls(fresh(), 'create_refund'), invoice: null };
  expect(settle(unknown, ctx()).state).toBe(unknown);
});

it('Crossbill updates the public status of an invoice, and leaves an unchanged invoice untouched', () => {
  const s = settle(putPayment(fresh(), payment()), ctx()).state;
  expect([s.invoice?.status, s.payments[0]?.mark]).toEqual(['marking', 'reporting']);
  const paid = settle(lane({ status: 'paid' }), ctx()).state;
  expect(paid.invoice?.status).toBe('paid');
  expect(settle(paid, ctx()).state).toBe(paid);
});

it('Crossbill opens no item and reads nothing for an invoice of a customer outside the enrolment', () => {
  const outside = withInvoice(lane({ finalizationError: 'x', status: 'draft' }), {
    enrolled: false,
    readAt: null,
    readDueAt: at(0),
  });
  const { state, request, dueAt } = settle(outside, ctx());
  expect([state.reviews, state.invoice?.status, request, dueAt]).toEqual([[], 'ignored', null, null]);
  const ours = settle(withInvoice(outside, { enrolled: true }), ctx());
  expect([open(ours.state).length, ours.request]).toMatchObject([1, { name: 'read-invoice' }]);
});

it('the first event about an unknown invoice creates the invoice, whether the event comes from the MoR or from Stripe', () => {
  const settled = { proformaInvoiceId: PROFORMA, number: 'PF-1' };
  const event = channelEvent('proforma_invoice.issued', settled);
  const mor = { family: 'channel', eventId: 'evt_1', type: 'proforma_invoice.issued', event } as const;
  const issued = applyEvent(emptyLane('in_1'), mor, ctx()).state;
  expect([issued.objects[0]?.status, issued.invoice?.platformStatus]).toEqual(['ISSUED', 'unknown']);
  const stripe = {
    family: 'invoice',
    eventId: 'evt_2',
    type: 'invoice.finalized',
    at: NOW,
    facts: facts(),
    raw: '{}',
  } as const;
  const final = applyEvent(emptyLane('in_1'), stripe, ctx()).state;
  expect([final.invoice?.amountDue, final.journal.map((l) => l.text)]).toEqual([2990n, ['invoice.finalized']]);
});

it('the timeline of an invoice shows an event together with Crossbill’s decision about the event', () => {
  const { state, verdict: outcome } = applyEvent(emptyLane('in_1'), aPaymentEvent(), ctx());
  expect(state.payments).toMatchObject([{ paymentId: 'pay_1', amount: 2990n }]);
  expect(state.invoice?.invoiceId).toBe('in_1');
  const text = outcome.reason === null ? 'payment.succeeded' : `payment.succeeded: ${outcome.reason}`;
  expect(state.journal.at(-1)).toMatchObject({ kind: 'event', ref: 'evt_pay', text });
});

const item = (kind: ReviewKind, subject = 'x') =>
  openReview(openReview(fresh(), ctx(), { kind: 'dispute', subject: 'y', fact: FACTS.dispute }), ctx(), {
    ...{ ...aKind(kind), subject },
  });
const choose = (state: LaneState, resolution: Resolution, by = 'ada', id = state.reviews[1]?.id ?? '') =>
  resolveReview(state, id, { resolution, note: 'why', by }, ctx(5_000));

it('a choice of the operator closes one review item, with the operator’s name and reason', () => {
  const done = choose(item('conflicting_event'), 'dismiss');
  const closed = { status: 'resolved', resolution: 'dismiss', resolvedBy: 'ada', note: 'why', resolvedAt: at(5_000) };
  expect(done).toMatchObject({ ok: true, value: closed });
  expect(done.ok ? open(done.state).map((r) => r.subject) : []).toEqual(['y']);
});

it('a repeated choice about a review item changes nothing, and a different later choice gets 409', () => {
  const first = choose(item('renewal_overdue'), 'dismiss');
  const s = first.ok ? first.state : never();
  expect(choose(s, 'dismiss', 'ben')).toMatchObject({ ok: true, state: s, value: { resolvedBy: 'ada' } });
  expect(choose(s, 'retry', 'ben')).toMatchObject({
    ...{ ok: false, status: 409, code: 'review_already_resolved' },
    message: 'This item was already resolved (dismiss) by ada.',
  });
});

it('Crossbill refuses a choice not offered by the review item with 409, and a choice about a missing item with 404', () => {
  expect(choose(item('partial_transfer'), 'retry')).toMatchObject({
    ...{ ok: false, status: 409, code: 'resolution_not_available', field: 'resolution' },
    message: 'A partial_transfer item can be resolved by: apply, dismiss.',
  });
  expect(choose(item('dispute'), 'dismiss', 'ada', 'rev_9')).toMatchObject({
    ok: false,
    status: 404,
    code: 'not_found',
  });
});

it('the choice `retry` for a failed relay makes Crossbill send the event to the MoR again', () => {
  const s = calls(item('effect_failed', 'relay_event:x'), ['relay_event', { status: 'refused' }]);
  const done = choose(s, 'retry');
  expect(done.ok ? done.state.calls.map((m) => m.status) : []).toEqual(['pending']);
  const about = calls(item('effect_failed', 'in_1'), ['relay_event', { status: 'refused' }]);
  const none = choose(about, 'retry');
  expect(none.ok ? none.state.calls.map((m) => m.status) : []).toEqual(['refused']);
});

it('while a payment has no MoR id, Crossbill refuses the choice `refund` and leaves the review item open', () => {
  const p = payment({ mark: 'parked', paymentId: null });
  const asked = openReview(putPayment(fresh(), p), ctx(), {
    ...{ kind: 'amount_mismatch', subject: 'pmt_1', paymentRowId: 'pmt_1', fact: FACTS.amount_mismatch },
  });
  const refused = resolveReview(
    asked,
    asked.reviews[0]?.id ?? '',
    { resolution: 'refund', note: null, by: 'ada' },
    ctx(),
  );
  expect(refused).toMatchObject({ ok: false, code: 'payment_not_identified' });
});

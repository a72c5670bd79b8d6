// A payment: the MoR's verdicts on it, and the proof of a signup's charge.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type Resolution, type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { type CallOutcome } from '../../../../../src/shared/domain/ports/call.js';
import { type ChargeState } from '../../../../../src/shared/domain/ports/payment-gateway.js';
import { putPayment } from '../../../../support/builders/put-rows.js';
import { type Lane } from '../../../../../src/engine/lane.js';
import { type PaymentEvent } from '../../../../../src/engine/event.js';
import { declareItems, declares } from '../../../../../src/engine/items.js';
import { accept } from '../../../../../src/core/books/rules/collect.js';
import { learnFromCapture, applyNotPaid, applySucceeded } from '../../../../../src/core/payments/rules/payment.js';
import { chargeLookup, chooseUnproven, unprovenItems } from '../../../../../src/core/payments/rules/proof.js';
import { applyRefusal } from '../../../../../src/features/retries/rules/refusal.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { aPaymentEvent, NOW, open } from '../../../../support/builders/channel-lane.js';
import { channelEvent, eur } from '../../../../support/builders/channel-object.js';
import { FACTS } from '../../../../support/builders/item-facts.js';
import { never } from '../../../../support/never.js';
import { choose, applyEvent } from '../../../../support/rigs/settle-rule.js';
import {
  at,
  ctx as on,
  kinds,
  lane,
  marks,
  payment,
  withInvoice,
} from '../../../../support/builders/waiting-payment.js';
import { decide, openReview } from '../../../../support/rigs/decide.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ctx = (ms = 0) => on({}, ms);
const proving = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...payment({ origin: 'signup', signupId: 'sup_1', paymentId: null, succeededAt: null, status: 'processing' }),
  ...{ mark: 'proving', proveDueAt: at(0), ...over },
});
const beside = payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' });
const known = (...payments: PaymentRow[]): LaneState => payments.reduce(putPayment, lane());
const ok = (value: ChargeState) => ({ ok: true, value, status: 200, requestId: null }) as const;
/** The look-up came back, and the items are brought up to date. */
const proved = (state: LaneState, id: string, outcome: CallOutcome<ChargeState>, ms = 0): LaneState =>
  decide(state, ctx(ms), (l) => {
    chargeLookup.apply(l, outcome, { payment: id, chargeId: 'ch_1' });
    declareItems(l, unprovenItems);
  });
const notified = (payment: PaymentRow, outcome: CallOutcome<ChargeState>, ms = 0): LaneState =>
  proved(known(beside, payment), payment.id, outcome, ms);
const notPaid = (lane: Lane, event: PaymentEvent) => applyNotPaid(lane, event, applyRefusal);
const texts = (state: LaneState) => state.journal.map((l) => l.text);
const last = (state: LaneState): PaymentRow => state.payments.at(-1) ?? never();

it('after the MoR confirms the charge of a signup, Crossbill books the payment, and the payment waits for its mark', () => {
  const s = notified(proving(), ok('charged'), 9_000);
  expect(last(s)).toMatchObject({ mark: 'waiting', status: 'succeeded', succeededAt: at(9_000), proveDueAt: null });
  expect(s.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(2990n) }]);
  expect(texts(s)).toEqual(['charge ch_1 is proven: the MoR charged it']);
  expect(s.payments[0]).toEqual(beside);
});

it.each<[string, Date | null, Date | null, Date]>([
  ['it has the time of the MoR’s reply', at(1_000), at(0), at(1_000)],
  ['the reply names no time', null, at(0), at(9_000)],
  ['the reply’s time is in the future', at(9_001), at(0), at(9_000)],
  ['the reply’s time is before the invoice', at(-1), at(0), at(9_000)],
  ['nobody knows when Stripe made the invoice', at(1_000), null, at(9_000)],
])('a proven charge of a signup is dated by the MoR’s own clock: %s', (_, answeredAt, platformCreatedAt, takenAt) => {
  const s = proved(
    withInvoice(known(proving()), { platformCreatedAt }),
    'pmt_1',
    { ...ok('charged'), answeredAt },
    9_000,
  );
  expect(last(s).succeededAt).toEqual(takenAt);
  expect(s.entries).toMatchObject([{ at: at(9_000), movedAt: takenAt }]);
});

it('a capture that proves a signup’s charge dates the payment, and a later capture never moves booked money', () => {
  const captured = { pspReference: 'ch_1', amount: MONEY, capturedAt: at(2_000).toISOString() };
  const dated = (p: PaymentRow) => {
    const s = withInvoice(known(p), { platformCreatedAt: at(0) });
    const event = channelEvent('payment.captured', captured);
    return last(decide(s, ctx(20_000), (l) => learnFromCapture(l, event, null))).succeededAt;
  };
  expect(dated(proving())).toEqual(at(2_000));
  expect(dated(proving({ mark: 'confirmed', status: 'succeeded', succeededAt: at(9_000) }))).toEqual(at(9_000));
});

it('the MoR’s reply about a charge changes nothing for a payment in review or an unknown payment', () => {
  const s = known(beside, proving({ mark: 'parked' }));
  expect(proved(s, 'pmt_1', ok('charged')).payments).toBe(s.payments);
  expect(proved(s, 'pmt_9', ok('charged')).payments).toBe(s.payments);
});

it.each([
  ['does not reply', refusal({ kind: 'unknown', status: null, code: null, message: 'gone' }), 0, 1_000],
  ['replies with a rate limit', refusal({ kind: 'retry', status: 429, retryAfterMs: 7_000 }), 0, 7_000],
  ['refuses the key', refusal({ kind: 'stopped', status: 401 }), 0, MINUTE_MS],
  ['fails a fourth time', refusal({ kind: 'retry', status: 500 }), 3, 8_000],
  ['fails a twentieth time', refusal({ kind: 'retry', status: 500 }), 19, 128_000],
  ['does not know the charge', ok('unknown'), 0, 1_000],
  ['does not know the charge a third time', ok('unknown'), 2, 4_000],
  ['does not know the charge a fourth time', ok('unknown'), 3, 8_000],
  ['does not know the charge a twentieth time', ok('unknown'), 19, 128_000],
])('Crossbill asks the MoR about a signup’s charge again after a pause if the MoR %s', (_, outcome, tries, pause) => {
  const s = notified(proving({ proveAttempts: tries }), outcome);
  expect(last(s)).toMatchObject({ mark: 'proving', proveAttempts: tries + 1, proveDueAt: at(pause) });
  expect(texts(s)).toHaveLength(tries < 3 ? 1 : 0); // the timeline shows the first three
});

it('a signup’s charge unknown to the MoR for two hours opens a review item, and Crossbill asks no more', () => {
  expect(open(notified(proving(), ok('unknown'), 2 * HOUR_MS - 1))).toEqual([]);
  const s = notified(proving(), ok('unknown'), 2 * HOUR_MS);
  expect(last(s)).toMatchObject({ mark: 'parked', proveDueAt: null });
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'signup_unproven', subject: 'pmt_1', paymentRowId: 'pmt_1' },
      fact: { code: 'charge-unknown', charge: 'ch_1' },
    },
  ]);
  const failed = notified(proving({ pendingSince: at(MINUTE_MS) }), ok('unknown'), 2 * HOUR_MS);
  expect(open(failed)[0]?.fact).toMatchObject({
    code: 'charge-unknown',
    charge: 'ch_1',
    knownSince: '2026-11-20T12:01:00.000Z',
  });
  expect(s.entries).toEqual([]);
});

it('the timeline shows a signup’s pending charge once, and Crossbill asks the MoR again after growing pauses', () => {
  const first = notified(proving(), ok('pending'));
  expect(last(first)).toMatchObject({
    mark: 'proving',
    pendingSince: at(0),
    proveDueAt: at(1_000),
    proveAttempts: 1,
  });
  expect(texts(first)).toEqual(['the MoR knows charge ch_1 but has not settled it; the mark waits for the settlement']);
  const after = (ms: number) => notified(proving({ pendingSince: at(0) }), ok('pending'), ms);
  const pauses = [1_000, 10_000, HOUR_MS, 9 * HOUR_MS].map(
    (ms) => (last(after(ms)).proveDueAt?.getTime() ?? 0) - at(ms).getTime(),
  );
  expect(pauses).toEqual([1_000, 5_000, HOUR_MS / 2, HOUR_MS]);
  expect([texts(after(HOUR_MS)), last(after(HOUR_MS)).pendingSince]).toEqual([[], at(0)]);
});

it('a signup’s charge pending for ten days opens a review item', () => {
  const after = (ms: number) => notified(proving({ pendingSince: at(0) }), ok('pending'), ms);
  expect(open(after(10 * DAY_MS - 1))).toEqual([]);
  const s = after(10 * DAY_MS);
  expect(last(s)).toMatchObject({ mark: 'parked', proveDueAt: null, pendingSince: at(0) });
  expect(open(s)[0]?.fact).toMatchObject({
    code: 'debit-unsettled',
    charge: 'ch_1',
    since: '2026-11-20T12:00:00.000Z',
  });
});

const accepted = (state: LaneState, how: string): LaneState =>
  decide(state, ctx(), (l) => accept(l, l.findPayment('pmt_1') ?? never(), how));

it('for a signup’s charge already booked, a proof adds no ledger entry and keeps the time of the charge', () => {
  const p = proving({ succeededAt: at(-1_000) });
  const s = accepted(known(p), 'ada confirmed it');
  expect(last(s)).toMatchObject({ mark: 'waiting', succeededAt: at(-1_000) });
  expect([s.entries, texts(s)]).toEqual([[], ['charge ch_1 is proven: ada confirmed it']]);
});

it('a signup’s charge of unknown amount stays unproven, even if the operator confirms the charge', () => {
  const s = known(proving({ amount: null }));
  expect(accepted(s, 'x')).toBe(s);
});

const chosen = (payment: PaymentRow, resolution: Resolution, about = 'pmt_1'): LaneState => {
  const s = openReview(known(beside, payment), ctx(), {
    ...{ kind: 'signup_unproven', subject: about, paymentRowId: about, fact: FACTS.signup_unproven },
  });
  const r: ReviewRow = s.reviews[0] ?? never();
  const done = choose(chooseUnproven, s, r, { resolution, note: null, by: 'ada' }, ctx(9_000));
  return 'code' in done ? never() : done;
};
const parked = proving({ mark: 'parked', proveDueAt: null, pendingSince: at(0) });

it('if the operator confirms an unproven charge, Crossbill books the payment', () => {
  const s = chosen(parked, 'apply');
  expect(last(s)).toMatchObject({ mark: 'waiting', status: 'succeeded', succeededAt: at(9_000) });
  expect([s.entries.length, texts(s).at(-1)]).toEqual([1, 'charge ch_1 is proven: ada confirmed it']);
  expect(s.payments[0]).toEqual(beside);
});

it('if the operator dismisses an unproven charge, Crossbill closes the payment without money', () => {
  const s = chosen(parked, 'dismiss');
  expect([last(s).mark, last(s).status, s.entries]).toEqual(['closed', 'failed', []]);
  expect(last(chosen(proving(), 'dismiss')).mark).toBe('proving');
});

it('if the operator retries an unproven charge, Crossbill asks the MoR immediately and waits ten more days', () => {
  expect(last(chosen({ ...parked, status: 'failed' }, 'retry'))).toMatchObject({
    ...{ mark: 'proving', status: 'processing', proveDueAt: at(9_000), pendingSince: null },
  });
});

it('a choice about an unproven charge of an unknown payment changes nothing', () => {
  for (const resolution of ['apply', 'dismiss', 'retry'] as const)
    expect(chosen(parked, resolution, 'pmt_9').payments).toEqual([beside, parked]);
});

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

it('Crossbill books a payment.succeeded event once, and the payment waits for its mark', () => {
  const { state, verdict: outcome } = applyEvent(applySucceeded, lane(), event(), ctx());
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
  expect(JSON.stringify(outcome)).toContain('29.90 EUR was taken, payment pay_1');
  const again = applyEvent(applySucceeded, state, event({ eventId: 'evt_2' }), ctx());
  expect([again.state.entries.length, kinds(again.state)]).toEqual([1, []]);
  expect(JSON.stringify(again.verdict)).toContain('already recorded');
});

it.each([{ amount: 1n }, { currency: 'USD' }, { customerId: 'cus_2' }])(
  'a repeated payment.succeeded event with %p opens a review item and changes no record',
  (over) => {
    const { state } = applyEvent(applySucceeded, lane(), event(), ctx());
    const notified = applyEvent(applySucceeded, state, event({ eventId: 'evt_2', ...over }), ctx()).state;
    expect(kinds(notified)).toEqual(['conflicting_event']);
    expect(notified.entries).toHaveLength(1);
    expect(notified.payments[0]).toMatchObject({ amount: 2990n, currency: 'EUR', customerId: 'cus_1' });
  },
);

it.each(['none', 'proving', 'closed'] as const)(
  'a payment.succeeded event moves a payment from the mark status %s to waiting',
  (mark) => {
    const known = payment({ mark, succeededAt: null, failureMessage: 'lost', declineCode: 'lost_card' });
    const { state } = applyEvent(applySucceeded, lane({}, known), event({ processorChargeId: null }), ctx());
    expect(state.payments).toMatchObject([
      { mark: 'waiting', processorChargeId: 'ch_1', failureMessage: null, declineCode: null },
    ]);
  },
);

it('a payment.succeeded event proves a charge in review, and closes its review item', () => {
  const parked = lane({}, payment({ mark: 'parked', status: 'processing', succeededAt: null }));
  const item = {
    kind: 'signup_unproven',
    subject: 'pmt_1',
    paymentRowId: 'pmt_1',
    fact: FACTS.signup_unproven,
  } as const;
  const taken = applyEvent(applySucceeded, openReview(parked, ctx(), item), event(), ctx()).state;
  const unproven = decide(taken, ctx(), declares(unprovenItems));
  expect([marks(unproven), kinds(unproven)]).toEqual([['waiting'], []]);
});

it('a payment keeps the reason of its newest refusal, in any order of the events', () => {
  const { state } = applyEvent(notPaid, lane(), failed(), ctx());
  expect(state.payments).toMatchObject([
    { mark: 'none', status: 'failed', declineCode: 'lost_card', failureMessage: 'lost', verdictAt: NOW },
  ]);
  expect(state.attempts).toMatchObject([{ outcome: 'failed' }]);
  const older = applyEvent(notPaid, state, failed({ eventId: 'evt_o', at: at(-1), declineCode: 'older' }), ctx()).state;
  expect(older.payments).toMatchObject([{ declineCode: 'lost_card' }]);
  const newer = applyEvent(notPaid, state, failed({ eventId: 'evt_n', at: at(1), declineCode: 'newer' }), ctx()).state;
  expect(newer.payments).toMatchObject([{ declineCode: 'newer', verdictAt: at(1) }]);
  const action = event({ type: 'payment.requires_action', status: 'requires_action', eventId: 'evt_a' });
  expect(applyEvent(notPaid, state, action, ctx()).state.payments).toMatchObject([{ status: 'failed' }]);
  const first = applyEvent(notPaid, lane(), action, ctx()).state;
  expect(applyEvent(notPaid, first, failed(), ctx()).state.payments).toMatchObject([{ status: 'failed' }]);
});

it('a late payment.failed event does not undo a success', () => {
  const { state } = applyEvent(applySucceeded, lane(), event(), ctx());
  const late = applyEvent(notPaid, state, failed({ at: at(9) }), ctx());
  expect(late.state.payments).toMatchObject([{ mark: 'waiting', status: 'succeeded', declineCode: null }]);
  expect(JSON.stringify(late.verdict)).toContain('late: the payment has succeeded (lost_card)');
  expect(late.state.invoice?.retries).toBeNull();
});

it('a payment.failed event disproves a signup’s charge only if the event is newer than the signup’s completion', () => {
  const proving = lane({}, payment({ mark: 'proving', succeededAt: null, origin: 'signup' }));
  const disproven = decide(
    applyEvent(notPaid, proving, failed({ at: at(1) }), ctx()).state,
    ctx(),
    declares(unprovenItems),
  );
  expect([marks(disproven), kinds(disproven), disproven.payments[0]?.status]).toEqual([
    ['parked'],
    ['signup_unproven'],
    'failed',
  ]);
  for (const e of [failed({ at: NOW }), failed({ at: at(1), type: 'payment.requires_action' })]) {
    const earlier = applyEvent(notPaid, proving, e, ctx());
    expect(marks(earlier.state)).toEqual(['proving']);
    expect(JSON.stringify(earlier.verdict)).toContain('late: an earlier attempt of the same intent');
  }
});

const refused = (payment: PaymentRow, when: Date, declineCode: string | null = 'no_account'): LaneState => {
  const names = { eventId: 'evt_f', paymentId: payment.paymentId ?? 'pay_1', declineCode, at: when };
  const e = aPaymentEvent({ type: 'payment.failed', status: 'failed', ...names });
  return applyEvent(notPaid, lane({}, payment), e, ctx()).state;
};

it('a payment refused after its success opens a review item, and keeps its mark', () => {
  const s = refused(payment(), at(60_000));
  expect(marks(s)).toEqual(['waiting']);
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'conflicting_event', subject: 'pmt_1', paymentRowId: 'pmt_1' },
      fact: {
        code: 'refused-after',
        payment: 'pay_1',
        takenAt: '2026-11-20T12:00:00.000Z',
        refusedAt: '2026-11-20T12:01:00.000Z',
        reason: 'no_account',
      },
    },
  ]);
  const signup = refused(payment({ origin: 'signup', paymentId: null }), at(60_000), null);
  expect(open(signup)[0]?.fact).toMatchObject({ code: 'refused-after', charge: 'ch_1' });
});

it('a payment refused after its success opens a review item even if the refusal arrives first', () => {
  const known = payment({ mark: 'none', status: 'failed', succeededAt: null, verdictAt: at(1), declineCode: 'lost' });
  const s = applyEvent(applySucceeded, lane({}, known), aPaymentEvent({ at: NOW }), ctx()).state;
  expect(open(s).map((r) => r.fact)).toMatchObject([{ code: 'refused-after', reason: 'lost' }]);
});

it('a refusal from before the success opens no review item', () => {
  for (const when of [NOW, at(-1)]) expect(open(refused(payment(), when))).toEqual([]);
  expect(open(refused(payment(), at(1)))).toHaveLength(1);
});

/** A charge of 29.90 EUR of a signup that the MoR captured; `over`: the payment in the books, `data`: more of the capture. */
const MONEY = { amount: '29.90', currency: 'EUR' };
const givenUp = { mark: 'closed', status: 'failed' } as const;
const capturedAt = { capturedAt: NOW.toISOString() };

it.each<[string, Partial<PaymentRow>, object, PaymentRow['mark'], boolean]>([
  ['with the same amount and charge lets the payment wait for its mark', {}, {}, 'waiting', true],
  ['with a different amount proves nothing', {}, { amount: { ...MONEY, amount: '29.91' } }, 'proving', false],
  ['with a different currency proves nothing', {}, { amount: { ...MONEY, currency: 'USD' } }, 'proving', false],
  ['without an amount proves nothing', {}, { amount: null }, 'proving', false],
  ['about a signup of unknown amount proves nothing', { amount: null }, {}, 'proving', false],
  ['about another charge proves nothing', { processorChargeId: 'ch_2' }, {}, 'proving', false],
  ['reopens a payment the operator closed', givenUp, {}, 'waiting', true],
  ['does not reopen a closed payment of a renewal', { ...givenUp, origin: 'renewal' }, {}, 'closed', false],
  ['does not reopen a closed payment with money', { mark: 'closed', succeededAt: NOW }, {}, 'closed', true],
  ['does not move a payment in review', { mark: 'parked' }, {}, 'parked', false],
  ['does not move a payment already marked', { mark: 'confirmed', succeededAt: NOW }, {}, 'confirmed', true],
  ['without a charge proves nothing', { processorChargeId: null }, { pspReference: null }, 'proving', false],
  ['older than the charge’s refusal proves nothing', { ...givenUp, verdictAt: at(1) }, capturedAt, 'closed', false],
  [
    'newer than the charge’s refusal reopens the payment',
    { ...givenUp, verdictAt: at(-1) },
    capturedAt,
    'waiting',
    true,
  ],
  [
    'in the same second as the charge’s refusal reopens the payment',
    { ...givenUp, verdictAt: NOW },
    capturedAt,
    'waiting',
    true,
  ],
])('a payment.captured event %s', (_, over, data, mark, isTaken) => {
  const s = known(proving(over));
  const e = channelEvent('payment.captured', { pspReference: 'ch_1', amount: MONEY, ...data });
  const p = last(decide(s, ctx(), (l) => learnFromCapture(l, e, null)));
  expect([p.mark, p.succeededAt !== null]).toEqual([mark, isTaken]);
});

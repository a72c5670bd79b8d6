// What the MoR says of a dispute or an alert: its payment, its deadline, its sum, and who won.
import { expect, it } from '@jest/globals';
import { outcomeIn, refundedIn } from '../../../../../../src/features/losses/disputes/rules/dispute.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { emptyLane } from '../../../../../../src/engine/context.js';
import { DISPUTE_NAMES_MOST } from '../../../../../../src/features/losses/disputes/rules/limits.js';
import { NOW } from '../../../../../support/builders/channel-lane.js';
import {
  aDispute,
  anAlert,
  asked,
  dismissed,
  later,
  minutesLater,
  paid,
  paidTwice,
  settleDisputes,
} from '../../../../../support/builders/disputed-lane.js';
import { SERVICE_READERS } from '../../../../../../src/core/mor-objects/event-rows.js';
import { parseMorServiceEvent } from '../../../../../../src/shared/domain/events/mor-service-event.js';

type Notified = { readonly s: LaneState; readonly said: string | null };

/** `minute`: when the MoR made the event; null: it did not say. It arrives an hour after noon. */
function tell(lane: LaneState, type: string, data: object, minute: number | null = 0): Notified {
  const created = minute === null ? {} : { created: minutesLater(minute).toISOString() };
  const parsed = parseMorServiceEvent(
    Buffer.from(JSON.stringify({ id: 'evt_1', type, ...created, data })),
    SERVICE_READERS,
  );
  if (parsed.usability !== 'usable') throw new Error(parsed.reason);
  const event = { family: 'channel', eventId: 'evt_1', type, event: parsed.event } as const;
  const { state, verdict: outcome } = applyEvent(lane, event, later(60));
  return { s: state, said: outcome.reason };
}
const outcome = (state: LaneState, said: string, minute: number | null = 0, more: object = {}): Notified =>
  tell(state, 'dispute.outcome', { disputeId: 'dp_1', outcome: said, ...more }, minute);
const needed = (state: LaneState, more: object = {}, minute: number | null = 0): Notified =>
  tell(state, 'dispute.action_needed', { disputeId: 'dp_1', ...more }, minute);
const sentBack = (state: LaneState, more: object = {}, minute: number | null = 0): Notified =>
  tell(state, 'dispute.revision_requested', { disputeId: 'dp_1', ...more }, minute);
const withRow = (row: MorObjectRow): LaneState => ({ ...paid(), objects: [row] });
const only = ({ s }: Notified): MorObjectRow => {
  const [o, ...more] = s.objects;
  if (o === undefined || more.length > 0) throw new Error(`${s.objects.length} objects`);
  return o;
};

it.each([
  [{ disputeId: 'dp_7', dispute: { id: 'dp_8' }, id: 'dp_9' }, 'dp_7'],
  [{ details: { dispute_id: 'dp_7' } }, 'dp_7'],
  [{ dispute: { id: 'dp_8', payment: 'pay_1' }, id: 'dp_9' }, 'dp_8'],
  [{ dispute: 'dp_8', id: 'dp_9' }, 'dp_9'],
  [{ dispute: { id: 'dp_8' }, payment: 'pay_1' }, 'dp_8'],
  [{ id: 'dp_9', payment: 'pay_1' }, 'dp_9'],
  [{ id: 9, payment: 'pay_1' }, 'pay_1'],
  [{ payment: 'ch_1' }, 'pay_1'],
  [{}, 'pay_1'],
])('a dispute event with the ids %j belongs to dispute %s', (data, morId) => {
  expect(only(tell(paid(), 'dispute.action_needed', data))).toMatchObject({ kind: 'dispute', morId });
});

it('a dispute without an id takes and keeps the id of its payment, or of its first event if the payment is unknown', () => {
  expect(only(tell(emptyLane('in_1'), 'dispute.action_needed', {}))).toMatchObject({
    ...{ morId: 'evt_1', paymentRowId: null, invoiceId: 'in_1' },
  });
  const first = tell(paid({ paymentId: null }), 'dispute.action_needed', { payment: 'ch_1' });
  expect(only(first).morId).toBe('pmt_1');
  const named = { ...paid(), objects: first.s.objects };
  expect(only(tell(named, 'dispute.outcome', { payment: 'pay_1', outcome: 'won' }))).toMatchObject({
    ...{ morId: 'pmt_1', status: 'won' },
  });
  const second = tell(withRow(aDispute()), 'dispute.action_needed', { payment: 'pay_1' });
  expect(second.s.objects.map((o) => o.morId)).toEqual(['dp_1', 'pay_1']);
  const alert = tell(named, 'pre_chargeback_alert.received', { payment: 'pay_1' });
  expect(alert.s.objects.map((o) => [o.kind, o.morId])).toEqual([
    ['dispute', 'pmt_1'],
    ['alert', 'pay_1'],
  ]);
});

it.each([
  [{ alertId: 'al_7' }, 'al_7'],
  [{ alert_id: 'al_7' }, 'al_7'],
  [{ preChargebackAlertId: 'al_7' }, 'al_7'],
  [{ alert: { id: 'al_8' }, id: 'al_9' }, 'al_8'],
  [{ id: 'al_9' }, 'al_9'],
  [{ disputeId: 'dp_1' }, 'pay_1'],
])('an alert event with the ids %j belongs to alert %s', (data, morId) => {
  expect(only(tell(paid(), 'pre_chargeback_alert.received', data))).toMatchObject({ kind: 'alert', morId });
});

it('the later of two dispute outcomes counts, in any order of arrival', () => {
  const lost = outcome(paid(), 'lost', 5);
  expect(lost.said).toBe('dispute dp_1 is decided: lost');
  expect(only(lost)).toMatchObject({
    ...{ status: 'lost', paymentRowId: 'pmt_1', updatedAt: minutesLater(60) },
    detail: { outcome: 'lost', outcomeAt: minutesLater(5).toISOString() },
  });
  expect(only(outcome(lost.s, 'won', 6))).toMatchObject({
    ...{ status: 'won', detail: { outcome: 'won', outcomeAt: minutesLater(6).toISOString() } },
  });
  const late = outcome(lost.s, 'won', 4);
  expect(late.said).toBe('dispute dp_1 is lost: this outcome changes nothing');
  expect(only(late)).toMatchObject({ status: 'lost', detail: { outcome: 'lost' } });
});

it('if a won and a lost outcome of a dispute have the same time, the win counts', () => {
  expect(only(outcome(outcome(paid(), 'lost', 5).s, 'won', 5)).status).toBe('won');
  expect(only(outcome(outcome(paid(), 'won', 5).s, 'lost', 5)).status).toBe('won');
});

it('the outcome won or lost of a dispute counts over an unclear outcome, even if the unclear outcome is newer', () => {
  for (const clear of ['won', 'lost']) {
    expect(only(outcome(outcome(paid(), clear, 5).s, 'closed', 9))).toMatchObject({ status: clear });
    expect(only(outcome(outcome(paid(), 'closed', 5).s, clear, 4))).toMatchObject({ status: clear });
  }
  const silent = tell(paid(), 'dispute.outcome', { disputeId: 'dp_1' });
  expect(silent.said).toBe('dispute dp_1 is decided: no outcome given');
  expect(only(silent)).toMatchObject({ status: 'decided', detail: { outcome: null } });
});

it('a dispute outcome without a time counts from its arrival', () => {
  expect(only(outcome(paid(), 'lost', null)).detail.outcomeAt).toBe(minutesLater(60).toISOString());
  const lost = outcome(paid(), 'lost', 59).s;
  expect(only(outcome(lost, 'won', null)).status).toBe('won');
});

it.each([
  ['dp_1', needed(paid(), {}, 600)],
  ['dp_1:revision', sentBack(paid(), {}, 600)],
  ['dp_1:decided', outcome(paid(), 'closed', 600)],
  ['dp_1:lost', outcome(paid(), 'lost', 600)],
])(
  "if the operator dismisses the dispute item %s, the item stays closed even if the MoR's clock is hours ahead",
  (subject, { s }) => {
    const settled = settleDisputes(s, later(60));
    expect(asked(settled)).toEqual([subject]);
    expect(asked(settleDisputes(dismissed(settled, subject), later(61)))).toEqual([]);
  },
);

it('a late dispute outcome, older than the known outcome, still adds the payment and the dashboard link', () => {
  const unplaced = withRow(
    aDispute({ status: 'lost', paymentRowId: null, detail: { outcomeAt: minutesLater(5).toISOString() } }),
  );
  const late = outcome(unplaced, 'won', 4, { charge: 'ch_1', dashboard: 'https://mor.example/dp_1' });
  expect(only(late)).toMatchObject({
    ...{ status: 'lost', paymentRowId: 'pmt_1', url: 'https://mor.example/dp_1', detail: { names: ['ch_1'] } },
  });
});

it('an open dispute keeps its deadline and reviewer note until an event brings a new deadline or note', () => {
  const raised = needed(paid(), { deadline: '2026-12-01T00:00:00Z' });
  expect(raised.said).toBe('evidence for dispute dp_1, due by 2026-12-01 00:00 UTC; the invoice stays as it is');
  expect(only(raised)).toMatchObject({
    ...{ status: 'action_needed', deadline: new Date('2026-12-01T00:00:00Z') },
    detail: { saidAt: NOW.toISOString(), reviewerNote: null },
  });
  const back = sentBack(raised.s, { reviewerNote: 'page 2 is missing' }, 1);
  expect(only(back)).toMatchObject({
    ...{ status: 'revision_requested', deadline: new Date('2026-12-01T00:00:00Z') },
    detail: { reviewerNote: 'page 2 is missing', saidAt: minutesLater(1).toISOString() },
  });
  const again = sentBack(back.s, { deadline: '2026-12-05T00:00:00Z' }, 2);
  expect(only(again)).toMatchObject({
    ...{ deadline: new Date('2026-12-05T00:00:00Z'), detail: { reviewerNote: 'page 2 is missing' } },
  });
  expect(needed(paid()).said).toBe('evidence for dispute dp_1, no deadline given; the invoice stays as it is');
});

it.each([{ reviewerNote: 'blurred' }, { note: 'blurred' }, { review: { reviewNote: 'blurred' } }])(
  "if the MoR returns a dispute's evidence with the data %j, the dispute keeps the reviewer's note",
  (data) => {
    expect(only(sentBack(paid(), data)).detail.reviewerNote).toBe('blurred');
  },
);

it('a late older event changes neither status nor deadline of an open dispute; an event of the same time changes the status', () => {
  const back = sentBack(paid(), { deadline: '2026-12-05T00:00:00Z' }, 5);
  const late = needed(back.s, { deadline: '2026-12-01T00:00:00Z', payment: 'pay_1' }, 4);
  expect(late.said).toBe('late event: dispute dp_1 is revision_requested');
  expect(only(late)).toMatchObject({
    ...{ status: 'revision_requested', deadline: new Date('2026-12-05T00:00:00Z'), detail: { names: ['pay_1'] } },
  });
  expect(only(needed(back.s, {}, 5)).status).toBe('action_needed');
  expect(only(needed(back.s, {}, null))).toMatchObject({
    ...{ status: 'action_needed', detail: { saidAt: minutesLater(60).toISOString() } },
  });
});

it.each(['won', 'lost'])(
  "a late older event about a %s dispute adds the deadline and the payment's id, and the outcome stays",
  (said) => {
    const late = needed(outcome(paid(), said, 5).s, { deadline: '2026-12-01T00:00:00Z', charge: 'ch_1' }, 4);
    expect(late.said).toBe(`late event: dispute dp_1 is ${said}`);
    const deadline = new Date('2026-12-01T00:00:00Z');
    expect(only(late)).toMatchObject({ status: said, deadline, detail: { names: ['ch_1'] } });
    expect(needed(outcome(paid(), said, 5).s, {}, 5).said).toBe(`late event: dispute dp_1 is ${said}`);
  },
);

it('a request for evidence after an unclear outcome reopens the dispute, in either order of arrival', () => {
  const wanted = { deadline: '2026-12-05T00:00:00Z', reviewerNote: 'blurred' };
  const closed = outcome(paid(), 'arbitration', 5).s;
  const back = sentBack(closed, wanted, 6);
  expect(back.said).toBe('evidence for dispute dp_1, due by 2026-12-05 00:00 UTC; the invoice stays as it is');
  const ends = [back, outcome(sentBack(paid(), wanted, 6).s, 'arbitration', 5)];
  for (const end of ends) {
    expect(only(end)).toMatchObject({
      ...{ status: 'revision_requested', deadline: new Date('2026-12-05T00:00:00Z') },
      detail: { outcome: 'arbitration', outcomeAt: minutesLater(5).toISOString(), reviewerNote: 'blurred' },
    });
    expect(only(outcome(end.s, 'closed', 7))).toMatchObject({ status: 'decided', detail: { outcome: 'closed' } });
    expect(only(outcome(end.s, 'closed', 4))).toMatchObject({
      ...{ status: 'revision_requested', detail: { outcome: 'arbitration' } },
    });
    expect(only(outcome(end.s, 'lost', 7)).status).toBe('lost');
  }
  expect(only(needed(closed, {}, 6)).status).toBe('action_needed');
  expect(only(needed(closed, {}, 5)).status).toBe('decided');
});

it.each(['won', 'lost'])(
  'a dispute stays %s after a later request for evidence, and takes the deadline of the request',
  (said) => {
    const wanted = { deadline: '2026-12-05T00:00:00Z' };
    const back = sentBack(outcome(paid(), said, 5).s, wanted, 6);
    expect(back.said).toBe('evidence for dispute dp_1, due by 2026-12-05 00:00 UTC; the invoice stays as it is');
    for (const end of [back, outcome(sentBack(paid(), wanted, 6).s, said, 5)]) {
      expect(only(end)).toMatchObject({
        ...{ status: said, deadline: new Date('2026-12-05T00:00:00Z') },
        detail: { stage: 'revision_requested', saidAt: minutesLater(6).toISOString() },
      });
    }
  },
);

const amount = (text: string, currency = 'EUR'): object => ({ amount: { amount: text, currency } });

it('the newest amount of a dispute counts, in any order of arrival', () => {
  const first = needed(paid(), amount('20.00'), 5);
  expect(only(first)).toMatchObject({
    ...{ amount: 2000n, currency: 'EUR', detail: { amountAt: minutesLater(5).toISOString() } },
  });
  expect(only(needed(first.s, amount('12.00', 'USD'), 6))).toMatchObject({ amount: 1200n, currency: 'USD' });
  expect(only(needed(first.s, amount('25.00'), 4))).toMatchObject({ amount: 2000n });
  expect(only(needed(first.s, {}, 9))).toMatchObject({
    ...{ amount: 2000n, currency: 'EUR', detail: { amountAt: minutesLater(5).toISOString() } },
  });
});

it('the larger of two dispute amounts with the same time counts', () => {
  const first = needed(paid(), amount('20.00'), 5);
  expect(only(needed(first.s, amount('19.99'), 5))).toMatchObject({ amount: 2000n });
  expect(only(needed(first.s, amount('20.01'), 5))).toMatchObject({ amount: 2001n });
});

it('a dispute belongs to the payment named in its first event, and to no payment if that event names none of two payments', () => {
  expect(only(needed(paidTwice())).paymentRowId).toBeNull();
  const second = needed(paidTwice(), { charge: 'ch_2' });
  expect(only(second).paymentRowId).toBe('pmt_2');
  expect(only(needed(second.s, { charge: 'ch_1' }, 1)).paymentRowId).toBe('pmt_2');
  expect(only(needed(paid({ succeededAt: null })))).toMatchObject({ morId: 'dp_1', paymentRowId: null });
});

it('a dispute stores each id of its payment one time, in alphabetical order, and at most twenty ids', () => {
  const first = needed(paid(), { payment: { paymentIntentId: 'pi_1' }, chargeId: 'ch_1', pspReference: 'ch_1' });
  expect(only(first).detail.names).toEqual(['ch_1', 'pi_1']);
  expect(only(needed(first.s, { paymentReference: 'a_1', processorPaymentIntentId: 'z_1' }, 1)).detail.names).toEqual([
    'a_1',
    'ch_1',
    'pi_1',
    'z_1',
  ]);
  const names = Array.from({ length: DISPUTE_NAMES_MOST }, (_, n) => `ch_${String(n).padStart(2, '0')}`);
  const full = withRow(aDispute({ detail: { names } }));
  expect(only(needed(full, { charge: 'zz_1' })).detail.names).toEqual(names);
  expect(only(needed(full, { charge: 'aa_1' })).detail.names).toEqual(['aa_1', ...names.slice(0, -1)]);
});

it('a dispute keeps the link to its dashboard page until an event has a new link', () => {
  const first = needed(paid(), { dashboardUrl: 'https://mor.example/1' });
  expect(only(needed(first.s, {}, 1)).url).toBe('https://mor.example/1');
  expect(only(needed(first.s, { dashboardUrl: 'https://mor.example/2' }, 1)).url).toBe('https://mor.example/2');
});

const received = (state: LaneState, more: object = {}): Notified =>
  tell(state, 'pre_chargeback_alert.received', { alertId: 'al_1', ...more });
const handled = (state: LaneState, more: object = {}): Notified =>
  tell(state, 'pre_chargeback_alert.outcome', { alertId: 'al_1', ...more });

it('an alert keeps its deadline until a new deadline arrives', () => {
  const first = received(paid(), { deadline: '2026-11-22T00:00:00Z' });
  expect(first.said).toBe('alert al_1; the invoice stays as it is');
  expect(only(first)).toMatchObject({
    ...{ kind: 'alert', status: 'received', paymentRowId: 'pmt_1', deadline: new Date('2026-11-22T00:00:00Z') },
  });
  expect(only(received(first.s)).deadline).toEqual(new Date('2026-11-22T00:00:00Z'));
  expect(only(received(first.s, { deadline: '2026-11-23T00:00:00Z' })).deadline).toEqual(
    new Date('2026-11-23T00:00:00Z'),
  );
});

it('a handled alert stores whether the payment was refunded, or null if the final event does not say so', () => {
  const notified: [object, boolean | null, string][] = [
    [{ refunded: true }, true, 'alert al_1: the payment was refunded'],
    [{ refunded: false }, false, 'alert al_1: not refunded'],
    [{}, null, 'alert al_1: handled'],
  ];
  for (const [data, refunded, said] of notified) {
    const done = handled(withRow(anAlert()), data);
    expect([done.said, only(done).status, only(done).detail.refunded]).toEqual([said, 'handled', refunded]);
  }
});

it('a handled alert stays handled if its first event arrives late', () => {
  const late = received(handled(paid(), { refunded: true }).s, { deadline: '2026-11-22T00:00:00Z' });
  expect(only(late)).toMatchObject({ status: 'handled', detail: { refunded: true } });
});

import { applyEvent } from '../../../../../support/rigs/decide.js';

it.each(['Won', 'merchant_won', 'Merchant won'])('Crossbill reads the dispute outcome %s as won', (said) => {
  expect(outcomeIn({ outcome: said })).toEqual({ outcome: 'won', said });
});

it.each(['Lost', 'MERCHANT_LOST'])('Crossbill reads the dispute outcome %s as lost', (said) => {
  expect(outcomeIn({ outcome: said })).toEqual({ outcome: 'lost', said });
});

it.each(['', 'won?', '未won', 'wonderful', 'not lost', 'won, then lost', 'accepted', 'reversed', 'constructor'])(
  'Crossbill reads the unclear dispute outcome %p as neither won nor lost',
  (said) => {
    expect(outcomeIn({ outcome: said }).outcome).toBe('decided');
  },
);

it(`Crossbill looks for a dispute's outcome in several fields, and first in "outcome"`, () => {
  expect(outcomeIn({ result: 'lost' })).toEqual({ outcome: 'lost', said: 'lost' });
  expect(outcomeIn({ resolution: 'WON' })).toEqual({ outcome: 'won', said: 'WON' });
  expect(outcomeIn({ status: 'lost' })).toEqual({ outcome: 'lost', said: 'lost' });
  expect(outcomeIn({ status: 'closed', dispute: { outcome: 'won' } })).toEqual({ outcome: 'won', said: 'won' });
  expect(outcomeIn({ disputeId: 'won' })).toEqual({ outcome: 'decided', said: null });
});

it.each([
  [{ refunded: true }, true],
  [{ payment_refunded: true, outcome: 'not refunded' }, true],
  [{ outcome: 'REFUNDED' }, true],
  [{ refunded: false }, false],
  [{ paymentRefunded: false, outcome: 'refunded' }, false],
  [{ outcome: 'NOT_REFUNDED' }, false],
  [{}, null],
  [{ refunded: 1 }, null],
  [{ outcome: 'closed' }, null],
  [{ outcome: 'refund pending' }, null],
])('Crossbill reads the alert outcome %j as refunded: %s (null means unknown)', (data, refunded) => {
  expect(refundedIn(data)).toBe(refunded);
});

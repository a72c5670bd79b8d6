// What a person is asked about disputes and alerts, by when, and what closes without them.
import { never } from '../../../../../support/never.js';
import { expect, it } from '@jest/globals';
import { eur } from '../../../../../support/builders/channel-object.js';
import { type LaneState } from '../../../../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../../../../src/shared/domain/refund-row.js';
import { type MorObjectRow } from '../../../../../../src/shared/domain/mor-object.js';
import { putRefund, putObject } from '../../../../../support/builders/put-rows.js';
import { ALERT_TIMEOUT_MS } from '../../../../../../src/features/losses/disputes/rules/limits.js';
import { newRefund } from '../../../../../../src/core/refunds/rules/refund.js';
import { open, NOW } from '../../../../../support/builders/channel-lane.js';
import {
  aDispute,
  asked,
  closed,
  dismissed,
  goesOn,
  later,
  minutesLater,
  only,
  paid,
  paidTwice,
  settleDisputes,
  withThem,
  anAlert,
} from '../../../../../support/builders/disputed-lane.js';
import { aKind, FACTS } from '../../../../../support/builders/item-facts.js';
import { disputedOf, showDisputed } from '../../../../../../src/shared/domain/dispute-sum.js';
import { closeReviews, openReview } from '../../../../../support/rigs/decide.js';

const DUE = new Date('2026-12-01T00:00:00Z');
const URL = 'https://mor.example/dp_1';
/** Given back to the customer at that time. */
function refundOf(state: LaneState, amount: bigint, succeededAt: Date): LaneState {
  const [p = never()] = state.payments;
  return putRefund(state, {
    ...newRefund(later(0), p, { amount, reason: null, origin: 'event' }),
    status: 'succeeded',
    succeededAt,
  });
}

it('the review item of an open dispute names the amount, the deadline and the dashboard page', () => {
  const item = only(withThem(paid(), [aDispute({ deadline: DUE, url: URL, amount: 1000n, currency: 'EUR' })]));
  expect(item).toMatchObject({
    ...{ kind: 'dispute', subject: 'dp_1', paymentRowId: 'pmt_1', dueAt: DUE, invoiceId: 'in_1' },
    fact: { code: 'evidence-due', dispute: 'dp_1', until: '2026-12-01T00:00:00.000Z', amount: eur(1000n) },
  });
  const bare = only(withThem(paid(), [aDispute({ morId: null })]));
  expect(bare).toMatchObject({
    ...{ subject: 'dsp_1', dueAt: null },
    fact: { code: 'evidence-due', dispute: 'dsp_1', amount: eur(2990n) },
  });
});

it(`the review item of a dispute without a usable amount names the payment's amount, or just "a payment"`, () => {
  const sum = (state: LaneState, over: Partial<MorObjectRow>): string =>
    showDisputed(disputedOf(state, withThem(state, [aDispute(over)]).objects[0] ?? never()));
  expect(sum(paid(), { amount: 1000n })).toBe('29.90 EUR');
  expect(sum(paid(), { currency: 'USD' })).toBe('29.90 EUR');
  expect(sum(paid({ amount: null }), {})).toBe('a payment');
  expect(sum(paidTwice(), { paymentRowId: null })).toBe('a payment');
  expect(sum(paidTwice({ amount: 1990n }), { paymentRowId: 'pmt_2' })).toBe('19.90 EUR');
});

it("if the MoR returns evidence, a review item with the reviewer's note opens and the item of the first request closes", () => {
  const s = withThem(paid(), [aDispute({ deadline: DUE })]);
  const back = goesOn(s, { status: 'revision_requested', url: URL, detail: { reviewerNote: 'page 2 is missing' } });
  expect(only(back)).toMatchObject({
    ...{ kind: 'dispute', subject: 'dp_1:revision', paymentRowId: 'pmt_1', dueAt: DUE },
    fact: { code: 'evidence-returned', dispute: 'dp_1', until: '2026-12-01T00:00:00.000Z', note: 'page 2 is missing' },
  });
  expect(Object.keys(closed(back))).toEqual(['dp_1']);
  const bare = goesOn(s, { status: 'revision_requested', deadline: null });
  expect(only(bare)).toMatchObject({
    dueAt: null,
    fact: { code: 'evidence-returned', dispute: 'dp_1', url: null, until: null },
  });
});

it('a lost dispute opens a review item about the money and closes the items about evidence', () => {
  const back = goesOn(withThem(paid(), [aDispute()]), { status: 'revision_requested' });
  const lost = goesOn(back, { status: 'lost', amount: 2000n, currency: 'EUR' }, 9);
  expect(only(lost)).toMatchObject({
    ...{ kind: 'dispute', subject: 'dp_1:lost', paymentRowId: 'pmt_1', dueAt: null },
    fact: { code: 'dispute-lost', dispute: 'dp_1', amount: eur(2000n), twice: null, bookedSince: false, apart: null },
  });
  expect(Object.keys(closed(lost))).toEqual(['dp_1', 'dp_1:revision']);
  const nameless = only(withThem(paid(), [aDispute({ morId: null, status: 'lost' })]));
  expect(nameless?.fact).toMatchObject({ code: 'dispute-lost', dispute: 'dsp_1' });
});

it("if a lost dispute's payment was also refunded, the review item names the amount that the customer got twice", () => {
  const dispute = aDispute({ status: 'lost', amount: 2990n, currency: 'EUR' });
  const given = only(withThem(paid({ amountRefunded: 2990n, status: 'refunded' }), [dispute]));
  expect(given).toMatchObject({
    subject: 'dp_1:lost',
    fact: {
      code: 'dispute-lost',
      dispute: 'dp_1',
      amount: eur(2990n),
      twice: { payment: 'pay_1', how: 'refunded', got: eur(2990n), booked: eur(0n) },
      bookedSince: false,
      apart: null,
    },
  });
  const lost = withThem(paid(), [dispute]);
  const refunded = (amountRefunded: bigint, state = lost): LaneState =>
    withThem({ ...state, payments: state.payments.map((p) => ({ ...p, amountRefunded })) }, [], 5);
  expect(open(refunded(2990n))).toMatchObject([{ id: only(lost)?.id, fact: given?.fact }]);
  expect(only(refunded(990n))).toMatchObject({
    fact: {
      code: 'dispute-lost',
      twice: { payment: 'pay_1', how: 'refunded', got: eur(990n), booked: eur(2000n) },
      bookedSince: false,
      apart: null,
    },
  });
  // Also when the loss was dealt with before the refund became known.
  expect(open(refunded(2990n, dismissed(lost, 'dp_1:lost')))).toMatchObject([{ fact: given?.fact }]);
  const part = withThem(paid({ amountRefunded: 990n }), [{ ...dispute, amount: 2000n }]);
  expect(only(part)?.fact).toMatchObject({
    code: 'dispute-lost',
    dispute: 'dp_1',
    amount: eur(2000n),
    twice: null,
    bookedSince: false,
    apart: null,
  });
  const other = withThem(lost, [{ ...dispute, id: 'dsp_2', morId: 'dp_2' }], 5);
  expect(open(other)[1]?.fact).toMatchObject({
    code: 'dispute-lost',
    amount: eur(2990n),
    twice: { payment: 'pay_1', how: 'taken-back', got: eur(2990n), booked: eur(0n) },
    bookedSince: false,
    apart: null,
  });
  const onceAgain = withThem(
    dismissed(other, 'dp_1:lost'),
    [{ ...dispute, id: 'dsp_2', morId: 'dp_2', status: 'won' }],
    9,
  );
  expect(asked(onceAgain)).toEqual([]);
});

it('if the MoR gives no amount, the review item of a lost dispute names the amount that the ledger booked', () => {
  const outcomeAt = minutesLater(2).toISOString();
  const unsaid = aDispute({ status: 'lost', detail: { outcomeAt } });
  const before = withThem(refundOf(paid({ amountRefunded: 990n }), 990n, minutesLater(1)), [unsaid]);
  expect(before.entries).toMatchObject([{ reason: 'dispute_lost', amount: { minor: 2000n } }]);
  expect(only(before)).toMatchObject({
    fact: { code: 'dispute-lost', dispute: 'dp_1', amount: eur(2000n), twice: null, bookedSince: false, apart: null },
  });
  const after = withThem(refundOf(paid({ amountRefunded: 990n }), 990n, minutesLater(3)), [unsaid]);
  expect(only(after)?.fact).toMatchObject({
    code: 'dispute-lost',
    dispute: 'dp_1',
    amount: eur(2990n),
    twice: { payment: 'pay_1', how: 'refunded', got: eur(990n), booked: eur(2000n) },
    bookedSince: false,
    apart: null,
  });
  const more = only(withThem(paid(), [aDispute({ status: 'lost', amount: 9000n, currency: 'EUR' })]));
  expect(more?.fact).toMatchObject({
    code: 'dispute-lost',
    dispute: 'dp_1',
    amount: eur(2990n),
    twice: null,
    bookedSince: false,
    apart: null,
  });
  const two = withThem(paid(), [
    aDispute({ status: 'lost' }),
    aDispute({ id: 'dsp_2', morId: 'dp_2', status: 'lost' }),
  ]);
  expect(open(two).filter((r) => r.fact.code === 'dispute-lost' && r.fact.twice === null)).toHaveLength(1);
});

it("the review item of an unclear dispute outcome quotes the MoR's words and asks who won", () => {
  const s = goesOn(withThem(paid(), [aDispute()]), { status: 'decided', detail: { outcome: 'ARBITRATION' } });
  expect(only(s)).toMatchObject({
    ...{ kind: 'dispute', subject: 'dp_1:decided', paymentRowId: 'pmt_1', dueAt: null },
    fact: { code: 'outcome-unclear', dispute: 'dp_1', outcome: 'ARBITRATION' },
  });
  expect(Object.keys(closed(s))).toEqual(['dp_1']);
  expect(s.entries).toEqual([]);
  expect(only(withThem(paid(), [aDispute({ status: 'decided' })]))?.fact).toMatchObject({ outcome: null });
});

it('a request for evidence after an unclear outcome opens a review item, even if an operator dismissed an earlier request', () => {
  const at = (minute: number): string => minutesLater(minute).toISOString();
  const detail = { outcome: 'arbitration', outcomeAt: at(5), stage: 'revision_requested', saidAt: at(6) } as const;
  const before = goesOn(withThem(paid(), [aDispute()]), { status: 'revision_requested', deadline: DUE });
  const decided = goesOn(dismissed(before, 'dp_1:revision'), {
    status: 'decided',
    detail: { outcome: 'arbitration' },
  });
  const again = goesOn(dismissed(decided, 'dp_1:decided'), { status: 'revision_requested', detail });
  expect(only(again)).toMatchObject({
    ...{ subject: 'dp_1:revision', dueAt: DUE },
    fact: {
      code: 'evidence-returned',
      dispute: 'dp_1',
      until: '2026-12-01T00:00:00.000Z',
      afterOutcome: 'arbitration',
    },
  });
  const needed = goesOn(decided, { status: 'action_needed', detail: { ...detail, stage: 'action_needed' } });
  expect(asked(needed)).toEqual(['dp_1']);
  expect(Object.keys(closed(needed))).toContain('dp_1:decided');
});

it('a request for evidence opens its own review item: next to the item about a loss, and alone after a win', () => {
  const at = (minute: number): string => minutesLater(minute).toISOString();
  for (const stage of ['action_needed', 'revision_requested'] as const) {
    const s = withThem(paid(), [aDispute({ deadline: DUE })]);
    const subject = stage === 'action_needed' ? 'dp_1' : 'dp_1:revision';
    const detail = { outcome: 'lost', outcomeAt: at(5), stage, saidAt: at(6) } as const;
    const lost = goesOn(s, { status: 'lost', detail });
    expect(asked(lost).toSorted()).toEqual([subject, 'dp_1:lost'].toSorted());
    expect(lost.entries).toMatchObject([{ reason: 'dispute_lost', amount: { minor: 2990n } }]);
    expect(withThem(lost, [], 9)).toEqual(lost);
    const won = goesOn(s, { status: 'won', detail: { ...detail, outcome: 'won' } });
    expect(only(won)).toMatchObject({
      subject,
      dueAt: DUE,
      fact: { afterOutcome: 'won' },
    });
    const over = goesOn(won, { detail: { ...detail, outcomeAt: at(7) } }, 9);
    expect(open(over)).toEqual([]);
  }
});

it('a won dispute closes its review items and opens none', () => {
  for (const status of ['action_needed', 'revision_requested', 'lost', 'decided']) {
    const won = goesOn(withThem(paid(), [aDispute({ status })]), { status: 'won' });
    expect(open(won)).toEqual([]);
    expect(Object.keys(closed(won))).toHaveLength(1);
  }
  expect(withThem(paid(), [aDispute({ status: 'won' })]).reviews).toEqual([]);
  expect(withThem(paid(), [aDispute({ status: 'UNKNOWN' })]).reviews).toEqual([]);
});

it('a win after a loss opens a review item about the reversal only if an operator dismissed the item of the loss', () => {
  const lost = withThem(paid(), [aDispute({ status: 'lost', amount: 2000n, currency: 'EUR' })]);
  const won = goesOn(dismissed(lost, 'dp_1:lost'), { status: 'won' });
  expect(only(won)).toMatchObject({
    ...{ kind: 'dispute', subject: 'dp_1:won', paymentRowId: 'pmt_1' },
    fact: { code: 'won-after-loss', dispute: 'dp_1', reversed: true, beside: false, amount: eur(2000n) },
  });
  expect(asked(settleDisputes(won, later(9)))).toEqual(['dp_1:won']);
  expect(asked(goesOn(lost, { status: 'won' }))).toEqual([]);
  const other = withThem(lost, [aDispute({ id: 'dsp_2', morId: 'dp_2', status: 'lost' })]);
  // Nobody dealt with the loss of dp_1. That of dp_2 was dealt with as 9.90, and takes what dp_1 gave back.
  const grown = goesOn(dismissed(other, 'dp_2:lost'), { status: 'won' });
  expect(open(grown).map((r) => r.fact)).toMatchObject([{ code: 'dispute-lost', dispute: 'dp_2', twice: null }]);
  const otherKind = openReview(paid(), later(0), {
    kind: 'effect_failed',
    subject: 'dp_1:lost',
    fact: FACTS.effect_failed,
  });
  expect(withThem(dismissed(otherKind, 'dp_1:lost'), [aDispute({ status: 'won' })]).reviews).toHaveLength(1);
  const again = goesOn(won, { status: 'lost' }, 12);
  expect(Object.keys(closed(again))).toEqual(['dp_1:won']);
  const unnamed = dismissed(withThem(paid(), [aDispute({ morId: null, status: 'lost' })]), 'dsp_1:lost');
  expect(only(goesOn(unnamed, { status: 'won' }))?.fact).toMatchObject({
    code: 'won-after-loss',
    dispute: 'dsp_1',
    reversed: true,
    beside: false,
  });
});

it('each new outcome of a dispute opens a review item, even after an operator dismissed the item of the previous outcome', () => {
  const round = (state: LaneState, status: string, minute: number, outcome: string | null = null): LaneState => {
    const at = minutesLater(minute).toISOString();
    const detail = { ...state.objects[0]?.detail, outcome, outcomeAt: at, outcomeHeardAt: at };
    return goesOn(state, { status, detail }, minute);
  };
  const sum = { amount: 2000n, currency: 'EUR' } as const;
  let s = withThem(paid(), [aDispute({ ...sum, status: 'lost' })]);
  const said: unknown[] = [];
  for (const [n, status] of ['won', 'lost', 'won', 'lost'].entries()) {
    const before = status === 'won' ? 'dp_1:lost' : 'dp_1:won';
    s = round(dismissed(s, before), status, 5 * (n + 1));
    expect(asked(s)).toEqual([`dp_1:${status}`]);
    said.push(only(s)?.fact);
    expect(open(settleDisputes(dismissed(s, `dp_1:${status}`), later(60)))).toEqual([]);
  }
  const amount = eur(2000n);
  const codes = ['won-after-loss', 'dispute-lost', 'won-after-loss', 'dispute-lost'];
  expect(said).toMatchObject(codes.map((code) => ({ code, dispute: 'dp_1', amount })));
  const closedOnce = dismissed(round(withThem(paid(), [aDispute()]), 'decided', 5, 'closed'), 'dp_1:decided');
  const wanted = { saidAt: minutesLater(6).toISOString(), stage: 'revision_requested' } as const;
  const back = goesOn(
    closedOnce,
    { status: 'revision_requested', detail: { ...closedOnce.objects[0]?.detail, ...wanted } },
    6,
  );
  const closedAgain = round(dismissed(back, 'dp_1:revision'), 'decided', 9, 'closed');
  expect(only(closedAgain)?.fact).toMatchObject({ code: 'outcome-unclear', dispute: 'dp_1', outcome: 'closed' });
});

it('a change of one dispute closes no review item of another dispute or another kind', () => {
  const two = withThem(paid(), [aDispute(), aDispute({ id: 'dsp_2', morId: 'dp_2' })]);
  const s = openReview(two, later(0), { ...aKind('conflicting_event'), subject: 'dp_1' });
  for (const status of ['won', 'lost', 'decided', 'revision_requested']) {
    const left = open(goesOn(s, { status })).filter((r) => !r.subject.startsWith('dp_1:'));
    expect(left.map((r) => [r.kind, r.subject])).toEqual([
      ['dispute', 'dp_2'],
      ['conflicting_event', 'dp_1'],
    ]);
  }
});

const placed = (state: LaneState, object: MorObjectRow): string | null | undefined =>
  withThem(state, [object]).objects[0]?.paymentRowId;
const unplaced = (names: string[]): MorObjectRow => aDispute({ paymentRowId: null, detail: { names } });

it.each(['pay_2', 'pmt_2', 'ch_2', 'pi_2'])(
  "Crossbill finds the payment of a dispute by the payment's id %s",
  (name) => {
    const s = paidTwice({ processorPaymentIntentId: 'pi_2' });
    expect(placed(s, unplaced([name]))).toBe('pmt_2');
    expect(placed(s, aDispute({ detail: { names: [name] } }))).toBe('pmt_2');
    expect(placed(s, { ...unplaced([name]), kind: 'alert', status: 'received' })).toBe('pmt_2');
  },
);

it('a dispute without the id of a known payment belongs to the only successful payment, or to no payment if there are two', () => {
  expect(placed(paid(), unplaced([]))).toBe('pmt_1');
  expect(placed(paid(), aDispute({ paymentRowId: null }))).toBe('pmt_1');
  expect(placed(paid(), unplaced(['ch_9']))).toBe('pmt_1');
  expect(placed(paidTwice(), unplaced(['ch_9']))).toBeNull();
  expect(placed(paidTwice({ succeededAt: null }), unplaced([]))).toBe('pmt_1');
  expect(placed(paidTwice({ succeededAt: null }), unplaced(['ch_2']))).toBe('pmt_1');
  expect(placed(paid({ succeededAt: null }), unplaced(['ch_1']))).toBeNull();
  expect(placed(paidTwice(), aDispute({ paymentRowId: 'pmt_2', detail: { names: [] } }))).toBe('pmt_2');
  expect(placed(paid(), aDispute({ paymentRowId: 'pmt_2' }))).toBe('pmt_2');
  const link = aDispute({ kind: 'payment_link', status: 'PAYABLE', paymentRowId: null });
  expect(withThem(paid(), [link, aDispute({ id: 'dsp_2' })]).objects[0]).toEqual(link);
});

it('Crossbill books the loss of a lost dispute only after the payment has succeeded', () => {
  const waiting = withThem(paid({ succeededAt: null }), [{ ...unplaced(['ch_1']), status: 'lost' }]);
  expect(waiting.entries).toEqual([]);
  const s = settleDisputes({ ...waiting, payments: paid().payments }, later(5));
  expect(s.entries).toMatchObject([{ reason: 'dispute_lost', paymentRowId: 'pmt_1', amount: { minor: 2990n } }]);
});

it("an invoice's lane without disputes, alerts and returned debits stays unchanged when Crossbill settles disputes", () => {
  const s = putObject(paid(), aDispute({ kind: 'capture', status: 'lost' }));
  expect(settleDisputes(s, later(1))).toEqual(s);
});

it.each(['action_needed', 'revision_requested', 'lost', 'decided'])(
  'the review item of a dispute with status %s stays unchanged without a new event',
  (status) => {
    const s = withThem(paid(), [aDispute({ status, deadline: DUE })]);
    expect(open(s)).toHaveLength(1);
    expect(settleDisputes(s, later(9))).toEqual(s);
  },
);

it('a new deadline updates the open review item of a dispute, and a dismissed item stays closed', () => {
  const s = withThem(paid(), [aDispute({ deadline: DUE })]);
  const moved = goesOn(s, { deadline: minutesLater(60) });
  expect(only(moved)).toMatchObject({ subject: 'dp_1', dueAt: minutesLater(60), id: s.reviews[0]?.id });
  expect(open(settleDisputes(dismissed(s, 'dp_1'), later(5)))).toEqual([]);
});

it('a returned debit opens a review item; if an operator dismissed this item, undoing the returned debit opens a new item', () => {
  const back = { id: 'ret_1', kind: 'debit_return', status: 'returned', amount: 2990n, currency: 'EUR' } as const;
  const s = withThem(paid(), [aDispute({ ...back, morId: null })]);
  expect(only(s)).toMatchObject({ kind: 'debit_returned', subject: 'ret_1' });
  const undone = closeReviews(s, later(2), () => true, { by: 'ada', resolution: 'dismiss', note: null });
  expect(asked(goesOn(undone, { status: 'undone' }))).toEqual(['ret_1']);
});

const refund = (state: LaneState, over: Partial<RefundRow> = {}): LaneState => {
  const [p = never()] = state.payments;
  const row = {
    ...newRefund(later(0), p, { amount: 1000n, reason: null, origin: 'event' }),
    status: 'succeeded',
    succeededAt: NOW,
  } as const;
  return putRefund(state, { ...row, id: 'ref_1', ...over });
};
const handled = (refunded: boolean | null, over: Partial<MorObjectRow> = {}): MorObjectRow =>
  anAlert({ status: 'handled', detail: { refunded }, ...over });

it('the review item of an alert names the amount, the payment and the deadline', () => {
  expect(only(withThem(paid(), [anAlert({ deadline: DUE })]))).toMatchObject({
    ...{ kind: 'dispute', subject: 'alert:al_1', paymentRowId: 'pmt_1', dueAt: DUE },
    fact: {
      code: 'alert-received',
      alert: 'al_1',
      payment: 'pay_1',
      until: '2026-12-01T00:00:00.000Z',
      amount: eur(2990n),
    },
  });
  expect(only(withThem(paid({ paymentId: null }), [anAlert()]))?.fact).toMatchObject({
    code: 'alert-received',
    payment: 'pmt_1',
  });
  const unplaced = only(withThem(paidTwice(), [anAlert({ morId: null, paymentRowId: null })]));
  expect(unplaced).toMatchObject({ subject: 'alert:alr_1', dueAt: null, paymentRowId: null });
  expect(unplaced?.fact).toMatchObject({ code: 'alert-received', alert: 'alr_1' });
  expect(withThem(paid(), [anAlert({ status: 'UNKNOWN' })]).reviews).toEqual([]);
});

it('an alert handled without a refund closes its review items', () => {
  const s = goesOn(withThem(paid(), [anAlert()]), { status: 'handled', detail: { refunded: false } });
  expect(open(s)).toEqual([]);
  expect(Object.keys(closed(s))).toEqual(['alert:al_1']);
  const unsaid = goesOn(withThem(paid(), [anAlert()]), { status: 'handled' });
  expect(asked(unsaid)).toEqual(['alert:al_1:outcome']);
  const said = goesOn(unsaid, { detail: { refunded: false } }, 9);
  expect(open(said)).toEqual([]);
  expect(Object.keys(closed(said))).toContain('alert:al_1:outcome');
});

it('if an alert was answered with a refund, the item of the alert says not to refund again, and closes when the refund arrives', () => {
  const s = goesOn(withThem(paid(), [anAlert()]), { status: 'handled', detail: { refunded: true } });
  expect(only(s)).toMatchObject({
    ...{ kind: 'dispute', subject: 'alert:al_1:outcome', paymentRowId: 'pmt_1' },
    fact: { code: 'alert-handled', alert: 'al_1', payment: 'pay_1', refunded: true },
  });
  expect(Object.keys(closed(s))).toEqual(['alert:al_1']);
  const recorded = settleDisputes(refund(s), later(9));
  expect(open(recorded)).toEqual([]);
  expect(Object.keys(closed(recorded))).toContain('alert:al_1:outcome');
  expect(recorded.refunds).toHaveLength(1);
});

it("the review item of an alert with an unclear outcome tells the operator to look in the MoR's portal", () => {
  expect(only(withThem(paid(), [handled(null)]))).toMatchObject({
    fact: { code: 'alert-handled', alert: 'al_1', payment: 'pay_1', refunded: false },
  });
  expect(only(withThem(paid(), [anAlert({ status: 'handled' })]))?.subject).toBe('alert:al_1:outcome');
});

it("a refund less than a day before the alert, or a fully refunded payment, counts as the alert's refund", () => {
  const waits = (state: LaneState, values = handled(true)): boolean => asked(withThem(state, [values])).length === 1;
  const dayBefore = new Date(NOW.getTime() - ALERT_TIMEOUT_MS);
  expect(waits(paid())).toBe(true);
  expect(waits(refund(paid()))).toBe(false);
  expect(waits(refund(paid(), { succeededAt: dayBefore }))).toBe(false);
  expect(waits(refund(paid(), { succeededAt: new Date(dayBefore.getTime() - 1) }))).toBe(true);
  expect(waits(refund(paid(), { succeededAt: null }))).toBe(false);
  for (const status of ['requested', 'unknown', 'pending', 'failed'] as const) {
    expect(waits(refund(paid(), { status }))).toBe(true);
  }
  expect(waits(refund(paidTwice(), { paymentRowId: 'pmt_2' }))).toBe(true);
  const old = { succeededAt: new Date(0) };
  expect(waits(refund(paid({ amountRefunded: 2990n }), old))).toBe(false);
  expect(waits(refund(paid({ amountRefunded: 2989n }), old))).toBe(true);
  expect(waits(refund(paid({ amount: null }), old))).toBe(true);
  // The payment is not known: any refund of the invoice may be the one.
  const unplaced = handled(true, { paymentRowId: null });
  expect(waits(refund(paidTwice(), { paymentRowId: 'pmt_2' }), unplaced)).toBe(false);
  expect(waits(paidTwice(), unplaced)).toBe(true);
});

it('a handled alert closes no review item of another alert, of a dispute or of another kind', () => {
  const two = withThem(paid(), [anAlert(), anAlert({ id: 'alr_2', morId: 'al_2' }), aDispute({ morId: 'al_1' })]);
  const item = { kind: 'effect_failed', subject: 'alert:al_1', fact: FACTS.effect_failed } as const;
  const s = goesOn(openReview(two, later(0), item), { status: 'handled', detail: { refunded: false } });
  expect(open(s).map((r) => [r.kind, r.subject])).toEqual([
    ['dispute', 'al_1'],
    ['dispute', 'alert:al_2'],
    ['effect_failed', 'alert:al_1'],
  ]);
});

// A paid invoice with a dispute, or with a bank's warning of one, for tests of the money and of the items.
import { type Ctx } from '../../../src/engine/context.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type MorObjectRow, newMorObject } from '../../../src/shared/domain/mor-object.js';
import { disputes } from '../../../src/features/losses/disputes/subject.js';
import { returns } from '../../../src/features/losses/returns/subject.js';
import { ruleAfter } from '../../../src/engine/subject.js';
import { aCtx, NOW, open, paidByCard } from './channel-lane.js';
import { decided } from './settled.js';
import { decide } from '../rigs/decide.js';
import { putObject } from './put-rows.js';

export const minutesLater = (minutes: number): Date => new Date(NOW.getTime() + minutes * 60_000);
export const later = (minutes: number): Ctx => aCtx(minutesLater(minutes));

/** An invoice with the marked payment `pay_1` of 29.90 EUR, in the books as `pmt_1`. */
export function paid(over: Partial<PaymentRow> = {}): LaneState {
  const s = paidByCard();
  return { ...s, payments: s.payments.map((p) => ({ ...p, id: 'pmt_1', ...over })) };
}

/** The same invoice with a second payment of the same amount: `pay_2`, in the books as `pmt_2`. */
export function paidTwice(over: Partial<PaymentRow> = {}): LaneState {
  const s = paid();
  const second = s.payments.map((p) => ({ ...p, id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2', ...over }));
  return { ...s, payments: [...s.payments, ...second] };
}

export function aDispute(over: Partial<MorObjectRow> = {}): MorObjectRow {
  const known = { id: 'dsp_1', kind: 'dispute', morId: 'dp_1', invoiceId: 'in_1', paymentRowId: 'pmt_1' } as const;
  return newMorObject(NOW, { ...known, status: 'action_needed', ...over });
}

export function anAlert(over: Partial<MorObjectRow> = {}): MorObjectRow {
  return aDispute({ id: 'alr_1', kind: 'alert', morId: 'al_1', status: 'received', ...over });
}

/** Runs the rules of disputes, alerts and returns until the lane is at rest. */
export const settleDisputes = (state: LaneState, ctx: Ctx): LaneState =>
  decide(decide(state, ctx, ruleAfter(disputes)), ctx, ruleAfter(returns));

/** The lane at rest after these disputes and alerts. */
export function withThem(state: LaneState, objects: readonly MorObjectRow[], minute = 0): LaneState {
  return decided(state, (state) => settleDisputes(objects.reduce(putObject, state), later(minute)));
}

/** The subjects of the open items. */
export const asked = (state: LaneState): string[] => open(state).map((r) => r.subject);

/** The lane after a person dismissed the item. */
export function dismissed(state: LaneState, subject: string): LaneState {
  const dealt = (item: ReviewRow): ReviewRow =>
    item.subject === subject
      ? { ...item, status: 'resolved', resolution: 'dismiss', resolvedAt: item.createdAt }
      : item;
  return { ...state, reviews: state.reviews.map(dealt) };
}

/** The only open item, if there is exactly one. */
export const only = (state: LaneState): ReviewRow | undefined =>
  open(state).length === 1 ? open(state)[0] : undefined;
/** The lane after its dispute or alert changed. */
export const goesOn = (state: LaneState, over: Partial<MorObjectRow>, minute = 5): LaneState =>
  withThem(state, [{ ...(state.objects[0] ?? aDispute()), ...over }], minute);
/** By subject, why each item closed automatically. */
export const closed = (state: LaneState): Record<string, string | null> =>
  Object.fromEntries(state.reviews.filter((r) => r.resolution === 'cleared').map((r) => [r.subject, r.note]));

/** The part of a payment lost to a bank, as its object keeps it. */
export const lossOf = (minor: bigint) => ({
  of: 'pmt_1',
  minor: minor.toString(),
  entries: 1,
  movedAt: NOW.toISOString(),
});

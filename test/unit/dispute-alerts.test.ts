// What a person is asked about an alert that comes before a chargeback, and what closes by itself.
import { FACTS } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { openReview, putRefund } from '../../src/engine/change.js';
import { type LaneState, type RefundRow } from '../../src/domain/model.js';
import { type MorObjectRow } from '../../src/domain/mor-object.js';
import { ALERT_PATIENCE_MS } from '../../src/policy.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { NOW, open } from '../support/channel-lane.js';
import {
  aDispute,
  anAlert,
  asked,
  closed,
  goesOn,
  later,
  only,
  paid,
  paidTwice,
  settleDisputes,
  withThem,
} from '../support/disputed-lane.js';

const DUE = new Date('2026-12-01T00:00:00Z');

describe('a warning that a chargeback is about to be raised', () => {
  const refund = (s: LaneState, over: Partial<RefundRow> = {}): LaneState => {
    const [p] = s.payments;
    if (p === undefined) throw new Error('nothing was paid');
    const row = { ...newRefund(later(0), p, 1000n, null, 'event'), status: 'succeeded', succeededAt: NOW } as const;
    return putRefund(s, { ...row, id: 'ref_1', ...over });
  };
  const handled = (refunded: boolean | null, over: Partial<MorObjectRow> = {}): MorObjectRow =>
    anAlert({ status: 'handled', detail: { refunded }, ...over });

  it('asks a person to wait or to refund, with the sum, the payment and the deadline', () => {
    expect(withWords(only(withThem(paid(), [anAlert({ deadline: DUE })])))).toMatchObject({
      ...{ kind: 'dispute', subject: 'alert:al_1', paymentRowId: 'pmt_1', dueAt: DUE },
      summary:
        'a chargeback of 29.90 EUR is about to be raised: alert al_1 on payment pay_1, to be handled by 2026-12-01 00:00 UTC',
      proposal: 'Wait for the outcome, or refund the payment now to avoid the chargeback.',
    });
    expect(wordsOf(only(withThem(paid({ paymentId: null }), [anAlert()]))).summary).toContain(
      'on payment pmt_1, to be',
    );
    const unplaced = only(withThem(paidTwice(), [anAlert({ morId: null, paymentRowId: null })]));
    expect(unplaced).toMatchObject({ subject: 'alert:alr_1', dueAt: null, paymentRowId: null });
    expect(wordsOf(unplaced).summary).toContain(
      'of a payment is about to be raised: alert alr_1 on a payment, to be handled',
    );
    expect(withThem(paid(), [anAlert({ status: 'UNKNOWN' })]).reviews).toEqual([]);
  });

  it('that was handled without a refund asks nothing more', () => {
    const s = goesOn(withThem(paid(), [anAlert()]), { status: 'handled', detail: { refunded: false } });
    expect(open(s)).toEqual([]);
    expect(closed(s)).toEqual({ 'alert:al_1': 'the alert was handled without a refund' });
    const unsaid = goesOn(withThem(paid(), [anAlert()]), { status: 'handled' });
    expect(asked(unsaid)).toEqual(['alert:al_1:outcome']);
    const said = goesOn(unsaid, { detail: { refunded: false } }, 9);
    expect(open(said)).toEqual([]);
    expect(closed(said)).toMatchObject({ 'alert:al_1:outcome': 'the alert was handled without a refund' });
  });

  it('that was answered with a refund asks nobody for a second one, until that refund is recorded', () => {
    const s = goesOn(withThem(paid(), [anAlert()]), { status: 'handled', detail: { refunded: true } });
    expect(withWords(only(s))).toMatchObject({
      ...{ kind: 'dispute', subject: 'alert:al_1:outcome', paymentRowId: 'pmt_1' },
      summary: 'alert al_1 was answered with a refund of payment pay_1, whose event has not come yet',
      proposal: 'Wait: its payment.refunded event is the same refund and closes this. Do not refund it a second time.',
    });
    expect(closed(s)).toEqual({ 'alert:al_1': 'the alert was handled' });
    const recorded = settleDisputes(refund(s), later(9));
    expect(open(recorded)).toEqual([]);
    expect(closed(recorded)).toMatchObject({ 'alert:al_1:outcome': 'the refund is recorded' });
    expect(recorded.refunds).toHaveLength(1);
  });

  it('that was handled in words that do not say how asks a person to look', () => {
    expect(withWords(only(withThem(paid(), [handled(null)])))).toMatchObject({
      summary: 'alert al_1 on payment pay_1 was handled; it does not say whether the payment was refunded',
      proposal: expect.stringMatching(/^Look in the MoR's dashboard whether it was refunded\. If it was, its payment/),
    });
    expect(only(withThem(paid(), [anAlert({ status: 'handled' })]))?.subject).toBe('alert:al_1:outcome');
  });

  it('takes for its refund one that succeeded, of its payment, not long before it; or that nothing is left of the payment', () => {
    const waits = (s: LaneState, o = handled(true)): boolean => asked(withThem(s, [o])).length === 1;
    const dayBefore = new Date(NOW.getTime() - ALERT_PATIENCE_MS);
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
    // Of which payment is not known: any refund of the invoice may be it.
    const unplaced = handled(true, { paymentRowId: null });
    expect(waits(refund(paidTwice(), { paymentRowId: 'pmt_2' }), unplaced)).toBe(false);
    expect(waits(paidTwice(), unplaced)).toBe(true);
  });

  it('closes no item but its own', () => {
    const two = withThem(paid(), [anAlert(), anAlert({ id: 'alr_2', morId: 'al_2' }), aDispute({ morId: 'al_1' })]);
    const item = { kind: 'effect_failed', subject: 'alert:al_1', fact: FACTS.effect_failed } as const;
    const s = goesOn(openReview(two, later(0), item), { status: 'handled', detail: { refunded: false } });
    expect(open(s).map((r) => [r.kind, r.subject])).toEqual([
      ['dispute', 'alert:al_2'],
      ['dispute', 'al_1'],
      ['effect_failed', 'alert:al_1'],
    ]);
  });
});

// What a person chooses for a payment that is kept from its invoice, and what comes of it.
import { aKind } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { openReview, putPayment, putRefund } from '../../src/engine/change.js';
import {
  type LaneState,
  type PaymentRow,
  type RefundStatus,
  type Resolution,
  type ReviewKind,
} from '../../src/domain/model.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { markReview } from '../../src/payments/rules/mark-review.js';
import { NOW, open } from '../support/channel-lane.js';
import { never } from '../support/never.js';
import { ctx, lane, marks, payment } from '../support/waiting-payment.js';

describe('what a person chooses for a payment that waits for them', () => {
  const item = (s: LaneState, kind: ReviewKind, over = {}): LaneState =>
    openReview(s, ctx(), { ...aKind(kind), subject: 'pmt_1', paymentRowId: 'pmt_1', ...over });
  const chosen = (s: LaneState, resolution: Resolution): LaneState => {
    const acted = markReview(s, open(s)[0] ?? never(), { resolution, note: null, by: 'ops' }, ctx());
    if (!acted.ok) throw new Error(acted.code);
    return acted.state;
  };

  it('applied, it waits for its mark again with what was waived, also more than is due', () => {
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

  it('applied again, it keeps what was waived before, and is more than is due only while none of it was given back', () => {
    const waived = (over: Partial<PaymentRow>, change = (s: LaneState): LaneState => s): readonly string[] => {
      const parked = change(lane({}, payment({ mark: 'parked', amount: 3000n, ...over })));
      return chosen(item(parked, 'amount_mismatch'), 'apply').payments.find((x) => x.id === 'pmt_1')?.waived ?? [];
    };
    const before = { amount: 2000n, waived: ['customer_mismatch', 'surplus'] } as const;
    expect(waived(before)).toEqual(['customer_mismatch', 'amount_mismatch']);
    const given = (status: RefundStatus, of = payment()) => {
      return (s: LaneState) => putRefund(s, { ...newRefund(ctx(), of, 10n, null, 'api'), status });
    };
    expect(waived({}, given('pending'))).toEqual(['amount_mismatch']);
    expect(waived({}, given('failed'))).toEqual(['amount_mismatch', 'surplus']);
    expect(waived({}, given('succeeded', payment({ id: 'pmt_2' })))).toEqual(['amount_mismatch', 'surplus']);
    expect(waived({}, (s) => ({ ...s, invoice: null }))).toEqual(['amount_mismatch']);
    const unknown = { ...payment({ mark: 'parked' }), amount: null };
    expect(waived({}, (s) => putPayment(s, unknown))).toEqual(['amount_mismatch']);
  });

  it('of an item that names no payment nothing changes, and one that is not proven cannot be refunded', () => {
    const none = item(lane({}, payment({ mark: 'parked' })), 'amount_mismatch', { paymentRowId: null });
    for (const resolution of ['apply', 'retry', 'dismiss'] as const) expect(chosen(none, resolution)).toBe(none);
    const unproven = item(lane({}, payment({ mark: 'parked', succeededAt: null })), 'amount_mismatch');
    expect(() => chosen(unproven, 'refund')).toThrow('payment_not_refundable');
  });

  it('tried again, it waits afresh; dismissed, it is closed; unproven, only its number is settled', () => {
    const parked = item(lane({}, payment({ mark: 'parked', markTries: 2 })), 'effect_failed');
    expect(chosen(parked, 'retry').payments[0]).toMatchObject({ mark: 'waiting', markTries: 0 });
    expect(marks(chosen(item(lane({}, payment({ mark: 'held' })), 'double_payment'), 'retry'))).toEqual(['waiting']);
    const reporting = item(lane({}, payment({ mark: 'reporting' })), 'double_payment');
    expect(chosen(reporting, 'retry')).toBe(reporting);
    expect(marks(chosen(parked, 'dismiss'))).toEqual(['closed']);
    expect(chosen(reporting, 'dismiss')).toBe(reporting);
    const unproven = item(lane({}, payment({ mark: 'parked', succeededAt: null })), 'amount_mismatch');
    for (const resolution of ['apply', 'retry', 'dismiss'] as const)
      expect(chosen(unproven, resolution)).toBe(unproven);
    const surplus = item(lane({}, payment({ mark: 'confirmed' })), 'amount_mismatch', { subject: 'in_1:overpaid:500' });
    expect(chosen(surplus, 'retry').invoice).toMatchObject({ readAt: null, readDueAt: NOW });
  });
});

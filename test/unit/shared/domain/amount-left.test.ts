// What is left of the money for an invoice, after refunds and losses: a backend ends access at zero.
import { describe, expect, it } from '@jest/globals';
import { amountLeft } from '../../../../src/shared/domain/amount-left.js';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../../src/shared/domain/mor-object.js';
import { NOW } from '../../../support/builders/channel-lane.js';
import { aDispute, paid, paidTwice } from '../../../support/builders/disputed-lane.js';

const lossOf = (minor: bigint, of = 'pmt_1') => ({
  of,
  minor: minor.toString(),
  entries: 1,
  movedAt: NOW.toISOString(),
});
const lost = (minor: bigint | null, over: Partial<MorObjectRow> = {}): MorObjectRow =>
  aDispute({ status: 'lost', detail: minor === null ? {} : { loss: lossOf(minor) }, ...over });
const left = (state: LaneState, ...objects: MorObjectRow[]): bigint | null => amountLeft({ ...state, objects });
const paidElsewhere = (over: Partial<PaymentRow>): LaneState => {
  const s = paid({ mark: 'parked', ...over });
  return { ...s, invoice: s.invoice === null ? null : { ...s.invoice, platformStatus: 'paid' } };
};

describe('the amount left of an invoice', () => {
  it('refunds and losses lower the amount left to zero, and no further', () => {
    expect(left(paid())).toBe(2990n);
    expect(left(paid({ amountRefunded: 500n }))).toBe(2490n);
    expect(left(paid({ amountRefunded: 500n }), lost(2490n))).toBe(0n);
    expect(left(paid({ amountRefunded: 2990n }), lost(2990n))).toBe(0n);
    expect(left(paid(), lost(2990n, { kind: 'debit_return', status: 'returned' }))).toBe(0n);
    expect(left(paid(), lost(0n, { kind: 'debit_return', status: 'undone' }))).toBe(2990n);
  });

  it("the MoR's running total counts before all its refund events have arrived", () => {
    expect(left(paid({ amountRefunded: 500n, refundedTotal: 2990n }))).toBe(0n);
    expect(left(paid({ amountRefunded: 500n, refundedTotal: 100n }))).toBe(2490n);
  });

  it('the refund of a second payment leaves the money of the first', () => {
    expect(left(paidTwice({ amountRefunded: 2990n, mark: 'closed' }))).toBe(2990n);
  });

  it('the amount left is unknown if other money paid the invoice, in two currencies, or without a payment', () => {
    expect(left(paidElsewhere({ amountRefunded: 2990n }))).toBeNull();
    expect(left(paidTwice({ currency: 'USD' }))).toBeNull();
    expect(left({ ...paid(), payments: [] })).toBeNull();
    expect(left(paid({ succeededAt: null, status: 'processing' }))).toBeNull();
  });

  it('a refund before its payment leaves nothing if the MoR calls the payment refunded', () => {
    const early = { succeededAt: null, amount: null };
    expect(left(paid({ ...early, status: 'refunded' }))).toBe(0n);
    expect(left(paid({ ...early, status: 'partially_refunded' }))).toBeNull();
  });

  it('a lost dispute without a clear amount or payment leaves an unknown amount', () => {
    expect(left(paid(), lost(null))).toBeNull();
    expect(left(paid(), lost(null, { paymentRowId: null }))).toBeNull();
    expect(left(paid(), aDispute())).toBe(2990n);
    expect(left(paid({ amountRefunded: 2990n }), lost(null))).toBe(0n);
    // Nothing of the second payment was left to lose: the first one still pays the invoice.
    expect(left(paidTwice({ amountRefunded: 2990n }), lost(null, { paymentRowId: 'pmt_2' }))).toBe(2990n);
  });
});

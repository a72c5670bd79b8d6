// Which accounts each movement touches, and when.
import { expect, it } from '@jest/globals';
import { type LedgerEntry } from '../../../../src/shared/domain/ledger-entry.js';
import { type PaymentRow } from '../../../../src/shared/domain/payment-row.js';
import {
  debitReturned,
  debitReturnReversed,
  disputeLost,
  disputeReversed,
  lossCredited,
  lossCreditReversed,
  paymentCollected,
  paymentMarked,
  REASONS,
  refundMirrored,
  refundOfUnmarked,
  refundPaid,
} from '../../../../src/shared/domain/postings.js';
import { newPayment } from '../../../../src/core/books/rules/payment-rows.js';
import { newRefund } from '../../../../src/core/refunds/rules/refund.js';
import { aCtx } from '../../../support/builders/channel-lane.js';

const OCTOBER = new Date('2026-10-31T23:59:59Z');
const LATER = new Date('2026-11-02T00:00:00Z');

const payment = (over: Partial<PaymentRow> = {}, ctx = aCtx()): PaymentRow =>
  newPayment(ctx, {
    id: 'pmt_1',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    paymentId: 'pay_1',
    processorChargeId: 'ch_1',
    succeededAt: OCTOBER,
    mark: 'waiting',
    ...over,
  });

const p = (): PaymentRow => payment();
const r = () =>
  ({
    ...newRefund(aCtx(), p(), { amount: 1000n, reason: null, origin: 'event' }),
    id: 'ref_1',
    succeededAt: OCTOBER,
  }) as const;
const lost = { at: LATER, movedAt: OCTOBER };
const names = { invoiceId: 'in_1', paymentRowId: 'pmt_1', paymentId: 'pay_1', processorChargeId: 'ch_1' };

it('a ledger entry belongs to the day its money moved, however late Crossbill writes the entry', () => {
  const of = (entry: LedgerEntry): unknown[] => [
    entry.debit,
    entry.credit,
    entry.subject,
    entry.amount.minor,
    entry.refundId,
    entry.eventId,
  ];
  const entries = [
    paymentCollected(p(), 2990n, LATER, 'evt_1'),
    paymentMarked(p(), 2990n, LATER),
    refundPaid(p(), r(), LATER, 'evt_2'),
    refundMirrored(p(), r(), LATER),
    refundOfUnmarked(p(), r(), LATER),
    disputeLost(p(), 'obj_1', 500n, lost),
    debitReturned(p(), 'obj_2', 500n, lost),
  ];
  expect(entries.map(of)).toEqual([
    ['mor_receivable', 'unmarked_payments', 'pmt_1', 2990n, null, 'evt_1'],
    ['unmarked_payments', 'settled_invoices', 'pmt_1', 2990n, null, null],
    ['unmirrored_refunds', 'mor_receivable', 'ref_1', 1000n, 'ref_1', 'evt_2'],
    ['settled_invoices', 'unmirrored_refunds', 'ref_1', 1000n, 'ref_1', null],
    ['unmarked_payments', 'unmirrored_refunds', 'ref_1', 1000n, 'ref_1', null],
    ['disputed_payments', 'mor_receivable', 'obj_1', 500n, null, null],
    ['disputed_payments', 'mor_receivable', 'obj_2', 500n, null, null],
  ]);
  for (const e of entries) {
    expect(e).toMatchObject({ ...names, at: LATER, movedAt: OCTOBER });
    expect(e.amount.currency).toBe('EUR');
  }
});

it('a reversed dispute loss or debit return belongs to the day of the reversal', () => {
  const taken = {
    debit: 'mor_receivable',
    credit: 'disputed_payments',
    at: LATER,
    movedAt: OCTOBER,
    refundId: null,
    eventId: null,
  };
  const amount = { minor: 500n, currency: 'EUR' };
  expect(disputeReversed(p(), 'obj_1:2', 500n, lost)).toMatchObject({ ...taken, ...names, amount, subject: 'obj_1:2' });
  expect(debitReturnReversed(p(), 'obj_2:2', 500n, lost)).toMatchObject({
    ...taken,
    ...names,
    amount,
    subject: 'obj_2:2',
  });
});

it('a ledger entry without a time from the MoR belongs to the day Crossbill writes it', () => {
  expect(paymentMarked(payment({ succeededAt: null }), 2990n, LATER)).toMatchObject({ at: LATER, movedAt: LATER });
});

it("each kind of ledger entry has its own reason from the ledger's list of reasons", () => {
  const reasons = [
    paymentCollected(p(), 1n, LATER, null),
    paymentMarked(p(), 1n, LATER),
    refundPaid(p(), r(), LATER, null),
    refundMirrored(p(), r(), LATER),
    refundOfUnmarked(p(), r(), LATER),
    disputeLost(p(), 'o', 1n, lost),
    disputeReversed(p(), 'o', 1n, lost),
    debitReturned(p(), 'o', 1n, lost),
    debitReturnReversed(p(), 'o', 1n, lost),
    lossCredited(p(), 'o', 1n, LATER),
    lossCreditReversed(p(), 'o', 1n, LATER),
  ].map((e) => e.reason);
  expect(reasons.toSorted()).toEqual([...REASONS].toSorted());
});

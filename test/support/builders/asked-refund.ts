// A marked payment of 29.90 EUR with a requested refund, as plain values, for tests of how the refund ends.
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { putPayment, putRefund, putCall } from './put-rows.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type CallRow } from '../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../src/shared/domain/refund-row.js';
import { type CallFailure } from '../../../src/shared/domain/ports/call.js';
import { type RefundReply } from '../../../src/shared/domain/ports/payment-gateway.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { newRefund } from '../../../src/core/refunds/rules/refund.js';
import { askRefund } from '../rigs/ask-refund.js';
import { aCtx, facts, NOW } from './channel-lane.js';
import { never } from '../never.js';
import { recordRead } from '../rigs/decide.js';

export const at = (ms: number): Date => new Date(NOW.getTime() + ms);
export const ctx = (ms = 0, over: Partial<DecisionSettings> = {}): Ctx => aCtx(at(ms), over);

export const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', amount: 2990n, paymentId: 'pay_1' },
    ...{ processorChargeId: 'ch_1', succeededAt: NOW, mark: 'confirmed', paymentRecordId: 'inpay_1', ...over },
  });

/** The lane of a paid invoice with these payments. */
export const lane = (...payments: PaymentRow[]): LaneState =>
  payments.reduce(putPayment, recordRead(emptyLane('in_1'), ctx(), facts({ status: 'paid' })));

export const WISH = { amount: 1000n, reason: null, metadata: null, by: 'ops' } as const;

export type Asked = { readonly s: LaneState; readonly r: RefundRow; readonly m: CallRow };

/** A requested refund of 10.00 EUR. `over` changes the refund, `call` changes its call. */
export function asked(over: Partial<RefundRow> = {}, call: Partial<CallRow> = {}, values = payment()): Asked {
  const made = askRefund(lane(values), values.id, WISH, ctx());
  if (!made.ok) throw new Error(made.code);
  const r = { ...made.value, ...over };
  const m = { ...(made.state.calls[0] ?? never()), ...call };
  return { s: putCall(putRefund(made.state, r), m), r, m };
}

/** A refund of 10.00 EUR that an event reported. */
export const byEvent = (over: Partial<RefundRow> = {}, values = payment()): RefundRow => ({
  ...newRefund(ctx(), values, { amount: 1000n, reason: null, origin: 'event' }),
  ...{ id: 'ref_event', status: 'succeeded', succeededAt: NOW, ...over },
});

export const response = (over: Partial<RefundReply> = {}): RefundReply => ({
  ...{ morRefundId: 'rfnd_1', paymentId: 'pay_1', amountMinor: 1000n, currency: 'EUR', status: 'succeeded' },
  ...{ reason: null, processorRefundId: 're_1', createdAt: null, ...over },
});

export const refusal = (over: Partial<CallFailure> = {}): CallFailure => ({
  ...{ ok: false, kind: 'refused', status: 422, code: 'not_refundable', message: 'no', errors: [] },
  ...{ retryAfterMs: null, requestId: null, replayed: false, ...over },
});

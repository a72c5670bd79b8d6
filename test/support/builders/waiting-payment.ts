// A payment that waits for its mark, and its invoice's lane, as plain values, for tests of decisions about the mark.
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { putPayment } from './put-rows.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type ReviewKind } from '../../../src/shared/domain/fact.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type MarkStage, type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { settleMarks } from '../../../src/core/payments/rules/mark.js';
import { aCtx, facts, NOW, open } from './channel-lane.js';
import { never } from '../never.js';
import { decide, recordRead } from '../rigs/decide.js';

export const at = (ms: number): Date => new Date(NOW.getTime() + ms);
export const ctx = (over: Partial<DecisionSettings> = {}, ms = 0): Ctx => aCtx(at(ms), over);
export const payment = (over: Partial<PaymentRow> = {}): PaymentRow & { readonly amount: bigint } => ({
  ...newPayment(ctx(), {
    ...{ id: 'pmt_1', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR', paymentId: 'pay_1', succeededAt: NOW },
    ...{ processorChargeId: 'ch_1', mark: 'waiting', ...over },
  }),
  amount: over.amount ?? 2990n,
});
export const lane = (over: Partial<InvoiceFacts> = {}, ...payments: PaymentRow[]): LaneState =>
  payments.reduce(putPayment, recordRead(emptyLane('in_1'), ctx(), facts(over)));
/** The lane with changes to its invoice. */
export const withInvoice = (state: LaneState, row: Partial<InvoiceRow>): LaneState => ({
  ...state,
  invoice: { ...(state.invoice ?? never()), ...row },
});
export const invoice = (over: Partial<InvoiceFacts> = {}) => lane(over).invoice ?? never();
export const settled = (state: LaneState, of = ctx()): LaneState => decide(state, of, settleMarks);
export const marks = (state: LaneState): MarkStage[] => state.payments.map((p) => p.mark);
export const kinds = (state: LaneState): ReviewKind[] => open(state).map((r) => r.kind);
export const call = (state: LaneState, kind: string) => state.calls.find((m) => m.kind === kind) ?? never();

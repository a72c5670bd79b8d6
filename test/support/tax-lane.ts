// The tax of a paid invoice of 10.00 EUR, as plain values: for tests of what a lane decides about it.
import { type Ctx, emptyLane } from '../../src/domain/lane/change.js';
import { ensureInvoice } from '../../src/domain/lane/facts.js';
import { newPayment } from '../../src/domain/lane/payment.js';
import { type LaneState, type OutboxRow, type PaymentRow, type RefundRow } from '../../src/domain/model.js';
import { type CallFailure } from '../../src/domain/ports/call.js';
import { type MorCall } from '../../src/domain/ports/payment-gateway.js';
import { type TaxBasis } from '../../src/domain/ports/tax.js';
import { encodeTax } from '../../src/mor/mor-tax-desk.js';
import { newRefund } from '../../src/refunds/rules/refund-names.js';
import { applyTaxAnswer, applyTaxFound } from '../../src/tax/rules/tax-answer.js';
import { SETTINGS } from './builders.js';

export const NOW = new Date('2026-11-20T12:00:00Z');
let serial = 0;
export const context = (morProduct: 'mor' | 'tor' = 'tor'): Ctx => ({
  now: NOW,
  settings: { ...SETTINGS, morProduct },
  newId: (prefix) => `${prefix}_${++serial}`,
  encodeBilling: () => ({ method: 'POST', path: '/', body: null }),
  encodeMor: (call: MorCall) => {
    if (call.kind === 'calculate_tax' || call.kind === 'commit_tax' || call.kind === 'refund_tax')
      return encodeTax('cardpsp', call);
    throw new Error(`${call.kind} is not about tax`);
  },
  jitter: () => 0.5,
});
export const ctx = context();

export const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(ctx, {
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 1000n,
    mark: 'confirmed',
    processorChargeId: 'ch_1',
    succeededAt: NOW,
    ...over,
  });
export function paid(...overs: Partial<PaymentRow>[]): LaneState {
  const { state, invoice } = ensureInvoice(emptyLane('in_1'), ctx);
  const payments = (overs.length === 0 ? [{}] : overs).map(payment);
  return { ...state, invoice: { ...invoice, platformStatus: 'paid' }, payments };
}
export const found = (s: LaneState): LaneState =>
  applyTaxFound(s, s.taxes[0]?.id ?? '', { from: 'signup', taxCalculationId: 'calc_1' }, ctx);
export const last = (s: LaneState): OutboxRow => s.messages.at(-1) ?? ({} as OutboxRow);
export const answered = (s: LaneState, lines: readonly bigint[]): LaneState => {
  const gross = lines.map((amount, i) => ({ lineItemId: `l_${i + 1}`, gross: amount }));
  return applyTaxAnswer(s, last(s), { kind: 'commit_tax', transaction: { transactionId: 'tx_1', lines: gross } }, ctx);
};
export const refunded = (s: LaneState, amount: bigint, over: Partial<RefundRow> = {}): LaneState => {
  const p = s.payments.find((x) => x.id === over.paymentRowId) ?? s.payments[0];
  if (p === undefined) throw new Error('no payment');
  const r = {
    ...newRefund(ctx, p, amount, null, 'api'),
    status: 'succeeded',
    counted: true,
    succeededAt: NOW,
  } as const;
  return { ...s, refunds: [...s.refunds, { ...r, ...over }] };
};
export const bodyOf = (m: OutboxRow): { refundLineItems: { lineItemId: string; amount: string }[] } =>
  JSON.parse(m.wire.body ?? '{}') as { refundLineItems: { lineItemId: string; amount: string }[] };
export const refusal = (over: Partial<CallFailure>): CallFailure => ({
  ok: false,
  kind: 'refused',
  status: 400,
  code: 'invalid_state',
  message: 'no',
  errors: [],
  retryAfterMs: null,
  requestId: null,
  replayed: false,
  ...over,
});

/** Two lines of 10.00 in all, sold where no evidence is needed. */
export const BASIS: TaxBasis = {
  invoiceId: 'in_1',
  customerId: 'cus_1',
  currency: 'EUR',
  total: 1000n,
  customer: {
    name: 'Ada Example',
    email: null,
    address: { line1: '1 Road', line2: null, city: 'Albany', state: 'NY', postalCode: '12207', country: 'US' },
    taxIds: [],
  },
  ipAddress: null,
  lines: [
    { reference: 'il_1', productCode: null, description: null, amount: 700n },
    { reference: 'il_2', productCode: null, description: null, amount: 300n },
  ],
};

export const calculated = (s: LaneState): LaneState => {
  const outcome = { ok: true, value: BASIS, status: 200, requestId: null } as const;
  return applyTaxFound(s, s.taxes[0]?.id ?? '', { from: 'platform', outcome }, ctx);
};
export const unitPrices = (s: LaneState): readonly string[] =>
  (JSON.parse(last(s).wire.body ?? '{}') as { lineItems: { unitPrice: string }[] }).lineItems.map((l) => l.unitPrice);

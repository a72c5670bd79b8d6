// One invoice's lane as a plain value that takes events of the MoR's other channels, for tests of decisions.
import { SUBJECTS } from '../../../src/core/lanes/subjects.js';
import { type PaymentEvent } from '../../../src/engine/event.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type Ctx, emptyLane } from '../../../src/engine/context.js';
import { putPayment } from './put-rows.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { anInvoice, SETTINGS } from './events.js';
import { decided, settle } from './settled.js';
import { applyEvent, settle as settleLane, recordRead } from '../rigs/decide.js';
import { SERVICE_READERS } from '../../../src/core/mor-objects/event-rows.js';
import { parseMorServiceEvent } from '../../../src/shared/domain/events/mor-service-event.js';

export const NOW = new Date('2026-11-20T12:00:00Z');
export const PROFORMA = 'b4b0a3a8-90a2-4f6c-8f5e-2f5a1f7b6c11';
export const LINK = '0a6f2a50-52cb-4b0e-9d5c-7b1f5d7c2e11';

let count = 0;

export function aCtx(now = NOW, settings: Partial<DecisionSettings> = {}): Ctx {
  return {
    now,
    settings: { ...SETTINGS, ...settings },
    newId: (prefix) => `${prefix}_${++count}`,
    encodeBilling: (call) => ({ method: 'POST', path: `/${call.kind}`, body: '{}' }),
    encodeMor: (call) => ({
      method: 'POST',
      path: `/${call.kind}`,
      body: JSON.stringify(call, (_, v: unknown) => (typeof v === 'bigint' ? String(v) : v)),
    }),
    jitter: () => 0.5,
    ports: SUBJECTS.ports,
  };
}

/** An open invoice of 29.90 EUR on Stripe. The amounts don't follow from each other. */
export function facts(over: Partial<InvoiceFacts> = {}): InvoiceFacts {
  const ids = { invoiceId: 'in_1', customerId: 'cus_1', subscriptionId: 'sub_1', createdAt: NOW };
  const amounts = { amountDue: 2990n, amountPaid: 0n, amountRemaining: 2990n, total: 2990n };
  return anInvoice({ ...ids, ...amounts, collectionMethod: 'send_invoice', ...over });
}

/** The lane of an open invoice whose customer has a known card. */
export function anOpenInvoice(ctx = aCtx()): LaneState {
  const s = settle(recordRead(emptyLane('in_1'), ctx, facts()), ctx);
  return { ...s, invoice: s.invoice === null ? null : { ...s.invoice, paysByDebit: false } };
}

/** The lane of an invoice paid by card. */
export function paidByCard(ctx = aCtx()): LaneState {
  const p = newPayment(ctx, {
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    paymentId: 'pay_1',
    processorChargeId: 'ch_1',
    succeededAt: NOW,
    mark: 'confirmed',
  });
  const read = recordRead(emptyLane('in_1'), ctx, facts({ status: 'paid', amountPaid: 2990n, amountRemaining: 0n }));
  return settle(putPayment(read, p), ctx);
}

export function hear(
  state: LaneState,
  type: string,
  data: object,
  ctx = aCtx(),
  id = `evt_${type}`,
  created = NOW.toISOString(),
): LaneState {
  const parsed = parseMorServiceEvent(Buffer.from(JSON.stringify({ id, type, created, data })), SERVICE_READERS);
  if (parsed.usability !== 'usable') throw new Error(parsed.reason);
  const event = { family: 'channel', eventId: id, type, event: parsed.event } as const;
  return decided(state, (lane) => settleLane(applyEvent(lane, event, ctx).state, ctx).state);
}

export const open = (state: LaneState): readonly ReviewRow[] => state.reviews.filter((r) => r.status === 'open');
export const openFacts = (state: LaneState): readonly ReviewRow['fact'][] => open(state).map((r) => r.fact);

/** The event of a succeeded payment of 29.90 EUR for in_1. `over` changes fields. */
export function aPaymentEvent(over: Partial<PaymentEvent> = {}): PaymentEvent {
  return {
    family: 'payment',
    eventId: 'evt_pay',
    type: 'payment.succeeded',
    at: NOW,
    paymentId: 'pay_1',
    invoiceId: 'in_1',
    customerId: 'cus_1',
    processorChargeId: 'ch_1',
    processorPaymentIntentId: 'pi_1',
    amount: 2990n,
    currency: 'EUR',
    status: 'succeeded',
    failureMessage: null,
    declineCode: null,
    refundId: null,
    processorRefundId: null,
    amountRefundedTotal: null,
    reason: null,
    ...over,
  };
}

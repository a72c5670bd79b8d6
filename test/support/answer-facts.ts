// Facts for the sentence why an invoice is paid or not: an invoice of 29.90 EUR of 3 November, seen on 6 November 2026.
import { sentencesOf } from '../../src/reviews/rules/words.js';
import { FACTS } from './item-facts.js';
import { type Ctx } from '../../src/engine/context.js';
import { newPayment } from '../../src/engine/payment.js';
import { type AttemptRow, type InvoiceRow, type PaymentRow, type ReviewRow } from '../../src/domain/model.js';
import { type MorObjectRow, newMorObject } from '../../src/domain/mor-object.js';
import { type RetryTrail } from '../../src/domain/retry.js';
import { type AnswerFacts, answerOf } from '../../src/invoices/invoice-sentence.js';

export const NOW = new Date('2026-11-06T12:00:00Z');
export const nov = (day: number, hour = 10): Date => new Date(Date.UTC(2026, 10, day, hour));

export function invoice(over: Partial<InvoiceRow>): InvoiceRow {
  return {
    invoiceId: 'in_oak',
    customerId: 'cus_oak',
    customerCountry: null,
    number: 'OAK-1',
    status: 'open',
    platformStatus: 'open',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue: 2_990n,
    amountPaid: 0n,
    amountRemaining: 2_990n,
    amountOverpaid: null,
    total: 2_990n,
    subscriptionId: 'sub_oak',
    collectionMethod: 'charge_automatically',
    platformCreatedAt: nov(3),
    finalizesAt: null,
    finalizationError: null,
    factsAt: null,
    readAt: null,
    readDueAt: null,
    readAttempts: 0,
    expectedBy: nov(4),
    paysByDebit: null,
    enrolled: true,
    autoAdvance: true,
    ownMethodId: null,
    latestRevision: null,
    charged: null,
    chargeLookedAt: null,
    lookDueAt: null,
    lookAttempts: 0,
    holdUntil: null,
    retries: null,
    method: null,
    nextTryAt: null,
    firstSeenAt: nov(3),
    ...over,
  };
}

export function payment(over: Partial<PaymentRow>): PaymentRow {
  const ctx = { now: NOW, newId: () => 'pmt_1' } as unknown as Ctx;
  const base = { invoiceId: 'in_oak', customerId: 'cus_oak', currency: 'EUR', paymentId: 'pay_1', amount: 2_990n };
  return newPayment(ctx, { ...base, succeededAt: nov(5), mark: 'confirmed', ...over });
}

export function refusal(day: number, over: Partial<AttemptRow> = {}): AttemptRow {
  return {
    eventId: `evt_${day}`,
    invoiceId: 'in_oak',
    paymentId: 'pay_1',
    outcome: 'failed',
    amount: 2_990n,
    currency: 'EUR',
    failureMessage: null,
    declineCode: 'insufficient_funds',
    processorPaymentIntentId: null,
    at: nov(day),
    ...over,
  };
}

export const object = (over: Partial<MorObjectRow> & Pick<MorObjectRow, 'kind' | 'status'>): MorObjectRow =>
  newMorObject(nov(5), { id: 'obj_1', invoiceId: 'in_oak', ...over });

export function review(over: Partial<ReviewRow>): ReviewRow {
  return {
    id: 'rev_1',
    kind: 'amount_mismatch',
    status: 'open',
    subject: 'x',
    invoiceId: 'in_oak',
    paymentRowId: null,
    refundId: null,
    topic: FACTS.amount_mismatch.code,
    fact: FACTS.amount_mismatch,
    actions: ['apply', 'refund', 'retry', 'dismiss'],
    proposed: null,
    dueAt: null,
    createdAt: nov(5),
    resolvedAt: null,
    resolvedBy: null,
    resolution: null,
    note: null,
    ...over,
  };
}

export function trail(over: Partial<RetryTrail> = {}): RetryTrail {
  const refused = { at: nov(5).toISOString(), heardAt: nov(5).toISOString(), eventId: 'evt_5' };
  const refusal = { ...refused, outcome: 'failed', kind: 'soft', code: 'insufficient_funds' } as const;
  return { refusal, retries: [], waitingSince: null, askedAt: null, ended: null, ...over };
}

export type Over = Partial<Omit<AnswerFacts, 'invoice'>> & { readonly invoice?: Partial<InvoiceRow> };
export function said(over: Over): readonly [string, string] {
  const none = { payments: [], refunds: [], objects: [], attempts: [], reviews: [], messages: [] };
  const { tone, text } = answerOf(
    { ...none, ...over, invoice: invoice(over.invoice ?? {}) },
    NOW,
    (r) => sentencesOf(r).summary,
  );
  return [tone, text];
}

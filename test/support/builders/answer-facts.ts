// Facts for the sentence why an invoice is paid or not: an invoice of 29.90 EUR of 3 November, seen on 6 November 2026.
import { sentencesOf } from '../../../src/core/reviews/rules/words.js';
import { ensuredInvoice, review as aReview } from './compare-rows.js';
import { type Ctx } from '../../../src/engine/context.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type AttemptRow, type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type MorObjectRow, newMorObject } from '../../../src/shared/domain/mor-object.js';
import { type RetryHistory } from '../../../src/shared/domain/retry.js';
import { type SentenceFacts, invoiceSentence } from '../../../src/core/invoices/invoice-sentence.js';

export const NOW = new Date('2026-11-06T12:00:00Z');
export const nov = (day: number, hour = 10): Date => new Date(Date.UTC(2026, 10, day, hour));

export function invoice(over: Partial<InvoiceRow>): InvoiceRow {
  return {
    ...ensuredInvoice(),
    customerId: 'cus_oak',
    number: 'OAK-1',
    status: 'open',
    platformStatus: 'open',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue: 2_990n,
    amountPaid: 0n,
    amountRemaining: 2_990n,
    total: 2_990n,
    subscriptionId: 'sub_oak',
    collectionMethod: 'charge_automatically',
    platformCreatedAt: nov(3),
    expectedBy: nov(4),
    enrolled: true,
    autoAdvance: true,
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

export const review = (over: Partial<ReviewRow>): ReviewRow =>
  aReview({ subject: 'x', paymentRowId: null, createdAt: nov(5), ...over });

export function trail(over: Partial<RetryHistory> = {}): RetryHistory {
  const refused = { at: nov(5).toISOString(), heardAt: nov(5).toISOString(), eventId: 'evt_5' };
  const refusal = { ...refused, outcome: 'failed', kind: 'soft', code: 'insufficient_funds' } as const;
  return { refusal, retries: [], waitingSince: null, askedAt: null, ended: null, ...over };
}

export type Over = Partial<Omit<SentenceFacts, 'invoice'>> & { readonly invoice?: Partial<InvoiceRow> };
export function said(over: Over): readonly [string, string] {
  const none = { payments: [], refunds: [], objects: [], attempts: [], reviews: [], calls: [] };
  const { tone, text } = invoiceSentence(
    { ...none, ...over, invoice: invoice(over.invoice ?? {}) },
    NOW,
    (r) => sentencesOf(r).summary,
  );
  return [tone, text];
}

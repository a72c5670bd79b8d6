// One invoice in the books with its payment, refund and review item, and Stripe's view of them, for tests of the
// comparison.
import { FACTS } from './item-facts.js';
import { emptyLane } from '../../../src/engine/context.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { type CreditNoteFacts, type PaymentRecordFacts } from '../../../src/shared/domain/ports/billing-reader.js';
import { type OurInvoice } from '../../../src/shared/domain/difference.js';
import { anInvoice, CUSTOMER_ID, INVOICE_ID, START } from './events.js';
import { aCtx } from './channel-lane.js';
import { ensureInvoice } from '../rigs/decide.js';

const CTX = aCtx(START);
export const LATER = new Date(START.getTime() + 3_600_000);

export const facts = (over: Partial<InvoiceFacts> = {}): InvoiceFacts =>
  anInvoice({ status: 'paid', amountDue: 2990n, amountPaid: 2990n, amountRemaining: 0n, ...over });

/** The row of an invoice before anything is known of it. */
export const ensuredInvoice = (): InvoiceRow => ensureInvoice(emptyLane(INVOICE_ID), CTX).invoice;

export function invoice(over: Partial<InvoiceRow> = {}): InvoiceRow {
  return {
    ...ensuredInvoice(),
    customerId: CUSTOMER_ID,
    status: 'paid',
    platformStatus: 'paid',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue: 2990n,
    amountPaid: 2990n,
    amountRemaining: 0n,
    amountOverpaid: 0n,
    total: 2990n,
    platformCreatedAt: START,
    factsAt: START,
    ...over,
  };
}

export function payment(over: Partial<PaymentRow> = {}): PaymentRow {
  return newPayment(CTX, {
    id: 'pmt_1',
    paymentId: 'pay_1',
    invoiceId: INVOICE_ID,
    customerId: CUSTOMER_ID,
    amount: 2990n,
    currency: 'EUR',
    processorChargeId: 'ch_1',
    reference: 'ch_1',
    succeededAt: START,
    mark: 'confirmed',
    markMode: 'payment_record',
    paymentRecordId: 'pr_1',
    ...over,
  });
}

export function refund(over: Partial<RefundRow> = {}): RefundRow {
  return {
    id: 'ref_1',
    paymentRowId: 'pmt_1',
    invoiceId: INVOICE_ID,
    morRefundId: 'rfnd_1',
    processorRefundId: 're_1',
    amount: 1000n,
    currency: 'EUR',
    status: 'succeeded',
    morStatus: null,
    reason: null,
    origin: 'api',
    askedOf: null,
    askedAs: null,
    counted: true,
    totalAfter: null,
    surplus: 0n,
    beyondSale: null,
    mirror: 'done',
    creditNoteId: 'cn_1',
    failure: null,
    createdAt: START,
    succeededAt: START,
    ...over,
  };
}

export function review(over: Partial<ReviewRow> = {}): ReviewRow {
  return {
    id: 'rev_1',
    kind: 'amount_mismatch',
    status: 'open',
    subject: 'pmt_1',
    invoiceId: INVOICE_ID,
    paymentRowId: 'pmt_1',
    refundId: null,
    topic: FACTS.amount_mismatch.code,
    fact: FACTS.amount_mismatch,
    actions: ['apply', 'refund', 'retry', 'dismiss'],
    proposed: null,
    dueAt: null,
    createdAt: START,
    resolvedAt: null,
    resolvedBy: null,
    resolution: null,
    note: null,
    ...over,
  };
}

export const ours = (over: Partial<OurInvoice> = {}): OurInvoice => ({
  invoice: invoice(),
  payments: [payment()],
  refunds: [],
  openReviews: [],
  objects: [],
  sameCharge: [],
  ...over,
});

export const note = (over: Partial<CreditNoteFacts> = {}): CreditNoteFacts => ({
  creditNoteId: 'cn_1',
  invoiceId: INVOICE_ID,
  createdAt: START,
  afterPayment: 1000n,
  toBalance: false,
  status: 'issued',
  amount: 1000n,
  currency: 'EUR',
  refundId: 'ref_1',
  references: ['re_1'],
  ...over,
});

export const record = (over: Partial<PaymentRecordFacts> = {}): PaymentRecordFacts => ({
  paymentRecordId: 'pr_1',
  createdAt: START,
  currency: 'EUR',
  amountRequested: 2990n,
  amountGuaranteed: 2990n,
  amountRefunded: 1000n,
  reference: 'ch_1',
  paymentId: 'pay_1',
  invoiceId: INVOICE_ID,
  lastRefundId: null,
  ...over,
});

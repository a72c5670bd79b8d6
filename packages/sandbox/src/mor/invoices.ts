// The invoice files of payments and refunds (Document 2, Invoices), found by id or by the processor's reference.
import { type Reply } from '../kernel/http.js';
import { type Kernel } from '../kernel/kernel.js';
import { type InvoiceFiles, stillMaking } from './invoice-files.js';
import { type OpenFacts } from './open-facts.js';
import { type Call, merchantRoutes } from './merchant-routes.js';
import { notFound, refuse } from './refusal.js';
import { type MorPayment, type MorRefund, type MorState } from './state.js';

function pspReference({ request }: Call): string {
  const reference = request.query.get('psp_reference') ?? '';
  if (reference.trim() === '') throw refuse(400, 'invalid_argument', 'psp_reference', 'is required');
  return reference;
}

/** Throws 404 for an unknown payment and for a payment without money taken. Replies 202 for a bank debit under way. */
function paymentInvoice(files: InvoiceFiles, payment: MorPayment | undefined, facts: OpenFacts): Reply {
  if (payment === undefined || payment.status === 'failed' || payment.status === 'requires_action') throw notFound();
  if (facts.is('charge_lookup', 'never')) throw notFound();
  if (payment.status === 'processing') return stillMaking();
  const sinceMs = facts.is('charge_lookup', 'at_once') ? 0 : payment.createdAtMs;
  return files.paymentInvoice(`invoice-${payment.uuid}`, sinceMs);
}

function refundInvoice(files: InvoiceFiles, refund: MorRefund | undefined): Reply {
  if (refund === undefined || refund.status === 'failed') throw notFound();
  if (refund.status === 'pending') return stillMaking();
  return files.paymentInvoice(`credit-note-${refund.uuid}`, refund.createdAtMs);
}

function first<T>(values: Iterable<T>, wanted: (one: T) => boolean): T | undefined {
  for (const one of values) if (wanted(one)) return one;
  return undefined;
}

/**
 * Adds the look-ups of invoice files. The second merchant finds none, because all payments and refunds belong to the
 * first merchant. An id is the uuid, `pay_…` or `rfnd_…`.
 */
export function addInvoices(kernel: Kernel, mor: MorState, files: InvoiceFiles): void {
  const route = merchantRoutes(kernel, mor);
  const payments = ({ account }: Call, wanted: (one: MorPayment) => boolean): MorPayment | undefined =>
    account === 'main' ? first(mor.payments.values(), wanted) : undefined;
  const refunds = ({ account }: Call, wanted: (one: MorRefund) => boolean): MorRefund | undefined =>
    account === 'main' ? first(mor.refunds.values(), wanted) : undefined;
  route('GET', '/api/payments/invoice', (call) => {
    const reference = pspReference(call);
    return paymentInvoice(
      files,
      payments(call, (one) => one.processorChargeId === reference || one.processorPaymentIntentId === reference),
      mor.openFacts,
    );
  });
  route('GET', '/api/refunds/invoice', (call) => {
    const reference = pspReference(call);
    return refundInvoice(
      files,
      refunds(call, (one) => one.processorRefundId === reference),
    );
  });
  route('GET', '/api/payments/:paymentId/invoice', (call) => {
    const id = call.request.params['paymentId'] ?? '';
    return paymentInvoice(
      files,
      payments(call, (one) => one.uuid === id.toLowerCase() || one.id === id),
      mor.openFacts,
    );
  });
  route('GET', '/api/refunds/:refundId/invoice', (call) => {
    const id = call.request.params['refundId'] ?? '';
    return refundInvoice(
      files,
      refunds(call, (one) => one.uuid === id.toLowerCase() || one.id === id),
    );
  });
}

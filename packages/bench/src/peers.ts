// A Stripe inside the bench's process. It answers at once, so only Crossbill's own work remains to measure.
import {
  type BillingReply,
  type BillingCall,
  BillingPlatform,
  type InvoiceFacts,
  type InvoicePaymentFacts,
  type EffectCheck,
  type StoredBillingCall,
} from '#src/shared/domain/ports/billing-platform.js';
import { type CallOutcome, type WireRequest } from '#src/shared/domain/ports/call.js';

function facts(invoiceId: string, paid: boolean): InvoiceFacts {
  return {
    invoiceId,
    customerId: invoiceId.replace('in_', 'cus_'),
    customerCountry: null,
    status: paid ? 'paid' : 'open',
    billingReason: 'subscription_cycle',
    currency: 'EUR',
    amountDue: 2990n,
    amountPaid: paid ? 2990n : 0n,
    amountRemaining: paid ? 0n : 2990n,
    amountOverpaid: 0n,
    total: 2990n,
    subscriptionId: null,
    collectionMethod: 'charge_automatically',
    createdAt: new Date(1793491200_000),
    finalizationError: null,
    number: null,
    finalizesAt: null,
  };
}

export class InstantPlatform extends BillingPlatform {
  private async reply<T>(value: T): Promise<CallOutcome<T>> {
    return { ok: true, value, status: 200, requestId: 'req_bench' };
  }

  encode(call: BillingCall): WireRequest {
    const plain = JSON.stringify(call, (_k, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));
    return { method: 'POST', path: `/${call.kind}/${call.invoiceId}`, body: plain };
  }

  send({ asked: { kind, invoiceId } }: StoredBillingCall): Promise<CallOutcome<BillingReply>> {
    switch (kind) {
      case 'report_payment':
        return this.reply({ kind: 'report_payment', paymentRecordId: `pr_${invoiceId}` });
      case 'attach_payment':
        return this.reply({ kind: 'attach_payment', invoice: facts(invoiceId, true) });
      case 'finalize_invoice':
      case 'set_reference':
        return this.reply({ kind, invoice: facts(invoiceId, false) });
      case 'pay_out_of_band':
      case 'mark_uncollectible':
        return this.reply({ kind, invoice: facts(invoiceId, true) });
      case 'report_refund':
        return this.reply({ kind, paymentRecordId: `pr_${invoiceId}` });
      case 'issue_credit_note':
        return this.reply({ kind, creditNoteId: `cn_${invoiceId}` });
      case 'cancel_subscription':
        return this.reply({ kind, subscriptionId: `sub_${invoiceId}` });
    }
  }

  check(): Promise<CallOutcome<EffectCheck>> {
    return this.reply({ done: false });
  }
  readInvoice(invoiceId: string): Promise<CallOutcome<InvoiceFacts | null>> {
    return this.reply(facts(invoiceId, false));
  }
  readToRelay(): Promise<CallOutcome<null>> {
    return this.reply(null);
  }
  readToRetry(): Promise<CallOutcome<null>> {
    return this.reply(null);
  }
  listInvoicePayments(): Promise<CallOutcome<readonly InvoicePaymentFacts[]>> {
    return this.reply([]);
  }
}

// A stored call read back from its own bytes: what it asked for, so that its effect can be recognised.
import { type StoredBillingCall } from '../domain/ports/billing-platform.js';
import { amountOf, dateOf, idOf, isObject, minorOf, optionalText, partOf, type JsonObject } from './parse.js';

export type StoredEffect =
  | {
      readonly kind: 'report_payment';
      readonly invoiceId: string;
      readonly paymentId: string;
      readonly reference: string;
      readonly minor: bigint;
      readonly currency: string; // upper case
      readonly initiatedAt: Date;
    }
  | { readonly kind: 'finalize_invoice' | 'pay_out_of_band'; readonly invoiceId: string }
  | { readonly kind: 'attach_payment'; readonly invoiceId: string; readonly paymentRecordId: string }
  | {
      readonly kind: 'set_reference';
      readonly invoiceId: string;
      readonly paymentId: string;
      readonly reference: string;
    }
  | {
      readonly kind: 'report_refund';
      readonly paymentRecordId: string;
      readonly refundId: string;
      readonly reference: string;
      readonly minor: bigint;
    }
  | {
      readonly kind: 'issue_credit_note';
      readonly invoiceId: string;
      readonly refundId: string;
      readonly minor: bigint;
      /** Null: out of band. */
      readonly reference: string | null;
    };

/** Null when the bytes are not those of a call of this kind: then nothing must be sent. */
export function readStoredCall(call: StoredBillingCall): StoredEffect | null {
  const { method, path, body } = call.wire;
  const params = body === null ? null : parseBody(body);
  if (method !== 'POST' || params === null) return null;
  switch (call.kind) {
    case 'finalize_invoice':
    case 'pay_out_of_band': {
      const action = call.kind === 'finalize_invoice' ? 'finalize' : 'pay';
      const invoiceId = idWithin(path, 'invoices', action);
      return invoiceId === null ? null : { kind: call.kind, invoiceId };
    }
    case 'attach_payment': {
      const invoiceId = idWithin(path, 'invoices', 'attach_payment');
      const paymentRecordId = idOf(params['payment_record']);
      if (invoiceId === null || paymentRecordId === null) return null;
      return { kind: call.kind, invoiceId, paymentRecordId };
    }
    case 'set_reference': {
      const metadata = partOf(params['metadata']);
      const invoiceId = idWithin(path, 'invoices', null);
      const paymentId = optionalText(metadata['mor_payment_id']);
      const reference = optionalText(metadata['mor_charge_id']);
      if (invoiceId === null || paymentId === null || reference === null) return null;
      return { kind: call.kind, invoiceId, paymentId, reference };
    }
    case 'report_payment':
      return path === '/v1/payment_records/report_payment' ? readReport(params) : null;
    case 'report_refund': {
      const paymentRecordId = idWithin(path, 'payment_records', 'report_refund');
      const refundId = optionalText(partOf(params['metadata'])['refund_id']);
      const reference = optionalText(partOf(partOf(params['processor_details'])['custom'])['refund_reference']);
      const amount = amountOf(params['amount']);
      if (paymentRecordId === null || refundId === null || reference === null || amount === null) return null;
      return { kind: call.kind, paymentRecordId, refundId, reference, minor: amount.minor };
    }
    case 'issue_credit_note':
      return path === '/v1/credit_notes' ? readNote(params) : null;
  }
}

function readReport(params: JsonObject): StoredEffect | null {
  const metadata = partOf(params['metadata']);
  const invoiceId = idOf(metadata['invoice_id']);
  const paymentId = optionalText(metadata['payment_id']);
  const reference = optionalText(partOf(partOf(params['processor_details'])['custom'])['payment_reference']);
  const amount = amountOf(params['amount_requested']);
  const initiatedAt = dateOf(params['initiated_at']);
  if (invoiceId === null || paymentId === null || reference === null || amount === null || initiatedAt === null)
    return null;
  return { kind: 'report_payment', invoiceId, paymentId, reference, ...amount, initiatedAt };
}

function readNote(params: JsonObject): StoredEffect | null {
  const invoiceId = idOf(params['invoice']);
  const refundId = optionalText(partOf(params['metadata'])['refund_id']);
  const minor = minorOf(params['amount']);
  if (invoiceId === null || refundId === null || minor === null) return null;
  const refunds: unknown = params['refunds'];
  const first: unknown = Array.isArray(refunds) ? refunds[0] : null;
  const reference = optionalText(partOf(partOf(first)['payment_record_refund'])['refund_group']);
  return { kind: 'issue_credit_note', invoiceId, refundId, minor, reference };
}

/** The id in `/v1/{collection}/{id}` or `/v1/{collection}/{id}/{action}`. */
function idWithin(path: string, collection: string, action: string | null): string | null {
  const [empty, version, where, id, what, ...rest] = path.split('/');
  if (empty !== '' || version !== 'v1' || where !== collection || id === undefined || id === '') return null;
  if ((what ?? null) !== action || rest.length > 0 || /[?#]/.test(id)) return null;
  try {
    return decodeURIComponent(id);
  } catch {
    return null;
  }
}

function parseBody(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

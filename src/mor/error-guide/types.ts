// The words of the error guide: the calls there are, and what a row says.
import { type FailureKind } from '../../domain/ports/call.js';

/** The calls of the three documents. One name per row of their error tables; also the name of a call in metrics. */
export type MorCallName =
  | 'partner.whoami'
  | 'partner.regions'
  | 'onboarding.initiate'
  | 'merchant.list'
  | 'merchant.create'
  | 'merchant.read'
  | 'application.read'
  | 'application.put'
  | 'application.patch'
  | 'application.submit'
  | 'tax.calculate'
  | 'tax.transaction.create'
  | 'tax.transaction.list'
  | 'tax.transaction.read'
  | 'tax.transaction.invoice'
  | 'tax.refund.list'
  | 'tax.refund.create'
  | 'catalogue.import'
  | 'proforma.create'
  | 'proforma.from_calculation'
  | 'proforma.read'
  | 'proforma.document'
  | 'proforma.delete'
  | 'invoice.read'
  | 'payment_link.create'
  | 'payment_link.read'
  | 'e_invoice.read'
  | 'webhook.create'
  | 'webhook.list'
  | 'webhook.delete'
  | 'setup_intent.create'
  | 'payment_intent.create'
  | 'refund.create';

export type ErrorRow = {
  readonly calls: readonly MorCallName[] | 'all';
  readonly status: number;
  /** Null: the document gives no code. */
  readonly code: string | null;
  /** Set where one code has several reasons and the field, or one within it, tells them apart. */
  readonly field?: string;
  /** One sentence for the operator. */
  readonly advice: string;
  /** How the call failed, where that is not what its HTTP status says by itself. */
  readonly kind?: FailureKind;
};

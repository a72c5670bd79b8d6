// What e-invoices add to the facts of review items.

/** An event about an e-invoice whose invoice nobody knows. */
type UnknownEInvoice = {
  readonly code: 'unknown-e-invoice';
  readonly event: string;
  readonly type: string;
  readonly eInvoice: string;
};

export type DocumentCode = UnknownEInvoice['code'];

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly documents: { readonly conflicting_event: UnknownEInvoice };
  }
}

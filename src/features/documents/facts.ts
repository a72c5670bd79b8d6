// What e-invoices add to the MoR's events and to the facts of review items.
import { type ServiceFacts } from '../../shared/domain/events/mor-service-event.js';

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

declare module '../../shared/domain/events/mor-service-event.js' {
  interface MorServiceEvents {
    readonly 'e_invoice.issued': ServiceFacts;
    readonly 'e_invoice.issuance_failed': ServiceFacts;
    readonly 'e_invoice.cancelled': ServiceFacts;
  }
}

// One call to somebody else that a lane needs next.
import { type InvoiceRow, type OutboxRow } from '../domain/model.js';
import { type ChargedFor } from '../domain/ports/billing-reader.js';
import { type BillingCall } from '../domain/ports/billing-platform.js';

/** One call to somebody else. */
export type Errand =
  | { readonly do: 'read-invoice'; readonly invoiceId: string }
  /** Whose is the key? An event that names an account waits for it. */
  | { readonly do: 'read-account' }
  /** The invoice and its subscription as the platform has them, to have the MoR charge it again. */
  | { readonly do: 'read-to-retry'; readonly invoiceId: string }
  | { readonly do: 'prove-charge'; readonly paymentRowId: string; readonly chargeId: string }
  | {
      readonly do: 'read-object';
      readonly objectId: string;
      readonly kind: 'proforma' | 'payment_link';
      readonly morId: string;
    }
  | { readonly do: 'send'; readonly message: OutboxRow }
  | { readonly do: 'probe'; readonly message: OutboxRow }
  /** The verdict is late: does its customer pay by bank debit, which takes days? */
  | { readonly do: 'ask-debit'; readonly customerId: string }
  /** Is the customer enrolled? */
  | { readonly do: 'look-up-enrolment'; readonly invoice: InvoiceRow & { readonly customerId: string } }
  /** What would the platform charge for the invoice by itself? `fresh`: an earlier look will not do. */
  | { readonly do: 'look-at-charging'; readonly of: ChargedFor; readonly fresh: boolean }
  | { readonly do: 'identify'; readonly paymentRowId: string; readonly asked: BillingCall };

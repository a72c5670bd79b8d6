// The payment methods of a customer at the MoR: one for each signup, each later setup and each link that was made elsewhere.
import { type ConfirmedMethod } from '../retry.js';

export const METHOD_ORIGINS = ['signup', 'change', 'import'] as const;

export type PaymentMethod = {
  readonly customerId: string;
  /** Ours: `sup_…` or `met_…`; null: its link was made elsewhere. */
  readonly id: string | null;
  readonly origin: (typeof METHOD_ORIGINS)[number];
  /** Null: a payment intent saved it, or it was saved elsewhere. */
  readonly setupIntentId: string | null;
  /** Null: a setup intent saved it, or it was saved elsewhere. */
  readonly paymentIntentId: string | null;
  readonly morCustomerId: string;
  readonly createdAt: Date;
  /** When its confirmation became known; null: it is not known. A link that was made elsewhere counts as confirmed. */
  readonly confirmedAt: Date | null;
  /** `charge`, or who reported it, or who linked it. */
  readonly confirmedBy: string | null;
  /** The newest confirmed one of its customer, or the newest if none is confirmed. */
  readonly current: boolean;
};

/** A confirmed method, and the invoices that have to know of it. */
export type Announcement = {
  readonly method: ConfirmedMethod;
  readonly invoiceIds: readonly string[];
};

export abstract class PaymentMethods {
  /** Of each of these customers, newest first. */
  abstract of(customerIds: readonly string[]): Promise<ReadonlyMap<string, readonly PaymentMethod[]>>;
  /** The request of the customer's newest signup, as it was sent to the MoR; null: none, or it was erased. */
  abstract signupBody(customerId: string): Promise<string | null>;
  /**
   * Somebody reports that the newest setup of the customer was confirmed; a second report of the same changes nothing. Null: no setup of this
   * customer was made here. `isNew`: its invoices have still to be told.
   */
  abstract report(
    customerId: string,
    by: string,
  ): Promise<{ readonly method: ConfirmedMethod; readonly isNew: boolean } | null>;
  /**
   * Confirmed methods still to be reported to the customer's unpaid invoices: the oldest first, at most `limit`.
   * @param customerId null: of all customers
   */
  abstract unannounced(limit: number, customerId: string | null): Promise<readonly Announcement[]>;
  /** The invoices know of these. A report that came meanwhile is kept for the next time. */
  abstract announced(methods: readonly ConfirmedMethod[]): Promise<void>;
  /** The customer's invoices that the MoR refused and that can still be paid, newest first. */
  abstract refusedInvoices(customerId: string): Promise<readonly string[]>;
}

// Tax at the MoR (Document 2) and what is needed to ask for it. Amounts are smallest units.
import { type BilledParty } from './billing-reader.js';
import { type CallOutcome, type WireRequest } from './call.js';

/** The calls that the bridge makes by itself with MOR_PRODUCT=tor. Each becomes one outbox message. */
export type TaxCall =
  | {
      readonly kind: 'calculate_tax';
      readonly currency: string; // upper case
      readonly customer: {
        readonly reference: string;
        readonly firstName: string | null;
        readonly lastName: string | null;
        readonly legalName: string | null;
        readonly email: string | null;
        readonly taxIdentifiers: readonly { readonly type: string; readonly code: string }[];
        readonly billingAddress: {
          readonly line1: string;
          readonly line2: string | null;
          readonly city: string;
          readonly state: string | null;
          readonly postalCode: string;
          readonly country: string;
        };
      };
      /** Gross amounts: they are sent as `INCLUSIVE`. */
      readonly lines: readonly {
        readonly reference: string;
        readonly productCode: string;
        readonly title: string | null;
        readonly gross: bigint;
      }[];
      /** Null where Document 2 wants none. */
      readonly evidence: { readonly billingCountry: string; readonly ipAddress: string | null } | null;
    }
  | {
      readonly kind: 'commit_tax';
      readonly taxCalculationId: string;
      readonly reference: string;
      /** The processor's charge id. */
      readonly paymentReference: string;
    }
  | {
      readonly kind: 'refund_tax';
      readonly transactionId: string;
      readonly reference: string;
      readonly refundedAt: Date;
      readonly reason: string;
      readonly currency: string;
      /** Gross amounts. */
      readonly lines: readonly { readonly lineItemId: string; readonly gross: bigint }[];
    };

export type TaxCalculationFacts = {
  readonly taxCalculationId: string;
  readonly currency: string; // upper case
  /** With tax and duty; null when it is no exact amount of the currency. */
  readonly total: bigint | null;
};

export type TaxTransactionFacts = {
  readonly transactionId: string;
  /** `gross` null: the answer did not say. */
  readonly lines: readonly { readonly lineItemId: string; readonly gross: bigint | null }[];
};

export abstract class TaxDesk {
  /** Has no key: a second try makes a second calculation, which binds nobody. */
  abstract calculate(wire: WireRequest): Promise<CallOutcome<TaxCalculationFacts>>;
  /** The references in the bytes are the keys (Document 2). */
  abstract commit(wire: WireRequest): Promise<CallOutcome<TaxTransactionFacts>>;
  abstract refund(wire: WireRequest): Promise<CallOutcome<{ readonly taxRefundId: string }>>;
}

/** What the billing platform knows of a paid invoice that a calculation needs. */
export type TaxBasis = {
  readonly invoiceId: string;
  readonly customerId: string;
  readonly currency: string; // upper case
  /** What the customer had to pay for all lines, tax included, less what was credited before it was paid. */
  readonly total: bigint;
  readonly customer: BilledParty;
  /** Where the customer was last seen; null: the platform does not know. */
  readonly ipAddress: string | null;
  readonly lines: readonly {
    readonly reference: string;
    readonly productCode: string | null;
    readonly description: string | null;
    /** After discounts; below zero for a credit. */
    readonly amount: bigint;
  }[];
};

export abstract class TaxBasisReader {
  /** A fresh read. Null: the platform does not know the invoice. */
  abstract readTaxBasis(invoiceId: string): Promise<CallOutcome<TaxBasis | null>>;
}

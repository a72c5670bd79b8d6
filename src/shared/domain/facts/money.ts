// Facts about a payment that does not fit its invoice.
import { type Money } from '../money.js';
import { type NothingDue, type Seen, type Time } from './parts.js';

export type AmountFact =
  | {
      readonly code: 'amount-differs';
      readonly taken: Money;
      readonly due: Money;
      readonly marking: 'payment_record' | 'out_of_band';
    }
  /** The MoR took the amount of the draft (`drafted`), and the invoice grew to `due` before it was final. */
  | {
      readonly code: 'amount-grew';
      readonly drafted: Money;
      readonly due: Money;
      readonly taken: Money;
      readonly marking: 'payment_record' | 'out_of_band';
    }
  | { readonly code: 'rest-due'; readonly status: string; readonly due: Money }
  | { readonly code: 'marked-beyond'; readonly shown: Money; readonly taken: Money }
  | {
      readonly code: 'overpaid';
      readonly over: Money;
      readonly due: Money;
      readonly by: readonly { readonly payment: string; readonly amount: Money }[];
      readonly refunded: Money;
      readonly left: Money;
      /** True: Stripe credited the overpaid amount to the customer's balance. */
      readonly credited: boolean;
    }
  | {
      readonly code: 'completed-otherwise';
      readonly signup: string;
      readonly charge: string;
      readonly stated: Money;
      readonly asked: Money;
      /** The refund of this payment that the MoR refused. Null: the MoR refused none. */
      readonly failed: { readonly amount: Money; readonly said: string | null } | null;
    };

export type NotPayableFact =
  | { readonly code: 'no-such-invoice'; readonly taken: Money; readonly invoice: string }
  | {
      readonly code: 'invoice-void';
      readonly taken: Money;
      readonly invoice: string;
      readonly replacedBy: string | null;
    };

export type DoubleFact =
  | {
      readonly code: 'paid-twice';
      readonly taken: Money;
      readonly settledBy: string;
      readonly sameCharge: string | null;
      /** True: perhaps the MoR reported one payment two times. */
      readonly maybeOne: boolean;
      readonly observations: readonly Seen[];
    }
  | {
      readonly code: 'paid-otherwise';
      readonly taken: Money;
      readonly record: string | null;
      readonly observations: readonly Seen[];
    }
  /** The invoice became paid without any payment, and the MoR took money for it. */
  | {
      readonly code: 'nothing-due';
      readonly taken: Money;
      readonly why: NothingDue;
      readonly record: string | null;
      readonly observations: readonly Seen[];
    }
  | { readonly code: 'named-again'; readonly taken: Money; readonly charge: string | null; readonly payment: string }
  | {
      readonly code: 'charge-elsewhere';
      readonly payment: string;
      readonly amount: Money;
      readonly charge: string | null;
      readonly holder: string;
      readonly holderInvoice: string;
    }
  | {
      readonly code: 'may-stand';
      readonly what: 'payment_link' | 'proforma';
      readonly object: string;
      readonly invoice: string;
    }
  | {
      readonly code: 'still-payable';
      readonly what: 'payment_link' | 'proforma';
      readonly object: string;
      readonly status: string;
      readonly until: Time | null;
    };

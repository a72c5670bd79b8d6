// Facts of disputes and of debits returned by banks.
import { type Money } from '../money.js';
import { type Apart, type Disputed, type Time } from './parts.js';

/** A credit note for a loss stands on Stripe, and more of it than a bank has taken. */
type CreditFact = {
  readonly code: 'credit-beyond-loss';
  readonly creditNote: string;
  readonly payment: string;
  readonly credited: Money;
  /** A bank's part of it. */
  readonly lost: Money;
  /** The dispute was won after all, or the return undone. False: the loss became less, as by a refund. */
  readonly over: boolean;
};

export type DisputeFact =
  | CreditFact
  | ({
      readonly code: 'evidence-due';
      readonly dispute: string;
      readonly until: Time | null;
      readonly afterOutcome: string | null;
      readonly url: string | null;
    } & Disputed)
  | {
      readonly code: 'evidence-returned';
      readonly dispute: string;
      readonly until: Time | null;
      readonly afterOutcome: string | null;
      readonly url: string | null;
      readonly note: string | null;
    }
  | { readonly code: 'outcome-unclear'; readonly dispute: string; readonly outcome: string | null }
  | ({
      readonly code: 'dispute-lost';
      readonly dispute: string;
      /** The customer got `got` of it twice. Null: nothing of it. */
      readonly twice: {
        readonly payment: string;
        readonly how: 'refunded' | 'taken-back';
        readonly got: Money;
        readonly booked: Money;
      } | null;
      /** Somebody booked the loss outside the ledger, and the ledger has it now. */
      readonly bookedSince: boolean;
      readonly apart: Apart;
    } & Disputed)
  | {
      readonly code: 'loss-unread';
      readonly dispute: string;
      readonly unread: string;
      readonly takenBack: boolean;
      readonly refunded: boolean;
      readonly apart: Apart;
    }
  | ({
      readonly code: 'won-after-loss';
      readonly dispute: string;
      /** The loss is reversed in the ledger. */
      readonly reversed: boolean;
      /** An item asked somebody to book it outside the ledger. */
      readonly beside: boolean;
    } & Disputed)
  | ({
      readonly code: 'alert-received';
      readonly alert: string;
      readonly payment: string | null;
      readonly until: Time | null;
    } & Disputed)
  | {
      readonly code: 'alert-handled';
      readonly alert: string;
      readonly payment: string | null;
      readonly refunded: boolean;
    }
  | { readonly code: 'unknown-dispute'; readonly event: string; readonly type: string; readonly until: Time | null };

export type ReturnFact =
  | CreditFact
  | {
      readonly code: 'debit-returned';
      readonly payment: string;
      readonly amount: Money;
      readonly invoice: string;
      readonly marked: boolean;
      readonly apart: Apart;
    }
  | { readonly code: 'return-undone'; readonly payment: string; readonly amount: Money }
  | {
      readonly code: 'returned-twice';
      readonly payment: string;
      readonly got: Money;
      readonly booked: Money;
      readonly how: 'refunded' | 'refunded-or-lost';
    };

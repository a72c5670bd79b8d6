// What disputes and debits returned by banks add to the MoR's events and to the facts of review items.
import { type ServiceFacts } from '../../shared/domain/events/mor-service-event.js';
import { type CodesIn } from '../../shared/domain/fact.js';
import { type Apart, type Disputed, type Refused, type Time } from '../../shared/domain/facts/parts.js';
import { type Money } from '../../shared/domain/money.js';

/** Stripe has a credit note for a loss, and the note is larger than the loss. */
type CreditFact = {
  readonly code: 'credit-beyond-loss';
  readonly creditNote: string;
  readonly payment: string;
  readonly credited: Money;
  /** The amount lost to the bank in the end. */
  readonly lost: Money;
  /** True: the dispute was won, or the return was undone. False: the loss became smaller, for example by a refund. */
  readonly over: boolean;
};

type DisputeFact =
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
      /**
       * The customer got the amount `got` twice: from the bank, and by a refund or another loss. Null: nothing was paid
       * twice.
       */
      readonly twice: {
        readonly payment: string;
        readonly how: 'refunded' | 'taken-back';
        readonly got: Money;
        readonly booked: Money;
      } | null;
      /** True: a person booked the loss outside the ledger, and later the ledger booked it too. */
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
      /** True: the ledger has reversed the loss. */
      readonly reversed: boolean;
      /** True: an earlier item asked a person to book the loss outside the ledger. */
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

type ReturnFact =
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

type LossFacts = {
  readonly dispute: DisputeFact;
  readonly debit_returned: ReturnFact;
  readonly effect_failed: { readonly code: 'credit-refused'; readonly loss: string } & Refused;
};

export type LossCode = CodesIn<LossFacts>;

declare module '../../shared/domain/fact.js' {
  interface FeatureFacts {
    readonly losses: LossFacts;
  }
}

declare module '../../shared/domain/events/mor-service-event.js' {
  interface MorServiceEvents {
    readonly 'dispute.action_needed': ServiceFacts;
    readonly 'dispute.outcome': ServiceFacts;
    readonly 'dispute.revision_requested': ServiceFacts;
    readonly 'pre_chargeback_alert.received': ServiceFacts;
    readonly 'pre_chargeback_alert.outcome': ServiceFacts;
  }
}

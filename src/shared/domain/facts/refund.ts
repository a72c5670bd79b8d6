// Facts about refunds with a wrong sum or without a result.
import { type Money } from '../money.js';
import { type Refused, type Time } from './parts.js';

export type GapFact =
  | {
      readonly code: 'refunds-beyond-payment';
      readonly payment: string;
      readonly amount: Money;
      readonly refunded: Money;
    }
  | {
      readonly code: 'refund-event-missing';
      readonly payment: string;
      readonly reported: Money;
      readonly received: Money;
    }
  | { readonly code: 'totals-overlap'; readonly payment: string; readonly at: Money }
  | { readonly code: 'refund-unshown'; readonly payment: string; readonly amount: Money }
  | {
      readonly code: 'refund-beyond-sale';
      readonly refund: string;
      readonly amount: Money;
      /** The part of the refund without a credit note. */
      readonly beyond: Money;
      readonly total: Money;
      /** The part of `beyond` that paid an older debt of the customer, collected with the invoice. Null: nothing. */
      readonly debt: Money | null;
    }
  | {
      readonly code: 'answer-differs';
      readonly payment: string;
      readonly asked: Money;
      readonly answered: Money;
      readonly answeredFor: string;
    }
  | ({
      readonly code: 'request-refused';
      readonly refund: string;
      readonly amount: Money;
      readonly other: string | null;
      /** True: no try so far can have moved money. */
      readonly nothingMade: boolean;
    } & Omit<Refused, 'call'>);

export type StuckFact =
  | {
      readonly code: 'refund-waits';
      readonly refund: string;
      readonly amount: Money;
      readonly status: string;
      readonly since: Time;
      /** True: the MoR may have forgotten the idempotency key, so Crossbill does not send the request again. */
      readonly withdrawn: boolean;
      /** The MoR refused the request, but an earlier try may have moved the money. Null: the MoR did not refuse. */
      readonly refused: Omit<Refused, 'call'> | null;
      readonly dismissedAt: Time | null;
    }
  | {
      readonly code: 'refund-failed';
      readonly refund: string;
      readonly error: string | null;
      readonly said: string | null;
    };

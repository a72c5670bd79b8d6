// Facts about events that contradict Crossbill's records.
import { type Money } from '../money.js';
import { type Seen, type Time } from './parts.js';

export type ConflictFact =
  | {
      readonly code: 'success-differs';
      readonly payment: string;
      readonly observations: readonly [said: Seen, recorded: Seen];
    }
  | {
      readonly code: 'refused-after';
      readonly payment: string | null;
      readonly charge: string | null;
      readonly takenAt: Time;
      readonly refusedAt: Time;
      readonly reason: string | null;
    }
  | { readonly code: 'refunded-elsewhere'; readonly amount: Money; readonly payment: string }
  | {
      readonly code: 'payment-misnamed';
      readonly by: string;
      readonly payment: string;
      readonly ownCharge: string | null;
      readonly charge: string | null;
      readonly customer: string;
      readonly amount: Money;
    }
  | {
      readonly code: 'payment-renamed';
      readonly from: string;
      readonly to: string;
      readonly amount: Money;
    }
  | { readonly code: 'refund-differs'; readonly event: string; readonly refund: string | null }
  | {
      readonly code: 'refund-named-otherwise';
      readonly event: string;
      readonly refund: string | null;
      readonly amount: Money;
      readonly processorRefund: string | null;
      readonly other: string;
    }
  | {
      readonly code: 'announced-otherwise';
      readonly object: string;
      readonly announced: Money;
      readonly recorded: Money | null;
    }
  | { readonly code: 'payment-elsewhere'; readonly event: string; readonly payment: string; readonly invoice: string }
  | { readonly code: 'second-body'; readonly event: string; readonly type: string }
  | { readonly code: 'unknown-capture'; readonly event: string }
  | { readonly code: 'unknown-refund'; readonly event: string; readonly payment: string; readonly amount: Money };

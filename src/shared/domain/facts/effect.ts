// Facts about work for a person: Stripe or the MoR refused a call for good, a lane is stuck, an enrolment is unread.
import { type ByHand, type Refused, type Time } from './parts.js';

export type EffectFact =
  | ({ readonly code: 'mark-refused'; readonly byHand: ByHand | null } & Refused)
  | { readonly code: 'mark-untraceable'; readonly payment: string; readonly reference: string; readonly why: string }
  | ({ readonly code: 'relay-refused' } & Refused)
  | ({ readonly code: 'retry-refused'; readonly retry: number; readonly heard: boolean } & Refused)
  | ({ readonly code: 'end-refused' } & Refused)
  | ({ readonly code: 'recovery-refused' } & Refused)
  | ({
      readonly code: 'mirror-refused';
      readonly processorRefund: string | null;
      readonly other: { readonly refund: string; readonly payment: string; readonly invoice: string } | null;
    } & Refused)
  | ({ readonly code: 'credit-refused'; readonly loss: string } & Refused)
  | { readonly code: 'lane-stuck'; readonly lane: string; readonly why: string }
  | { readonly code: 'enrolment-unread'; readonly customer: string | null; readonly since: Time };

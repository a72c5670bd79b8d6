// Facts about work for a person: Stripe or the MoR refused a call for good, or a lane is stuck.
import { type ByHand, type Refused } from './parts.js';

export type EffectFact =
  | ({ readonly code: 'mark-refused'; readonly byHand: ByHand | null } & Refused)
  | { readonly code: 'mark-untraceable'; readonly payment: string; readonly reference: string; readonly why: string }
  | ({ readonly code: 'relay-refused' } & Refused)
  | ({
      readonly code: 'mirror-refused';
      readonly processorRefund: string | null;
      readonly other: { readonly refund: string; readonly payment: string; readonly invoice: string } | null;
    } & Refused)
  | { readonly code: 'lane-stuck'; readonly lane: string; readonly why: string };

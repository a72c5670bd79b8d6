// The settings that decisions depend on, apart from where they come from.
import { type MarkMode } from './model.js';

export type FlowSettings = {
  readonly markMode: MarkMode;
  readonly draftPolicy: 'wait' | 'finalize';
  /** Hours after which an expected renewal without a verdict becomes a review item. */
  readonly renewalAlarmAfterHours: number;
  readonly signupChargeCheck: 'psp_reference' | 'off';
  /** True: relay each `invoice.created` to the MoR. */
  readonly relay: boolean;
  /** `tor`: tax transactions and tax refunds are committed by the bridge. */
  readonly morProduct: 'mor' | 'tor';
};

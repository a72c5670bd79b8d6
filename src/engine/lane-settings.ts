// What the settings say to whoever decides on a lane.
import { type Config, stripeMode } from '../config/index.js';
import { type FlowSettings } from '../domain/settings.js';

/** The injection token of `FlowSettings`. */
export const FLOW_SETTINGS = Symbol('FLOW_SETTINGS');

export type LiveModeRule = { /** Null: the key does not tell. */ readonly expected: boolean | null };

/** The injection token of `LiveModeRule`. */
export const LIVE_MODE = Symbol('LIVE_MODE');

export function flowSettings(config: Config): FlowSettings {
  return {
    markMode: config.billingMarkMode,
    draftPolicy: config.billingDraftPolicy,
    renewalAlarmAfterHours: config.renewalAlarmAfterHours,
    bankDebitAlarmAfterDays: config.bankDebitAlarmAfterDays,
    signupChargeCheck: config.signupChargeCheck,
    relay: config.morRelayUrl !== null,
    recoveryLinks: recoveryLinks(config),
    retrySchedule: config.retrySchedule,
    shadow: config.shadow,
    enrolment: config.enrolment,
    guard: true,
  };
}

function recoveryLinks(config: Config): FlowSettings['recoveryLinks'] {
  const { recoveryLinkJurisdiction: jurisdiction, recoveryLinkReturnUrl: returnUrl } = config;
  if (jurisdiction === null || returnUrl === null) return null;
  return { jurisdiction, returnUrl, expiresSec: config.recoveryLinkExpiresSec };
}

/** Stripe's keys say which mode they are for; an event of the other mode is none of ours. */
export function liveMode(config: Config): LiveModeRule {
  const mode = stripeMode(config);
  return { expected: mode === 'unknown' ? null : mode === 'live' };
}

// Makes the context of each decision: time, ids, settings, and the bytes of calls. Its `decider` has the rules.
import { Inject, Injectable } from '@nestjs/common';
import { type Config } from '../shared/config/index.js';
import { type Ctx } from './context.js';
import { BillingPlatform } from '../shared/domain/ports/billing-platform.js';
import { Clock, Ids, Rng } from '../shared/domain/ports/clock.js';
import { PaymentGateway } from '../shared/domain/ports/payment-gateway.js';
import { type DecisionSettings } from '../shared/domain/settings.js';
import { Decider } from './decider.js';

/** The injection token of `DecisionSettings`. */
export const DECISION_SETTINGS = Symbol('FLOW_SETTINGS');

@Injectable()
export class DecisionContext {
  constructor(
    @Inject(DECISION_SETTINGS) readonly settings: DecisionSettings,
    readonly clock: Clock,
    private readonly rng: Rng,
    private readonly ids: Ids,
    private readonly platform: BillingPlatform,
    private readonly gateway: PaymentGateway,
    readonly decider: Decider,
  ) {}

  /** The context for a page, with the time of this process's clock. */
  now(): Ctx {
    return this.at(this.clock.now());
  }

  /** The context of one decision, with one fixed time. A decision on stored rows uses the database's time. */
  at(now: Date): Ctx {
    return {
      now,
      settings: this.settings,
      newId: (prefix) => this.ids.next(prefix),
      encodeBilling: (call) => this.platform.encode(call),
      encodeMor: (call) => this.gateway.encode(call),
      jitter: () => this.rng.next(),
      ports: this.decider.subjects.ports,
    };
  }

  /** The context of a decision without a claim: a worker may work on the lane at the same time. */
  beside(now: Date): Ctx {
    return { ...this.at(now), beside: true };
  }
}

/** The settings of the rules. */
export function decisionSettings(config: Config): DecisionSettings {
  const { recoveryLinkJurisdiction: jurisdiction, recoveryLinkReturnUrl: returnUrl } = config;
  const expiresSec = config.recoveryLinkExpiresSec;
  return {
    markMode: config.billingMarkMode,
    draftPolicy: config.billingDraftPolicy,
    renewalAlarmAfterHours: config.renewalAlarmAfterHours,
    bankDebitAlarmAfterDays: config.bankDebitAlarmAfterDays,
    signupChargeCheck: config.signupChargeCheck,
    relay: config.morRelayUrl === null ? null : config.morRelayEvents,
    recoveryLinks: jurisdiction === null || returnUrl === null ? null : { jurisdiction, returnUrl, expiresSec },
    retrySchedule: config.retrySchedule,
    sendsNothing: config.sendsNothing,
    enrolment: config.enrolment,
    guard: true,
  };
}

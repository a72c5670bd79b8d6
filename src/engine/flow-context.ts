// What every flow needs to decide: the subjects, time, names, settings and the two ways of putting a call into bytes.
import { Inject, Injectable } from '@nestjs/common';
import { type Ctx } from './change.js';
import { BillingPlatform } from '../domain/ports/billing-platform.js';
import { Clock, Ids, Rng } from '../domain/ports/clock.js';
import { PaymentGateway } from '../domain/ports/payment-gateway.js';
import { type FlowSettings } from '../domain/settings.js';
import { Decider } from './decider.js';
import { FLOW_SETTINGS } from './lane-settings.js';

@Injectable()
export class FlowContext {
  constructor(
    @Inject(FLOW_SETTINGS) readonly settings: FlowSettings,
    readonly clock: Clock,
    private readonly rng: Rng,
    private readonly ids: Ids,
    private readonly platform: BillingPlatform,
    private readonly gateway: PaymentGateway,
    readonly decider: Decider,
  ) {}

  /** What is only shown, by this process's clock. */
  now(): Ctx {
    return this.at(this.clock.now());
  }

  /** The context of one decision: the time stands still in it. For what is stored it is the database's. */
  at(now: Date): Ctx {
    return {
      now,
      settings: this.settings,
      newId: (prefix) => this.ids.next(prefix),
      encodeBilling: (call) => this.platform.encode(call),
      encodeMor: (call) => this.gateway.encode(call),
      jitter: () => this.rng.next(),
    };
  }

  /** The same for who does not work the lane, and decides beside whoever does. */
  beside(now: Date): Ctx {
    return { ...this.at(now), beside: true };
  }
}

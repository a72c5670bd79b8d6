// Asks the MoR for the outcome of applications in review: no event reports it (Document 1).
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { OnboardingFlow } from './onboarding.flow.js';
import { ONBOARDING_LOOK_EVERY_MS } from '../../shared/policy.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

@Injectable()
export class OnboardingPoller {
  constructor(
    private readonly flow: OnboardingFlow,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Every replica runs this, and the database gives each due merchant to one replica. */
  @Interval(ONBOARDING_LOOK_EVERY_MS)
  async poll(): Promise<void> {
    try {
      await this.flow.poll();
    } catch (err) {
      this.log.error({ event: 'onboarding.poll_failed', err }, "Couldn't read applications at the MoR");
    }
  }
}

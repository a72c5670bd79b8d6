// Asks for the outcome of applications that wait for a reviewer: no event tells of it (Document 1).
import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { OnboardingFlow } from './onboarding.flow.js';
import { ONBOARDING_LOOK_EVERY_MS } from '../policy.js';

@Injectable()
export class OnboardingPoller {
  private readonly log = new Logger('onboarding');

  constructor(private readonly flow: OnboardingFlow) {}

  /** Every replica looks; each merchant that is due is given to one of them. */
  @Interval(ONBOARDING_LOOK_EVERY_MS)
  async poll(): Promise<void> {
    try {
      await this.flow.poll();
    } catch (e) {
      this.log.error('applications could not be asked for', e);
    }
  }
}

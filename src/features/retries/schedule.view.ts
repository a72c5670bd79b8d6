// The retry schedule in words.
import { duration } from '../../frames/console/show.js';
import { type RefusalKind, type RetrySchedule } from '../../shared/domain/retry.js';
import { type DecisionSettings } from '../../shared/domain/settings.js';

export const KIND_WORDS: Readonly<Record<RefusalKind, string>> = {
  soft: 'the same card or account may work later',
  hard: 'the customer must give another card or account',
  authentication: 'the customer must confirm the payment',
};

type Means = Pick<DecisionSettings, 'relay' | 'recoveryLinks'>;

/** Describes the steps: "the MoR charges again after 3 days, then the MoR charges again 5 days after that". */
export function stepsInWords(schedule: RetrySchedule, kind: RefusalKind, { relay, recoveryLinks }: Means): string {
  const steps = schedule[kind].map((step, i) => {
    if (step.do === 'link')
      return recoveryLinks === null ? 'the MoR charges again' : 'the customer gets a payment link';
    const wait = `${duration(step.afterMs / 1000)}${i === 0 ? '' : ' after that'}`;
    return relay
      ? `the MoR charges again ${i === 0 ? `after ${wait}` : wait}`
      : `the customer gets a payment link after ${wait}`;
  });
  return steps.length === 0 ? 'nothing is tried' : steps.join(', then ');
}

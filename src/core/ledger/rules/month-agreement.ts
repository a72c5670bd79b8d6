// The verdict on a month of the ledger: does it agree with Stripe and the MoR?
import { type MonthCompared } from '../../../shared/domain/difference.js';
import { type Month } from './month.js';
import { openEnds, type TrialBalance } from './trial-balance.js';

export const MONTH_STATES = ['agrees', 'differs', 'unfinished', 'not_compared'] as const;

/**
 * `differs`: verify found differences. `unfinished`: Stripe does not show all money at the month's end. `not_compared`:
 * verify has not compared the whole month. `isOver`: the month was over at the newest comparison.
 */
export type MonthAgreement = Pick<MonthCompared, 'differences' | 'comparedAt'> & {
  readonly state: (typeof MONTH_STATES)[number];
  readonly isOver: boolean;
};

export function decideMonth(
  month: Month,
  balances: readonly TrialBalance[],
  { differences, comparedAt, isWhole }: MonthCompared,
): MonthAgreement {
  const isOver = comparedAt !== null && comparedAt >= month.until;
  return { state: stateOf(), differences, comparedAt, isOver };

  function stateOf(): MonthAgreement['state'] {
    if (differences > 0) return 'differs';
    if (balances.some((b) => openEnds(b).length > 0)) return 'unfinished';
    return isWhole && comparedAt !== null ? 'agrees' : 'not_compared';
  }
}

/** The verdict in one sentence. */
export function sayAgreement({ state, differences, isOver }: MonthAgreement): string {
  switch (state) {
    case 'agrees':
      return isOver ? 'The month agrees with Stripe and the MoR.' : 'The month agrees with Stripe and the MoR so far.';
    case 'differs':
      return `The month does not agree: verify found ${differences} unsettled ${differences === 1 ? 'difference' : 'differences'}.`;
    case 'unfinished':
      return 'The month is not finished: Stripe does not show all of its money.';
    case 'not_compared':
      return 'The month is not known to agree: verify has not compared all of it.';
  }
}

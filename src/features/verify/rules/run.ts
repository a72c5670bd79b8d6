// A verify run: its differences, and its counts in words. Pure.
import {
  type Difference,
  type DifferenceKind,
  differenceKinds,
  isOpen,
  isUnnotified,
} from '../../../shared/domain/difference.js';
import { MARKS_LEFT_COUNTED } from './limits.js';
import { type LossWindow } from './loss-window.js';

export type VerifyRun = {
  readonly id: string;
  readonly since: Date;
  readonly startedAt: Date;
  /** The start of the run. A resumed run keeps the first start. */
  readonly beganAt: Date;
  /** The id of the interrupted run before this run. Null: this run began from the start. */
  readonly resumedFrom: string | null;
  readonly finishedAt: Date | null;
  /** `differences`: some have no acknowledgement. `incomplete`: no reply from Stripe or the MoR, or an early end. */
  readonly outcome: 'running' | 'clean' | 'differences' | 'incomplete';
  /** The number of compared objects, by kind. An object listed before and after an interruption counts twice. */
  readonly compared: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly more: More;
  /** Marks still to look up at the MoR. Null: `SIGNUP_CHARGE_CHECK` is off, or the run ended before the look-up. */
  readonly marksLeft: number | null;
  /** The MoR may have given up on events in these windows. */
  readonly lossWindows: readonly LossWindow[];
};

type Found = Pick<VerifyRun, 'differences' | 'more'>;

/**
 * The counts of differences beyond the limit of a run, by kind. `with_item`: differences of any kind with an open
 * review item.
 */
export type More = Readonly<Partial<Record<DifferenceKind | 'with_item', number>>>;

/** Differences without a review item and without an acknowledgement, by kind. */
export function unnotifiedByKind({ differences, more }: Found): Record<DifferenceKind, number> {
  const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, more[kind] ?? 0]));
  for (const d of differences) if (isUnnotified(d)) counts[d.kind] = (counts[d.kind] ?? 0) + 1;
  return counts as Record<DifferenceKind, number>;
}

export function unnotifiedOf(run: Found): number {
  return Object.values(unnotifiedByKind(run)).reduce((sum, n) => sum + n, 0);
}

/** The number of unacknowledged differences, also beyond the limit of the run. A review item makes no difference. */
export function openOf({ differences, more }: Found): number {
  return Object.values(more).reduce((sum, n) => sum + n, differences.filter(isOpen).length);
}

/** Differences acknowledged by a person. */
export function acknowledgedOf({ differences }: Pick<VerifyRun, 'differences'>): readonly Difference[] {
  return differences.filter((d) => !isOpen(d));
}

/** Shows the number of marks left. The count stops at a limit, so the text then says "or more". */
export const showMarksLeft = (count: number): string =>
  count < MARKS_LEFT_COUNTED ? String(count) : `${count} or more`;

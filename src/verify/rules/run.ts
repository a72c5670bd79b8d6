// A run of verify, and the differences that count.
import { type Difference, type DifferenceKind, differenceKinds, isUntold } from '../../domain/difference.js';
import { type LossWindow } from './loss-window.js';

export type VerifyOutcome = 'running' | 'clean' | 'differences' | 'incomplete';

export type VerifyRun = {
  readonly id: string;
  readonly since: Date;
  readonly startedAt: Date;
  /** When the first run began that this one goes on with; else `startedAt`. */
  readonly beganAt: Date;
  /** The run that was cut off and that this one goes on with; null: it compared everything itself. */
  readonly resumedFrom: string | null;
  readonly finishedAt: Date | null;
  /** `differences`: at least one that no open review item tells of and that nobody acknowledged. `incomplete`: somebody could not be asked, or it was ended. */
  readonly outcome: VerifyOutcome;
  /** How many of what were looked at. What was listed twice, around a cut, counts twice. */
  readonly compared: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly more: More;
  /** Marks that are still to be looked up at the MoR; null: it is not asked (`SIGNUP_CHARGE_CHECK=off`), or the run did not get there. */
  readonly marksLeft: number | null;
  /** When events of the MoR may have been given up for good, as far back as the run looked. */
  readonly lossWindows: readonly LossWindow[];
};

/**
 * How many differences were found beyond those that are kept, by kind; `explained`: of any kind, and an open review item tells of
 * them. They were counted and not looked at a second time.
 */
export type More = Readonly<Partial<Record<DifferenceKind | 'explained', number>>>;

/** Differences without an open review item that nobody acknowledged, by kind, those that are only counted too. */
export function untoldByKind({
  differences,
  more,
}: Pick<VerifyRun, 'differences' | 'more'>): Record<DifferenceKind, number> {
  const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, more[kind] ?? 0]));
  for (const d of differences) if (isUntold(d)) counts[d.kind] = (counts[d.kind] ?? 0) + 1;
  return counts as Record<DifferenceKind, number>;
}

export function untoldOf(run: Pick<VerifyRun, 'differences' | 'more'>): number {
  return Object.values(untoldByKind(run)).reduce((sum, n) => sum + n, 0);
}

/** Those that only people's acknowledgements keep from being counted. */
export function acknowledgedOf({ differences }: Pick<VerifyRun, 'differences'>): readonly Difference[] {
  return differences.filter((d) => d.reviewId === null && d.acknowledged);
}

// A run of verify, its differences and their identity, and its counts in words. Pure.
import { type Difference, type DifferenceKind, differenceKinds, isUntold } from '../../domain/difference.js';
import { MARKS_LEFT_COUNTED } from '../../policy.js';
import { type LossWindow } from './loss-window.js';

export type VerifyRun = {
  readonly id: string;
  readonly since: Date;
  readonly startedAt: Date;
  /** A resumed run keeps the start of the first run here. */
  readonly beganAt: Date;
  /** Goes on with this interrupted run; null: it compared everything itself. */
  readonly resumedFrom: string | null;
  readonly finishedAt: Date | null;
  /** `differences`: at least one needs a person. `incomplete`: a peer was silent, or a person ended the run. */
  readonly outcome: 'running' | 'clean' | 'differences' | 'incomplete';
  /** Counts by object. An object listed twice around an interruption counts twice. */
  readonly compared: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  readonly more: More;
  /** Marks still without a look-up at the MoR; null: the run did not ask it (`SIGNUP_CHARGE_CHECK=off`), or ended before. */
  readonly marksLeft: number | null;
  /** The MoR may have given up on events in these windows. */
  readonly lossWindows: readonly LossWindow[];
};

type Found = Pick<VerifyRun, 'differences' | 'more'>;

/** Differences beyond the limit, by kind, without a second look; `explained`: of any kind, with an open review item. */
export type More = Readonly<Partial<Record<DifferenceKind | 'explained', number>>>;

/** Differences without an open review item and without an acknowledgement, by kind. */
export function untoldByKind({ differences, more }: Found): Record<DifferenceKind, number> {
  const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, more[kind] ?? 0]));
  for (const d of differences) if (isUntold(d)) counts[d.kind] = (counts[d.kind] ?? 0) + 1;
  return counts as Record<DifferenceKind, number>;
}

export function untoldOf(run: Found): number {
  return Object.values(untoldByKind(run)).reduce((sum, n) => sum + n, 0);
}

/** An open review item keeps these out of the count. */
export function explainedOf({ differences }: Pick<VerifyRun, 'differences'>): readonly Difference[] {
  return differences.filter((d) => d.reviewId !== null);
}

/** Only a person's acknowledgement keeps these out of the count. */
export function acknowledgedOf({ differences }: Pick<VerifyRun, 'differences'>): readonly Difference[] {
  return differences.filter((d) => d.reviewId === null && d.acknowledged);
}

/** For example `1 invoice, 4 stripe events`. A kind is plural, with `_` between its words. */
export const showCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([kind, n]) => `${n} ${(n === 1 ? kind.replace(/s$/, '') : kind).replaceAll('_', ' ')}`)
    .join(', ');

/** The count stops at a limit. */
export const showMarksLeft = (n: number): string => (n < MARKS_LEFT_COUNTED ? String(n) : `${n} or more`);

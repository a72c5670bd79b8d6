// What verify reads of the ledger in bulk, and where it keeps its findings.
import { type MarkLookups } from './mark-lookups.js';
import { type FlowSettings } from '../settings.js';
import {
  type Acknowledgement,
  type Difference,
  type DifferenceKind,
  differenceKinds,
  isUntold,
  type OurInvoice,
  type VerifyProgress,
} from '../difference.js';
import { type LossWindow } from './loss.js';

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

/** Which run may be resumed, and what as. */
export type TakeUp = {
  /** Of the run that goes on. */
  readonly id: string;
  readonly now: Date;
  /** As far back as is wanted: a run that reaches as far, and no more than a day further, will do. */
  readonly since: Date;
  readonly settings: FlowSettings;
};

export abstract class VerifyBooks {
  /** The database's time, by which runs begin and end: other replicas compare with it. */
  abstract time(): Promise<Date>;
  /** Which marks the MoR has vouched for. */
  abstract readonly marks: MarkLookups;
  /** The ledger's side of these invoices, those that we know. */
  abstract invoices(invoiceIds: readonly string[]): Promise<readonly OurInvoice[]>;
  /**
   * Invoices on which something is not at rest, or on which a refund was made since `since`, in their own order after `after`
   * (0n: from the start).
   */
  abstract openEnds(
    since: Date,
    after: bigint,
    limit: number,
  ): Promise<readonly (OurInvoice & { readonly seq: bigint })[]>;
  /** Of these invoices, those of which an event waits to be decided, or that a worker has in hand: our picture of them is about to change. */
  abstract underWay(invoiceIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Of these Stripe event ids, those that are not in the inbox. A copy in quarantine had no effect and does not count. */
  abstract unknownEvents(eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Of these customers those who have paid through the MoR. */
  abstract payingCustomers(customerIds: readonly string[]): Promise<readonly string[]>;
  /** Since when this installation is here: Stripe's events before then were not for it. */
  abstract installedAt(): Promise<Date>;
  /** The same differences, each with its acknowledgement. */
  abstract withAcknowledgements(differences: readonly Difference[]): Promise<readonly Difference[]>;
  /**
   * A person has looked at a difference of the newest run; a second time, the newer note counts. Null: that run names none of this
   * id, or no run did yet.
   */
  abstract acknowledge(differenceId: string, by: Acknowledgement): Promise<Difference | null>;
  /** A run that begins. */
  abstract begin(run: VerifyRun, progress: VerifyProgress): Promise<void>;
  /**
   * What a run found so far; `progress` null: it is through. False, and nothing is written, when another run has resumed it
   * in the meantime.
   */
  abstract save(run: VerifyRun, progress: VerifyProgress | null): Promise<boolean>;
  /**
   * The newest run that was cut off and is young enough becomes a new one, for one caller only: what it found, and how far it was.
   * Null: there is none, one that compared everything is newer, or it is still under way.
   */
  abstract takeUp(wanted: TakeUp): Promise<{ readonly run: VerifyRun; readonly progress: VerifyProgress } | null>;
  /** The newest run that came to an end, with what was acknowledged since; null: there was none. */
  abstract last(): Promise<VerifyRun | null>;
  /** When the newest run ended that compared everything; null: there was none. */
  abstract lastComplete(): Promise<Date | null>;
  /** True when of these lanes none has an event to decide, a call to send or anything else due now. */
  abstract atRest(lanes: readonly string[]): Promise<boolean>;
  /** True for one caller of all replicas, for `forMs` milliseconds: the right to make the daily run. */
  abstract claimRun(forMs: number): Promise<boolean>;
  /** From now on nobody may make the daily run for so many milliseconds. */
  abstract nextRunIn(ms: number): Promise<void>;
}

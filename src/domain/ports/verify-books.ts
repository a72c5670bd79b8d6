// What verify reads of the ledger in bulk, and where it keeps its findings.
import { type Difference, type OurInvoice } from '../verify/compare.js';
import { type LossWindow } from '../verify/loss-window.js';

export type VerifyOutcome = 'running' | 'clean' | 'differences' | 'incomplete';

export type VerifyRun = {
  readonly id: string;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** `differences`: at least one that no open review item tells of. `incomplete`: somebody could not be asked. */
  readonly outcome: VerifyOutcome;
  /** How many of what were looked at. */
  readonly compared: Readonly<Record<string, number>>;
  readonly differences: readonly Difference[];
  /** When events of the MoR may have been given up for good, as far back as the run looked. */
  readonly lossWindows: readonly LossWindow[];
};

/** A signup's payment that no event of the MoR vouches for. */
export type UnconfirmedSignup = {
  readonly seq: bigint;
  readonly paymentRowId: string;
  readonly invoiceId: string;
  readonly chargeId: string;
};

export abstract class VerifyBooks {
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
  /** Of these Stripe event ids, those that are not in the inbox. A copy in quarantine had no effect and does not count. */
  abstract unknownEvents(eventIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Marked payments of signups, recorded since `since`, for which no event of the MoR has come, in their own order after `after`. */
  abstract unconfirmedSignups(since: Date, after: bigint, limit: number): Promise<readonly UnconfirmedSignup[]>;
  /** Since when this installation is here: Stripe's events before then were not for it. */
  abstract installedAt(): Promise<Date>;
  abstract save(run: VerifyRun): Promise<void>;
  /** The newest run that came to an end; null: there was none. */
  abstract last(): Promise<VerifyRun | null>;
  /** When the newest run ended that compared everything; null: there was none. */
  abstract lastComplete(): Promise<Date | null>;
  /** True when of these lanes none has an event to decide, a call to send or anything else due now. */
  abstract atRest(lanes: readonly string[]): Promise<boolean>;
  /** True for one caller of all replicas until `until`: the right to make the daily run. */
  abstract claimRun(until: Date): Promise<boolean>;
  /** The run that was claimed did not come to its end: the next may begin at `at`. */
  abstract nextRunAt(at: Date): Promise<void>;
}

// What the newest comparison with Stripe and the MoR found about an invoice or a month.
import { type Difference, type MonthCompared } from '../difference.js';

/** A difference without a person's acknowledgement. `foundAt`: the end of the comparison. */
export type OpenDifference = Difference & { readonly foundAt: Date };

export abstract class Differences {
  /** The unsettled differences of an invoice, in the order of the comparison. */
  abstract ofInvoice(invoiceId: string): Promise<readonly OpenDifference[]>;
  /** The comparison of a month. */
  abstract ofMonth(month: { readonly since: Date; readonly until: Date }): Promise<MonthCompared>;
}

/** A comparison for a waiting person. `problem`: why it is not whole; null: it is. */
export type Compared = {
  readonly differences: readonly Difference[];
  readonly problem: string | null;
  readonly outcome: 'running' | 'clean' | 'differences' | 'incomplete';
};

export type CompareOptions = {
  /** Compares what Stripe made since this time. */
  readonly since: Date;
  /** True: compares very young objects a second time, because a person waits. */
  readonly recent: boolean;
  /** Receives the counts so far. */
  readonly onProgress: (compared: Readonly<Record<string, number>>) => void;
  /** Ends the comparison early as `incomplete`. */
  readonly signal: AbortSignal;
};

/** Compares the ledger with Stripe and the MoR, now. */
export abstract class Comparer {
  abstract run(options: CompareOptions): Promise<Compared>;
}

export const NO_COMPARER: Comparer = {
  run: () => Promise.resolve({ differences: [], problem: 'nothing here compares', outcome: 'incomplete' }),
};

/** The times of the MoR's events that may be lost: the webhook endpoints were closed for each of their attempts. */
export abstract class LostEvents {
  abstract windows(since: Date): Promise<readonly { readonly events: { readonly from: Date; readonly to: Date } }[]>;
}

export const NO_EVENT_LOST: LostEvents = { windows: () => Promise.resolve([]) };

/** Without a feature that compares, nothing is compared. */
export const NOTHING_COMPARED: Differences = {
  ofInvoice: () => Promise.resolve([]),
  ofMonth: () => Promise.resolve({ differences: 0, comparedAt: null, isWhole: false }),
};

// Which marks the MoR has vouched for: each is looked up once, in as many runs as the budget needs.

/** A mark on Stripe that was made for money of the MoR. */
export type MarkedPayment = {
  /** The ledger's entry of the mark: their order is that in which marks are looked up. */
  readonly entryId: bigint;
  readonly paymentRowId: string;
  readonly paymentId: string | null;
  readonly invoiceId: string;
  /** Null: a link's or a proforma invoice's, which the MoR confirmed by its own object before the mark. */
  readonly chargeId: string | null;
};

/** What the MoR answered for its charge. `not_ready`: it knows it, and has not settled it or made its document. */
export type MarkAnswer = 'known' | 'not_ready' | 'unknown';

export abstract class MarkLookups {
  /** Marks made since the look-up began, after the entry `after` (0n: those never asked for), oldest first. */
  abstract newer(after: bigint, limit: number): Promise<readonly MarkedPayment[]>;
  /** Marks of before, newest first, from where the last run stopped. */
  abstract older(limit: number): Promise<readonly MarkedPayment[]>;
  /** Marks that the MoR did not know or was not ready for when it was asked before `before`, the longest ago first. */
  abstract open(before: Date, limit: number): Promise<readonly MarkedPayment[]>;
  abstract answered(mark: MarkedPayment, answer: MarkAnswer, at: Date): Promise<void>;
  /** All new marks up to this entry were asked for. Those made since `settledBefore` may have company that is not written yet. */
  abstract reachedNewer(upTo: bigint, settledBefore: Date): Promise<void>;
  /** All old marks down to this entry were asked for: `count` of them. */
  abstract reachedOlder(downTo: bigint, count: number): Promise<void>;
  /** Marks that the MoR does not know. */
  abstract unknown(limit: number): Promise<readonly MarkedPayment[]>;
  /** How many are still to be looked up. Of those made since the look-up began `most` are counted. */
  abstract left(most: number): Promise<number>;
}

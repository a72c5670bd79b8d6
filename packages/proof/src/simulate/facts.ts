// What a world remembers about its events, in addition to the peers' own books.

/** A delivery answered with 200. The inbox must have its row. */
export type Acknowledged = {
  readonly source: string;
  readonly eventId: string;
  readonly sha256: string;
  /** Time of sending. */
  readonly at: number;
};

/** A kind of manual change on Stripe's dashboard. */
export type HandMade = 'credit_note' | 'refund' | 'detached';

/** A delivery as it was sent, to copy it. */
export type Copied = {
  readonly source: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly at: number;
};

/** A dispute with its last outcome. `minor`: the disputed part of the payment, null for all. */
export type Dispute = {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly outcome: 'won' | 'lost';
  readonly minor: number | null;
  readonly outcomeEvents: readonly string[];
};

/**
 * Work that was under way this long before a copy may be missing in the copy. So operators compare from this much
 * earlier.
 */
export const GAP_MARGIN_MS = 60 * 60_000;

/** The time a restore loses: everything after the copy at `from`, until the restore at `to`. */
export type Gap = { readonly from: number; readonly to: number };

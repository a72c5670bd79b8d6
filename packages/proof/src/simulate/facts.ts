// A world's memory of its events, in addition to the peers' own books.

/** A delivery answered 200: its row must be there. */
export type Acknowledged = {
  readonly source: string;
  readonly eventId: string;
  readonly sha256: string;
  /** Time of sending. */
  readonly at: number;
};

/** A kind of manual change on Stripe's dashboard. */
export type HandMade = 'credit_note' | 'refund' | 'detached';

/** A delivery as sent, for copies. */
export type Copied = {
  readonly source: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly at: number;
};

/** A dispute with its last outcome; `minor`: how much of the payment it is about, null for all. */
export type Dispute = {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly outcome: 'won' | 'lost';
  readonly minor: number | null;
  readonly outcomeEvents: readonly string[];
};

/** Work under way this long before a copy may be missing in it; operators begin that much earlier. */
export const GAP_MARGIN_MS = 60 * 60_000;

/**
 * The time lost with the database: everything after `from`, the moment of the copy, until `to`, the moment of the
 * restore.
 */
export type Gap = { readonly from: number; readonly to: number };

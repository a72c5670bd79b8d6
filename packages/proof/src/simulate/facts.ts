// What a world remembers of what happened in it, beside the peers' own books.

/** A delivery that was answered 200: its row must be there. */
export type Acknowledged = {
  readonly source: string;
  readonly eventId: string;
  readonly sha256: string;
  /** When it was sent. */
  readonly at: number;
};

/** A kind of thing that people do on Stripe's dashboard. */
export type HandMade = 'credit_note' | 'refund' | 'detached';

/** A delivery as it was sent, for those who copy it. */
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

/** What was under way so long before a copy was taken may not be in it; and operators begin that much earlier. */
export const GAP_MARGIN_MS = 60 * 60_000;

/** What went with the database: everything after `from`, when the copy was taken, until `to`, when it was put back. */
export type Gap = { readonly from: number; readonly to: number };

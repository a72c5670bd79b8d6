// Facts a simulated run remembers, in addition to the sandbox's data of Stripe and the MoR.

/** A delivery answered with 200. The inbox must have its row. */
export type Acknowledged = {
  readonly source: string;
  readonly eventId: string;
  readonly sha256: string;
  /** When the sandbox sent the delivery, in milliseconds since 1970. */
  readonly at: number;
};

/** A kind of manual change on Stripe's dashboard. */
export type HandMade = 'credit_note' | 'refund' | 'detached';

/** A delivery as its sender sent it, so a story can send it again. */
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

/** A copy may lack work of the last hour before it. So a comparison after the restore begins this much earlier. */
export const GAP_MARGIN_MS = 60 * 60_000;

/** The time a restore loses: everything after the copy at `from`, until the restore at `to`. */
export type Gap = { readonly from: number; readonly to: number };

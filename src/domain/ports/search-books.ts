// Finding things by the beginning of their id or number.

export type Beginning = {
  readonly kind: 'invoice' | 'payment' | 'refund' | 'review' | 'customer';
  /** As its page is addressed. */
  readonly id: string;
  /** What people call it: an invoice's number where it has one. */
  readonly shown: string;
  /** The id or number that begins so. */
  readonly matched: string;
  readonly minor: bigint | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly at: Date | null;
};

export abstract class SearchBooks {
  /** Things with an id or a number that begins with this, or is this: so many of each at most. */
  abstract beginning(text: string, ofEach: number): Promise<readonly Beginning[]>;
}

// How far the tax of one paid invoice, or of one refund of it, has come at the MoR (Document 2; MOR_PRODUCT=tor).

/**
 * `waiting`: a transaction whose invoice is paid in part, or a refund whose transaction is not committed yet. `gathering`: the
 * calculation to use is looked for. `calculating`, `committing`: a call is on its way. `parked`: a person must act. `closed`: a person
 * or the MoR itself sees to it; nothing more is done here.
 */
export const taxMoves = {
  gathering: ['calculating', 'committing', 'parked', 'closed'],
  calculating: ['committing', 'parked'],
  waiting: ['gathering', 'committing', 'parked', 'closed'],
  committing: ['committed', 'gathering', 'parked'],
  parked: ['gathering', 'waiting', 'closed'],
  closed: [],
  committed: [],
} as const satisfies Record<string, readonly string[]>;
export type TaxStage = keyof typeof taxMoves;

/** A line of the transaction with what it cost in all, or what a refund took of it. `amount`: smallest units in digits. */
export type TaxRecordLine = { readonly lineItemId: string; readonly amount: string };

export type TaxRecord = {
  readonly id: string;
  readonly kind: 'transaction' | 'refund';
  readonly invoiceId: string;
  /** Our id of the payment that was refunded; of a transaction the first of those that it is for. */
  readonly paymentRowId: string;
  /** Our id of the refund; null for a transaction. */
  readonly refundId: string | null;
  readonly stage: TaxStage;
  /**
   * The MoR's idempotency key: `merchantTransactionReference` (invoice id) or `merchantRefundReference` (the MoR's names of payment and
   * refund).
   */
  readonly reference: string;
  readonly taxCalculationId: string | null;
  /** The MoR's transaction or refund; null until it is committed. */
  readonly morId: string | null;
  readonly currency: string;
  readonly lines: readonly TaxRecordLine[];
  /** Calculations used so far: a second one is made when the first had expired or was used. */
  readonly calculations: number;
  /** When what is missing is looked for again; null: now. */
  readonly dueAt: Date | null;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Moves a record. A move the table does not know is a bug and stops the lane. */
export function moveTax(t: TaxRecord, to: TaxStage, now: Date): TaxRecord {
  const allowed: readonly string[] = taxMoves[t.stage];
  if (!allowed.includes(to)) throw new Error(`a tax record cannot move from ${t.stage} to ${to}`);
  return { ...t, stage: to, updatedAt: now };
}

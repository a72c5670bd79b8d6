// The words of the MoR's statements: how one is read, and what it and the ledger say of each other.

/** `dot`: 1,234.56. `comma`: 1.234,56. `minor`: 123456, as Stripe counts the currency's smallest unit. */
export const AMOUNT_STYLES = ['dot', 'comma', 'minor'] as const;
export type AmountStyle = (typeof AMOUNT_STYLES)[number];

/** `iso`: 2026-11-30, with or without a time. `dmy`: 30.11.2026 or 30/11/2026. `mdy`: 11/30/2026. */
export const DATE_STYLES = ['iso', 'dmy', 'mdy'] as const;
export type DateStyle = (typeof DATE_STYLES)[number];

/** What a column may hold; a statement that names its columns so needs no mapping of them. */
export const FIELDS = ['type', 'charge', 'payment', 'refund', 'amount', 'currency', 'date', 'fee'] as const;
export type Field = (typeof FIELDS)[number];

/** What a line may be about. `ignore`: payouts, balances, whatever has no counterpart here. */
export const LINE_TYPES = ['payment', 'refund', 'fee', 'returned', 'ignore'] as const;
export type LineType = (typeof LINE_TYPES)[number];

export type Mapping = {
  /** Field → name of the column. A field that is not named is looked for under its own name, or with `_id` or `_reference`. */
  readonly columns: Readonly<Partial<Record<Field, string>>>;
  /** Kind of line → the words of the type column, in any case. */
  readonly types: Readonly<Partial<Record<LineType, readonly string[]>>>;
  readonly amounts: AmountStyle;
  readonly dates: DateStyle;
  /** Of a statement without a currency column; null: each line says it. */
  readonly currency: string | null;
  /** Null: found out from the first line. */
  readonly delimiter: string | null;
};

/** Each is a difference that a person looks at. */
export const DIFFERENCE_KINDS = [
  'only_statement',
  'only_ledger',
  'amount_differs',
  'currency_differs',
  'status_differs',
  'ids_differ',
  'line_twice',
  'negative_amount',
  'debit_returned',
  'unknown_type',
  'unreadable',
] as const;
/** Listed, and no difference. */
export const TOLD_KINDS = ['fee', 'return_booked'] as const;
export type FindingKind = (typeof DIFFERENCE_KINDS)[number] | (typeof TOLD_KINDS)[number];

export function isDifference(kind: FindingKind): boolean {
  return DIFFERENCE_KINDS.some((k) => k === kind);
}

export type Finding = {
  /** Of the file; null: only the ledger has it. */
  readonly line: number | null;
  readonly kind: FindingKind;
  readonly charge: string | null;
  /** As the statement names it, or as the ledger does where the statement does not. */
  readonly payment: string | null;
  readonly refund: string | null;
  readonly invoiceId: string | null;
  /** The statement's, smallest units; null: it could not be read, or there is none. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  readonly ledgerAmount: bigint | null;
  readonly ledgerCurrency: string | null;
  readonly detail: string;
};

/** A payment of ours as far as a statement can know it. */
export type OurPayment = {
  readonly id: string;
  readonly paymentId: string | null;
  readonly charge: string | null;
  readonly intent: string | null;
  /** Of a bank transfer or a payment link: the MoR's id of it. */
  readonly reference: string | null;
  readonly invoiceId: string;
  readonly amount: bigint | null;
  readonly currency: string;
  readonly status: string;
  /** The MoR took the money, as far as we know. */
  readonly taken: boolean;
  /** What of it was given back by refunds. */
  readonly refunded: bigint;
  /** What banks took of it by lost disputes, as the ledger has it. */
  readonly lost: bigint;
  /** What of it the ledger has as a returned debit. */
  readonly returned: bigint;
};

export type OurRefund = {
  readonly id: string;
  readonly paymentRowId: string;
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
  readonly invoiceId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly status: string;
  /** It is in the ledger: one beyond its payment is not, nor one whose payment nobody has told us of. */
  readonly booked: boolean;
};

/** What of ours some lines may name. */
export type Ours = { readonly payments: readonly OurPayment[]; readonly refunds: readonly OurRefund[] };

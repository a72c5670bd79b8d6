// What an accountant gets: the columns of each export, in CSV and JSON lines alike.
import { decimalFromMinor } from '../domain/money.js';
import { type LedgerRow } from './ledger.store.js';
import { type CollectedPayment, type PaidRefund } from './exports.store.js';

/** Null: empty in CSV. An amount in smallest units is a bigint; beside it stands the decimal, as text. */
type Value = string | bigint | Date | null;
export type Columns<R> = Readonly<Record<string, (row: R) => Value>>;

const decimal = (minor: bigint | null, currency: string | null): string | null =>
  minor === null || currency === null ? null : decimalFromMinor(minor, currency);

/** The ids by which an entry is found at Stripe, at the MoR and at the processor. */
const IDS = {
  customer_id: (r: LedgerRow) => r.customerId,
  mor_customer_id: (r: LedgerRow) => r.morCustomerId,
  invoice_id: (r: LedgerRow) => r.invoiceId,
  invoice_number: (r: LedgerRow) => r.invoiceNumber,
  payment_id: (r: LedgerRow) => r.paymentId,
  processor_charge_id: (r: LedgerRow) => r.processorChargeId,
  payment_record_id: (r: LedgerRow) => r.paymentRecordId,
} as const;
const REFUND_IDS = {
  refund_id: (r: LedgerRow) => r.refundId,
  mor_refund_id: (r: LedgerRow) => r.morRefundId,
  processor_refund_id: (r: LedgerRow) => r.processorRefundId,
  credit_note_id: (r: LedgerRow) => r.creditNoteId,
} as const;

export const LEDGER_COLUMNS: Columns<LedgerRow> = {
  id: (r) => r.id,
  recorded_at: (r) => r.recordedAt,
  moved_at: (r) => r.movedAt,
  debit_account: (r) => r.debitAccount,
  credit_account: (r) => r.creditAccount,
  amount_minor: (r) => r.amount,
  amount: (r) => decimal(r.amount, r.currency),
  currency: (r) => r.currency,
  reason: (r) => r.reason,
  ...IDS,
  ...REFUND_IDS,
  event_id: (r) => r.eventId,
};

function ofEntry<R extends { readonly entry: LedgerRow }>(columns: Columns<LedgerRow>): Columns<R> {
  return Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, (r: R) => of(r.entry)]));
}

export const PAYMENT_COLUMNS: Columns<CollectedPayment> = {
  ...ofEntry({ payment_id: IDS.payment_id, taken_at: (r) => r.movedAt }),
  amount_minor: ({ entry }) => entry.amount,
  amount: ({ entry }) => decimal(entry.amount, entry.currency),
  currency: ({ entry }) => entry.currency,
  refunded_minor: ({ payment }) => payment.amountRefunded,
  refunded: ({ payment }) => decimal(payment.amountRefunded, payment.currency),
  status: ({ payment }) => payment.status,
  ...ofEntry(IDS),
  processor_payment_intent_id: ({ payment }) => payment.processorPaymentIntentId,
  reference: ({ payment }) => payment.reference,
  origin: ({ payment }) => payment.origin,
  mark: ({ payment }) => payment.mark,
};

export const REFUND_COLUMNS: Columns<PaidRefund> = {
  ...ofEntry({ refund_id: REFUND_IDS.refund_id, mor_refund_id: REFUND_IDS.mor_refund_id }),
  ...ofEntry({ refunded_at: (r) => r.movedAt }),
  amount_minor: ({ entry }) => entry.amount,
  amount: ({ entry }) => decimal(entry.amount, entry.currency),
  currency: ({ entry }) => entry.currency,
  reason: ({ refund }) => refund.reason,
  ...ofEntry(IDS),
  ...ofEntry(REFUND_IDS),
  origin: ({ refund }) => refund.origin,
  mirror: ({ refund }) => refund.mirror,
};

/** A row as cells. */
export function cellsOf<R>(columns: Columns<R>, row: R): readonly string[] {
  return Object.values(columns).map((of) => {
    const value = of(row);
    return value instanceof Date ? value.toISOString() : (value?.toString() ?? '');
  });
}

/** A row as a JSON object of the same names: smallest units as a number, what is not known as null. */
export function objectOf<R>(columns: Columns<R>, row: R): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, of]) => {
      const value = of(row);
      return [name, typeof value === 'bigint' ? Number(value) : value instanceof Date ? value.toISOString() : value];
    }),
  );
}

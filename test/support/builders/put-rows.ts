// Puts rows into the state of a lane, for tests that begin in the middle of a story.
import { type CallRow } from '../../../src/shared/domain/call-row.js';
import { type InvoiceRow } from '../../../src/shared/domain/invoice-row.js';
import { type LedgerEntry } from '../../../src/shared/domain/ledger-entry.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type AttemptRow, type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../src/shared/domain/refund-row.js';
import { type MorObjectRow } from '../../../src/shared/domain/mor-object.js';

const put = <T extends { readonly id: string }>(rows: readonly T[], row: T): readonly T[] =>
  rows.some((x) => x.id === row.id) ? rows.map((x) => (x.id === row.id ? row : x)) : [...rows, row];

export const putInvoice = (state: LaneState, invoice: InvoiceRow): LaneState => ({ ...state, invoice });
export const putObject = (state: LaneState, row: MorObjectRow): LaneState => ({
  ...state,
  objects: put(state.objects, row),
});
export const putCall = (state: LaneState, row: CallRow): LaneState => ({ ...state, calls: put(state.calls, row) });
export const putPayment = (state: LaneState, row: PaymentRow): LaneState => ({
  ...state,
  payments: put(state.payments, row),
});
export const putRefund = (state: LaneState, row: RefundRow): LaneState => ({
  ...state,
  refunds: put(state.refunds, row),
});
export const addAttempt = (state: LaneState, row: AttemptRow): LaneState => ({
  ...state,
  attempts: [...state.attempts, row],
});
export const addEntry = (state: LaneState, entry: LedgerEntry): LaneState => ({
  ...state,
  entries: [...state.entries, entry],
});

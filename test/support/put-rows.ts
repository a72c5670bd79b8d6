// Puts rows into the state of a lane, for tests that begin in the middle of a story.
import {
  type AttemptRow,
  type InvoiceRow,
  type LaneState,
  type LedgerEntry,
  type CallRow,
  type PaymentRow,
  type RefundRow,
} from '../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../src/shared/domain/mor-object.js';

const put = <T extends { readonly id: string }>(rows: readonly T[], row: T): readonly T[] =>
  rows.some((x) => x.id === row.id) ? rows.map((x) => (x.id === row.id ? row : x)) : [...rows, row];

export const putInvoice = (s: LaneState, invoice: InvoiceRow): LaneState => ({ ...s, invoice });
export const putObject = (s: LaneState, row: MorObjectRow): LaneState => ({ ...s, objects: put(s.objects, row) });
export const putCall = (s: LaneState, row: CallRow): LaneState => ({ ...s, calls: put(s.calls, row) });
export const putPayment = (s: LaneState, row: PaymentRow): LaneState => ({ ...s, payments: put(s.payments, row) });
export const putRefund = (s: LaneState, row: RefundRow): LaneState => ({ ...s, refunds: put(s.refunds, row) });
export const addAttempt = (s: LaneState, row: AttemptRow): LaneState => ({ ...s, attempts: [...s.attempts, row] });
export const addEntry = (s: LaneState, entry: LedgerEntry): LaneState => ({ ...s, entries: [...s.entries, entry] });

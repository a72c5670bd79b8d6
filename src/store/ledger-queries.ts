// The ledger as a list.
import type pg from 'pg';
import { type LedgerRow } from '../domain/ports/books.js';
import { listLedBy } from './led-by.js';

type Row = Record<string, unknown>;
type LedgerFilter = Readonly<Record<'invoiceId' | 'paymentRowId' | 'reason', string | undefined>>;

/** Every payment makes these two entries: one of them is always near. The others have an index, whose own words these are. */
const COMMON = ['payment_collected', 'payment_marked'];
const RARE = `l.reason not in ('payment_collected', 'payment_marked')`;

/** The newest first: entries before the number `before`, at most `count`. */
export async function ledgerRows(pool: pg.Pool, filter: LedgerFilter, before: string, count: number): Promise<Row[]> {
  const { invoiceId, paymentRowId, reason } = filter;
  const rare = reason !== undefined && !COMMON.includes(reason);
  const columns: Readonly<Record<string, string | undefined>> = {
    'l.invoice_id': invoiceId,
    'l.payment_row_id': paymentRowId,
    'l.reason': reason,
  };
  const indexed = rare ? Object.keys(columns) : ['l.invoice_id', 'l.payment_row_id'];
  const lead = indexed.filter((column) => columns[column] !== undefined).slice(0, 1);
  const list = listLedBy(columns, lead, 'l.id');
  // The page first, and the payments of its entries then.
  const found = await pool.query<Row>(
    `with page as materialized (
       select * from ledger_entry l where l.id < $1 and ${list.where} ${rare ? `and ${RARE}` : ''} order by ${list.order} limit $2)
     select page.*, coalesce(p.payment_id, p.id) as public_payment_id from page left join payment p on p.id = page.payment_row_id
      order by page.id desc`,
    [before, count, ...list.values],
  );
  return found.rows;
}

/** A ledger entry with its payment's public id. */
export function ledgerRow(r: Row): LedgerRow {
  return {
    id: r['id'] as string,
    debitAccount: r['debit_account'] as string,
    creditAccount: r['credit_account'] as string,
    amount: BigInt(r['amount'] as string),
    currency: r['currency'] as string,
    reason: r['reason'] as string,
    invoiceId: r['invoice_id'] as string,
    paymentId: r['public_payment_id'] as string,
    refundId: r['refund_id'] as string | null,
    eventId: r['event_id'] as string | null,
    recordedAt: r['recorded_at'] as Date,
  };
}

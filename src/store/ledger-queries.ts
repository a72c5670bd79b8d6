// The ledger as a list.
import { Any, type DataSource } from 'typeorm';
import { type LedgerRow, type Page, type PageRequest } from '../domain/ports/books.js';
import { LedgerEntryEntity } from './entities/ledger-entry.entity.js';
import { PaymentEntity } from './entities/payment.entity.js';
import { newestFirst } from './newest-first.js';

type LedgerFilter = Readonly<Record<'invoiceId' | 'paymentRowId' | 'reason', string | undefined>>;

/** Every payment makes these two entries: one of them is always near. The others have an index, whose own words these are. */
const COMMON = ['payment_collected', 'payment_marked'];
const RARE = `x.reason not in ('payment_collected', 'payment_marked')`;

/** Entries, the newest first. */
export async function ledgerPage(orm: DataSource, filter: LedgerFilter, page: PageRequest): Promise<Page<LedgerRow>> {
  const rare = filter.reason !== undefined && !COMMON.includes(filter.reason);
  const { data, nextCursor } = await newestFirst(orm.getRepository(LedgerEntryEntity), 'id', filter, page, {
    indexes: [['invoiceId'], ['paymentRowId'], ...(rare ? [['reason']] : [])],
    and: rare ? RARE : undefined,
  });
  return { data: await ledgerRows(orm, data), nextCursor };
}

/** Entries with their payments' public ids. */
export async function ledgerRows(orm: DataSource, entries: readonly LedgerEntryEntity[]): Promise<LedgerRow[]> {
  const payments = await orm.getRepository(PaymentEntity).find({
    select: { id: true, paymentId: true },
    where: { id: Any([...new Set(entries.map((e) => e.paymentRowId))]) },
  });
  const names = new Map(payments.map((p) => [p.id, p.paymentId ?? p.id]));
  return entries.map((e) => ({ ...e, paymentId: names.get(e.paymentRowId) ?? e.paymentRowId }));
}

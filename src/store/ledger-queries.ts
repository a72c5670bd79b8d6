// The ledger as a list.
import { Any, type DataSource } from 'typeorm';
import { type LedgerRow, type Page, type PageRequest } from '../domain/ports/books.js';
import { CustomerLinkEntity } from './entities/customer-link.entity.js';
import { InvoiceEntity } from './entities/invoice.entity.js';
import { LedgerEntryEntity } from './entities/ledger-entry.entity.js';
import { PaymentEntity } from './entities/payment.entity.js';
import { RefundEntity } from './entities/refund.entity.js';
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

/**
 * Entries with every id that is known of what they tell of. The ids are those of today, read beside the entries: an entry is never
 * changed, and most of them come later (a record and a credit note by Stripe's answer, `pay_…` by an event or by `identify`).
 */
export async function ledgerRows(orm: DataSource, entries: readonly LedgerEntryEntity[]): Promise<LedgerRow[]> {
  const ids = (of: (e: LedgerEntryEntity) => string | null) => Any([...new Set(entries.flatMap((e) => of(e) ?? []))]);
  const [payments, refunds, invoices] = await Promise.all([
    orm.getRepository(PaymentEntity).find({
      select: { id: true, paymentId: true, customerId: true, processorChargeId: true, paymentRecordId: true },
      where: { id: ids((e) => e.paymentRowId) },
    }),
    orm.getRepository(RefundEntity).find({
      select: { id: true, morRefundId: true, processorRefundId: true, creditNoteId: true },
      where: { id: ids((e) => e.refundId) },
    }),
    orm.getRepository(InvoiceEntity).find({
      select: { invoiceId: true, number: true },
      where: { invoiceId: ids((e) => e.invoiceId) },
    }),
  ]);
  const mor = await morCustomers(
    orm,
    payments.map((p) => p.customerId),
  );
  const paymentOf = new Map(payments.map((p) => [p.id, p]));
  const refundOf = new Map(refunds.map((r) => [r.id, r]));
  const numberOf = new Map(invoices.map((i) => [i.invoiceId, i.number]));
  return entries.map((e) => {
    const p = paymentOf.get(e.paymentRowId);
    const r = e.refundId === null ? undefined : refundOf.get(e.refundId);
    return {
      ...e,
      customerId: p?.customerId ?? null,
      morCustomerId: mor.get(p?.customerId ?? '') ?? null,
      invoiceNumber: numberOf.get(e.invoiceId) ?? null,
      paymentId: p?.paymentId ?? e.paymentRowId,
      processorChargeId: p?.processorChargeId ?? e.processorChargeId,
      paymentRecordId: p?.paymentRecordId ?? null,
      morRefundId: r?.morRefundId ?? null,
      processorRefundId: r?.processorRefundId ?? null,
      creditNoteId: r?.creditNoteId ?? null,
    };
  });
}

/** The MoR's customer of each, as it was linked last. */
export async function morCustomers(
  orm: DataSource,
  customerIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const known = new Set(customerIds.filter((id) => id !== null));
  const links = await orm.getRepository(CustomerLinkEntity).find({
    where: { customerId: Any([...known]) },
    order: { linkedAt: 'ASC' },
  });
  return new Map(links.map((l) => [l.customerId, l.morCustomerId]));
}

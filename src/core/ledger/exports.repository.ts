// Reads whole months for accountants, page by page. Even a long export has only one page in memory.
import { Injectable } from '@nestjs/common';
import { Any, type SelectQueryBuilder } from 'typeorm';
import { type LaneState } from '../../shared/domain/model.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { type LedgerRow, COMMON, entryNumbers, isRare, ledgerRows, OUT_OF_ORDER } from './ledger.repository.js';
import { type Span } from '../../shared/domain/page.js';
import { Database } from '../../frames/store/database.js';
import { LedgerEntryEntity, PaymentEntity, RefundEntity } from '../../frames/store/entities.js';
import { readLane } from '../../engine/lane-reader.js';

/** A payment taken by the MoR, with its ledger entry. */
export type CollectedPayment = { readonly entry: LedgerRow; readonly payment: PaymentRow };

/** A refund paid by the MoR, with its ledger entry. */
export type PaidRefund = { readonly entry: LedgerRow; readonly payment: PaymentRow; readonly refund: RefundRow };

/** A page of rows, and the progress of the export from 0 to 1. */
export type ExportPage<R> = { readonly rows: readonly R[]; readonly part: number };

export type Export<R> = AsyncIterable<ExportPage<R>>;

const PAGE = 1_000;

type Entries = { readonly entries: readonly LedgerEntryEntity[]; readonly part: number };

@Injectable()
export class ExportsRepository {
  constructor(private readonly db: Database) {}

  /** Exports ledger entries, by the time the money moved. `reason`: only these. */
  async *ledger(span: Span, reason: string | null = null): Export<LedgerRow> {
    for await (const { entries, part } of this.entries(span, reason))
      yield { rows: await ledgerRows(this.db.orm, entries), part };
  }

  /** Exports payments, by the time the MoR took the money: exactly the payments in the trial balance of this span. */
  async *payments(span: Span): Export<CollectedPayment> {
    for await (const { entries, part } of this.entries(span, 'payment_collected')) {
      const payments = await this.paymentsOf(entries);
      const rows = await ledgerRows(this.db.orm, entries);
      yield { rows: rows.map((entry, i) => ({ entry, payment: at(payments, entries[i]?.paymentRowId) })), part };
    }
  }

  /** Exports refunds, by the time the MoR paid them. */
  async *refunds(span: Span): Export<PaidRefund> {
    for await (const { entries, part } of this.entries(span, 'refund_paid')) {
      const payments = await this.paymentsOf(entries);
      const ids = Any(entries.flatMap((e) => e.refundId ?? []));
      const found = await this.db.orm.getRepository(RefundEntity).findBy({ id: ids });
      const refunds = await this.withLogged<RefundRow>(
        found,
        entries,
        (e) => e.refundId,
        (s) => s.refunds,
      );
      const rows = await ledgerRows(this.db.orm, entries);
      yield {
        rows: rows.map((entry, i) => ({
          entry,
          payment: at(payments, entries[i]?.paymentRowId),
          refund: at(refunds, entry.refundId ?? undefined),
        })),
        part,
      };
    }
  }

  private async paymentsOf(entries: readonly LedgerEntryEntity[]): Promise<ReadonlyMap<string, PaymentRow>> {
    const ids = Any([...new Set(entries.map((e) => e.paymentRowId))]);
    const found = await this.db.orm.getRepository(PaymentEntity).findBy({ id: ids });
    return this.withLogged<PaymentRow>(
      found,
      entries,
      (e) => e.paymentRowId,
      (s) => s.payments,
    );
  }

  /**
   * Fills in missing payment or refund rows from the lane's log: Crossbill writes a ledger entry at once, but the row
   * of the payment or refund only when the lane has no more work due.
   */
  private async withLogged<R extends { readonly id: string }>(
    found: readonly R[],
    entries: readonly LedgerEntryEntity[],
    idOf: (entry: LedgerEntryEntity) => string | null,
    of: (state: LaneState) => readonly R[],
  ): Promise<ReadonlyMap<string, R>> {
    const rows = new Map(found.map((r) => [r.id, r]));
    const behind = entries.filter((e) => !rows.has(idOf(e) ?? ''));
    for (const lane of new Set(behind.map((e) => e.invoiceId))) {
      for (const r of of((await readLane(this.db.pool, lane)).state)) if (!rows.has(r.id)) rows.set(r.id, r);
    }
    return rows;
  }

  /**
   * Reads entries by number, which is nearly the order of time. Only some are out of order: Crossbill recorded them
   * hours before or after the money moved (see OUT_OF_ORDER in ledger.repository.ts). So a second query reads the entries out of order, and the
   * export merges them in by time.
   */
  private async *entries(span: Span, reason: string | null): AsyncGenerator<Entries> {
    const timed = span.since !== undefined || span.until !== undefined;
    const { above, below } = await entryNumbers(this.db.orm, span);
    const newest = (await this.ledgerRows().select('max(e.id)', 'id').getRawOne<{ id: string | null }>())?.id ?? '0';
    const from = Number(above);
    const to = Math.min(Number(below), Number(newest));
    const outOfOrder = timed ? new OutOfOrder(this.outOfOrder(span, reason)) : null;
    for (let after = above; ;) {
      const query = this.ledgerRows(span, reason).andWhere('e.id > :after and e.id < :below', { after, below });
      if (timed) query.andWhere(`not (${OUT_OF_ORDER})`);
      const page = await query.orderBy('e.id').limit(PAGE).getMany();
      const last = page.at(-1);
      if (last === undefined) break;
      const part = Math.min(1, (Number(last.id) - from) / Math.max(1, to - from));
      let late: readonly LedgerEntryEntity[] = [];
      if (outOfOrder !== null) {
        for (
          late = await outOfOrder.upTo(last.movedAt);
          late.length >= PAGE;
          late = await outOfOrder.upTo(last.movedAt)
        )
          yield { entries: late, part };
      }
      yield { entries: late.length === 0 ? page : [...page, ...late].toSorted(byTime), part };
      after = last.id;
    }
    for (
      let late = await outOfOrder?.upTo(null);
      late !== undefined && late.length > 0;
      late = await outOfOrder?.upTo(null)
    )
      yield { entries: late, part: 1 };
  }

  private async *outOfOrder(span: Span, reason: string | null): AsyncGenerator<LedgerEntryEntity> {
    for (let after: LedgerEntryEntity | undefined; ;) {
      const query = this.ledgerRows(span, reason).andWhere(OUT_OF_ORDER);
      if (after !== undefined) {
        query.andWhere('e.movedAt >= :movedAt and (e.moved_at, e.id) > (:movedAt, :id)', {
          movedAt: after.movedAt,
          id: after.id,
        });
      }
      const page = await query.orderBy('e.movedAt').addOrderBy('e.id').limit(PAGE).getMany();
      yield* page;
      if (page.length < PAGE) return;
      after = page.at(-1);
    }
  }

  private ledgerRows({ since, until }: Span = {}, reason: string | null = null): SelectQueryBuilder<LedgerEntryEntity> {
    const query = this.db.orm.getRepository(LedgerEntryEntity).createQueryBuilder('e');
    if (since !== undefined) query.andWhere('e.movedAt >= :since', { since });
    if (until !== undefined) query.andWhere('e.movedAt < :until', { until });
    if (reason !== null) query.andWhere('e.reason = :reason', { reason });
    // Repeats the condition of the partial index for rare reasons, so PostgreSQL uses the index.
    if (reason !== null && !COMMON.includes(reason)) query.andWhere(isRare('e'));
    return query;
  }
}

/**
 * Returns the entries out of order by time. an entry out of order is an entry recorded hours before or after the money moved (see OUT_OF_ORDER in
 * ledger.repository.ts).
 */
class OutOfOrder {
  private head: LedgerEntryEntity | undefined;
  private begun = false;

  constructor(private readonly rows: AsyncGenerator<LedgerEntryEntity>) {}

  /** Returns the next entries out of order up to this time of their money, at most one page. Null `time`: no limit on the time. */
  async upTo(time: Date | null): Promise<readonly LedgerEntryEntity[]> {
    if (!this.begun) await this.advance();
    const taken: LedgerEntryEntity[] = [];
    while (this.head !== undefined && taken.length < PAGE && (time === null || this.head.movedAt <= time)) {
      taken.push(this.head);
      await this.advance();
    }
    return taken;
  }

  private async advance(): Promise<void> {
    this.begun = true;
    const next = await this.rows.next();
    this.head = next.done === true ? undefined : next.value;
  }
}

function byTime(one: LedgerEntryEntity, other: LedgerEntryEntity): number {
  return one.movedAt.getTime() - other.movedAt.getTime() || Number(BigInt(one.id) - BigInt(other.id));
}

function at<T>(rows: ReadonlyMap<string, T>, id: string | undefined): T {
  const row = rows.get(id ?? '');
  if (row === undefined) {
    throw new Error(`the ledger names ${id ?? 'no row'}, but the database has neither its row nor its log`);
  }
  return row;
}

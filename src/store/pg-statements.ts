// The MoR's statements in PostgreSQL: what each line is about, and what was found.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BadCursor, type Page, type PageRequest } from '../domain/ports/books.js';
import {
  type KeptFinding,
  type NewStatement,
  StatementBusy,
  type StatementRow,
  Statements,
  type StatementStep,
  type Totals,
} from '../domain/ports/statements.js';
import { type FindingKind, type Ours } from '../domain/statement.js';
import { parseMapping } from '../statements/rules/mapping.js';
import { jsonText } from './codec.js';
import { Database, inTransaction } from './database.js';
import { ONLY_LEDGER, OTHER_CURRENCIES, OUR_PAYMENTS, OUR_REFUNDS } from './statement-sql.js';

type Row = Record<string, unknown>;

@Injectable()
export class PgStatements extends Statements {
  constructor(private readonly db: Database) {
    super();
  }

  async begin(s: NewStatement): Promise<{ readonly row: StatementRow; readonly isNew: boolean }> {
    const mapping = jsonText(s.mapping);
    const mappingHash = createHash('sha256').update(mapping).digest();
    const sha256 = Buffer.from(s.sha256, 'hex');
    const made = await this.db.pool.query<Row>(
      `insert into statement (id, file_name, sha256, mapping, mapping_sha256, file_bytes, status, by, created_at)
       values ($1, $2, $3, $4, $5, $6, 'reading', $7, $8) on conflict (sha256, mapping_sha256) do nothing returning *`,
      [s.id, s.fileName, sha256, mapping, mappingHash, s.fileBytes, s.by, s.createdAt],
    );
    if (made.rows[0] !== undefined) return { row: statementOf(made.rows[0]), isNew: true };
    const known = await this.db.pool.query<Row>('select * from statement where sha256 = $1 and mapping_sha256 = $2', [
      sha256,
      mappingHash,
    ]);
    // Forgotten in between by another run: the caller's next try makes it.
    if (known.rows[0] === undefined) throw new StatementBusy('another run forgot this statement at this moment');
    return { row: statementOf(known.rows[0]), isNew: false };
  }

  async drop(id: string): Promise<void> {
    await this.db.pool.query('delete from statement where id = $1', [id]);
  }

  async ours(ids: readonly string[]): Promise<Ours> {
    if (ids.length === 0) return { payments: [], refunds: [] };
    const payments = await this.db.pool.query<Row>(OUR_PAYMENTS, [ids]);
    const rowIds = payments.rows.map((r) => r['id']);
    const refunds = await this.db.pool.query<Row>(OUR_REFUNDS, [ids, rowIds]);
    return {
      payments: payments.rows.map((r) => ({
        id: String(r['id']),
        paymentId: text(r['payment_id']),
        charge: text(r['processor_charge_id']),
        intent: text(r['processor_payment_intent_id']),
        reference: text(r['reference']),
        invoiceId: String(r['invoice_id']),
        amount: big(r['amount']),
        currency: String(r['currency']),
        status: String(r['status']),
        taken: r['taken'] === true,
        refunded: big(r['refunded']) ?? 0n,
        lost: big(r['lost']) ?? 0n,
        returned: big(r['returned']) ?? 0n,
      })),
      refunds: refunds.rows.map((r) => ({
        id: String(r['id']),
        paymentRowId: String(r['payment_row_id']),
        morRefundId: text(r['mor_refund_id']),
        processorRefundId: text(r['processor_refund_id']),
        invoiceId: String(r['invoice_id']),
        amount: big(r['amount']) ?? 0n,
        currency: String(r['currency']),
        status: String(r['status']),
        booked: r['counted'] === true,
      })),
    };
  }

  async seen(id: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = await this.db.pool.query<{ key: string; line: number }>(
      'select key, min(line) as line from statement_line where statement_id = $1 and key = any($2) group by key',
      [id, keys],
    );
    return new Map(found.rows.map((r) => [r.key, r.line]));
  }

  async step(s: StatementStep): Promise<void> {
    await inTransaction(this.db.pool, async (db) => {
      const moved = await db.query(
        `update statement set read_bytes = $3, next_line = $4, first_at = least(first_at, $5), last_at = greatest(last_at, $6),
           counts = $7, totals = $8 where id = $1 and read_bytes = $2 and status = 'reading'`,
        [s.id, s.fromBytes, s.readBytes, s.nextLine, s.firstAt, s.lastAt, jsonText(s.counts), totalsText(s.totals)],
      );
      if (moved.rowCount !== 1)
        throw new StatementBusy('another run reads this statement at this moment: wait until it is through');
      await db.query(
        'insert into statement_line (statement_id, line, key, subject) select $1, * from unnest($2::int[], $3::text[], $4::text[])',
        [s.id, s.lines.map((l) => l.line), s.lines.map((l) => l.key), s.lines.map((l) => l.subject)],
      );
      if (s.findings.length === 0) return;
      const rows = s.findings.map((f) => ({
        ...{ statement_id: s.id, line: f.line, kind: f.kind, charge: f.charge, payment: f.payment, refund: f.refund },
        ...{ invoice_id: f.invoiceId, amount: f.amount?.toString(), currency: f.currency, detail: f.detail },
        ...{ ledger_amount: f.ledgerAmount?.toString(), ledger_currency: f.ledgerCurrency },
      }));
      const columns =
        'statement_id, line, kind, charge, payment, refund, invoice_id, amount, currency, ledger_amount, ledger_currency, detail';
      await db.query(
        `insert into statement_finding (${columns})
         select ${columns} from jsonb_populate_recordset(null::statement_finding, $1::jsonb) with ordinality order by ordinality`,
        [jsonText(rows)],
      );
    });
  }

  async finish(
    id: string,
    window: { readonly since: Date; readonly until: Date } | null,
    at: Date,
  ): Promise<StatementRow> {
    return inTransaction(this.db.pool, async (db) => {
      const held = await db.query<Row>(`select * from statement where id = $1 for update`, [id]);
      const [row] = held.rows;
      if (row === undefined) throw new StatementBusy('another run forgot this statement at this moment');
      const now = statementOf(row);
      if (now.status === 'done') return now;
      const counts: Record<string, number> = { ...now.counts };
      if (window !== null) {
        const currencies = Object.keys(now.totals);
        const given = [id, window.since, window.until, currencies];
        const missing = await db.query(ONLY_LEDGER, given);
        if (missing.rowCount !== null && missing.rowCount > 0) counts['only_ledger'] = missing.rowCount;
        const others = await db.query<{ n: string }>(OTHER_CURRENCIES, given.slice(1));
        counts['other_currencies'] = Number(others.rows[0]?.n ?? 0);
      }
      const done = await db.query<Row>(
        `update statement set status = 'done', finished_at = $2, since = $3, until = $4, counts = $5 where id = $1 returning *`,
        [id, at, window?.since ?? null, window?.until ?? null, jsonText(counts)],
      );
      return statementOf(done.rows[0] ?? row);
    });
  }

  async find(id: string): Promise<StatementRow | null> {
    const found = await this.db.pool.query<Row>('select * from statement where id = $1', [id]);
    return found.rows[0] === undefined ? null : statementOf(found.rows[0]);
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<StatementRow>> {
    const found = await this.db.pool.query<Row>(
      'select * from statement where $1::bigint is null or seq < $1 order by seq desc limit $2',
      [place(cursor), limit + 1],
    );
    return pageOf(found.rows, limit, 'seq', statementOf);
  }

  async findings(id: string, kind: FindingKind | null, { limit, cursor }: PageRequest): Promise<Page<KeptFinding>> {
    const found = await this.db.pool.query<Row>(
      `select * from statement_finding where statement_id = $1 and ($2::text is null or kind = $2)
         and ($3::bigint is null or id > $3) order by id limit $4`,
      [id, kind, place(cursor), limit + 1],
    );
    return pageOf(found.rows, limit, 'id', findingOf);
  }
}

function place(cursor: string | null): string | null {
  if (cursor !== null && !/^\d{1,18}$/.test(cursor)) throw new BadCursor('not a cursor of this list');
  return cursor;
}

function pageOf<T>(found: readonly Row[], limit: number, by: string, of: (row: Row) => T): Page<T> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { data: rows.map(of), nextCursor: found.length > limit && last !== undefined ? String(last[by]) : null };
}

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const big = (value: unknown): bigint | null => (typeof value === 'string' ? BigInt(value) : null);
const time = (value: unknown): Date | null => (value instanceof Date ? value : null);

function totalsText(totals: Totals): string {
  return JSON.stringify(totals, (_, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));
}

/** The table's own types and checks vouch for what the columns hold. */
function statementOf(r: Row): StatementRow {
  const totals = Object.entries(r['totals'] as Record<string, Record<string, string>>).map(([currency, sums]) => [
    currency,
    Object.fromEntries(Object.entries(sums).map(([kind, sum]) => [kind, BigInt(sum)])),
  ]);
  return {
    id: String(r['id']),
    fileName: String(r['file_name']),
    sha256: (r['sha256'] as Buffer).toString('hex'),
    mapping: parseMapping(r['mapping']),
    fileBytes: Number(r['file_bytes']),
    status: r['status'] === 'done' ? 'done' : 'reading',
    readBytes: Number(r['read_bytes']),
    nextLine: Number(r['next_line']),
    firstAt: time(r['first_at']),
    lastAt: time(r['last_at']),
    since: time(r['since']),
    until: time(r['until']),
    counts: r['counts'] as Record<string, number>,
    totals: Object.fromEntries(totals) as Totals,
    by: String(r['by']),
    createdAt: r['created_at'] as Date,
    finishedAt: time(r['finished_at']),
  };
}

function findingOf(r: Row): KeptFinding {
  return {
    id: String(r['id']),
    line: typeof r['line'] === 'number' ? r['line'] : null,
    kind: r['kind'] as FindingKind,
    charge: text(r['charge']),
    payment: text(r['payment']),
    refund: text(r['refund']),
    invoiceId: text(r['invoice_id']),
    amount: big(r['amount']),
    currency: text(r['currency']),
    ledgerAmount: big(r['ledger_amount']),
    ledgerCurrency: text(r['ledger_currency']),
    detail: String(r['detail']),
  };
}

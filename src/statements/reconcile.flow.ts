// The MoR's statement against the ledger: line by line, in steps that are written whole, so that an interrupted run resumes.
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock, Ids } from '../domain/ports/clock.js';
import { type StatementRow, Statements, type Totals } from '../domain/ports/statements.js';
import { type Finding, type Mapping } from '../domain/statement.js';
import { hashOf, headerOf, isBlank, type Placed, recordsOf, CsvRefused } from '../csv/read-csv.js';
import { idsOf, judge, twice, unread } from './rules/judge.js';
import { startOfDay } from './rules/day.js';
import { readLine, type StatementLine } from './rules/line.js';
import { bind, type Bound } from './rules/mapping.js';
import { DAY_MS } from '../policy.js';

/** Lines of one step: one transaction, and a few looks at the database. */
const STEP_LINES = 500;

export type ReconcileOptions = {
  readonly path: string;
  readonly fileName: string;
  readonly mapping: Mapping;
  /** Who asks. */
  readonly by: string;
  /** Compare a file that was compared before once more, with the ledger as it is now. */
  readonly again: boolean;
  /** The window for what only the ledger has; null: from the statement's earliest date, to its latest. */
  readonly since: Date | null;
  readonly until: Date | null;
  readonly signal: AbortSignal;
  readonly onProgress: (what: 'hashed' | 'compared', done: number, total: number) => void;
};

export type Reconciled = {
  readonly row: StatementRow;
  /** `known`: this file was compared before, and this is that report. `interrupted`: the same command resumes. */
  readonly how: 'compared' | 'resumed' | 'known' | 'interrupted';
};

@Injectable()
export class ReconcileFlow {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Throws CsvRefused, MappingRefused, StatementBusy. */
  async run(o: ReconcileOptions): Promise<Reconciled> {
    const { sha256, bytes } = await hashOf(o.path, (done, total) => o.onProgress('hashed', done, total));
    const { header, delimiter, next } = await headerOf(o.path, o.mapping.delimiter);
    const bound = bind(o.mapping, header);
    const begin = () =>
      this.statements.begin({
        id: this.ids.next('stm'),
        fileName: o.fileName,
        sha256,
        mapping: o.mapping,
        fileBytes: bytes,
        by: o.by,
        createdAt: this.clock.now(),
      });
    let begun = await begin();
    if (!begun.isNew && begun.row.status === 'done') {
      if (!o.again) return { row: begun.row, how: 'known' };
      await this.statements.drop(begun.row.id);
      begun = await begin();
    }
    const { row } = begun;
    const how = row.readBytes > 0 ? 'resumed' : 'compared';
    const place =
      row.readBytes > 0 ? { byte: row.readBytes, line: row.nextLine } : { byte: next.nextByte, line: next.nextLine };
    try {
      const read = await this.read(o, row, bound, { delimiter, ...place });
      if (read === null) return { row: (await this.statements.find(row.id)) ?? row, how: 'interrupted' };
      if ((await hashOf(o.path, () => undefined)).sha256 !== sha256)
        throw new CsvRefused('changed', 'The file changed while it was read. Nothing of it was kept: say it again.');
      return { row: await this.statements.finish(row.id, windowOf(o, read), this.clock.now()), how };
    } catch (e) {
      if (e instanceof CsvRefused) await this.statements.drop(row.id); // half a statement is none
      throw e;
    }
  }

  /** The span of its dates; null: the person ended it. */
  private async read(
    o: ReconcileOptions,
    row: StatementRow,
    bound: Bound,
    from: { readonly delimiter: string; readonly byte: number; readonly line: number },
  ): Promise<Span | null> {
    const tally = new Tally(row);
    let at = row.readBytes;
    let batch: Placed[] = [];
    const flush = async (last: Placed): Promise<void> => {
      const step = await this.judged(row.id, batch, bound, tally);
      await this.statements.step({
        ...step,
        ...tally.shown(),
        id: row.id,
        fromBytes: at,
        readBytes: last.nextByte,
        nextLine: last.nextLine,
      });
      at = last.nextByte;
      batch = [];
      o.onProgress('compared', at, row.fileBytes);
    };
    for await (const placed of recordsOf(o.path, from)) {
      if (o.signal.aborted) return null;
      if (isBlank(placed)) continue;
      batch.push(placed);
      if (batch.length === STEP_LINES) await flush(placed);
    }
    const last = batch.at(-1);
    if (last !== undefined) await flush(last);
    return tally.span;
  }

  private async judged(
    id: string,
    batch: readonly Placed[],
    bound: Bound,
    tally: Tally,
  ): Promise<{
    readonly lines: { line: number; key: string; subject: string | null }[];
    readonly findings: Finding[];
  }> {
    const findings: Finding[] = [];
    const read: { readonly line: StatementLine; readonly hash: string }[] = [];
    for (const { record, line } of batch) {
      tally.count('lines');
      const r = readLine(record, line, bound);
      if (r.ok === null) tally.count('ignored');
      else if (r.ok)
        read.push({
          line: r.line,
          hash: createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 32),
        });
      else findings.push(unread(line, r.kind, r.why));
    }
    const ours = await this.statements.ours([...new Set(read.flatMap(({ line }) => idsOf(line)))]);
    const indexed = indexOf(ours);
    const verdicts = read.map(({ line, hash }) => ({ line, ...judge(line, indexed(line), hash) }));
    const before = new Map(await this.statements.seen(id, [...new Set(verdicts.map((v) => v.key))]));
    const lines: { line: number; key: string; subject: string | null }[] = [];
    for (const { line, key, subject, finding } of verdicts) {
      tally.add(line);
      lines.push({ line: line.line, key, subject });
      const first = before.get(key);
      if (first === undefined) before.set(key, line.line);
      const said = first === undefined ? finding : twice(line, first, finding);
      if (said === null) tally.count('agree');
      else findings.push(said);
    }
    findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    for (const f of findings) tally.count(f.kind);
    return { lines, findings };
  }
}

type Ours = Awaited<ReturnType<Statements['ours']>>;

/** What of ours one line may be about, without a walk over all of the step's. */
function indexOf({ payments, refunds }: Ours): (l: StatementLine) => Ours {
  const byId = new Map<string, Ours['payments'][number][]>();
  const refundsById = new Map<string, Ours['refunds'][number][]>();
  const put = <T>(map: Map<string, T[]>, id: string | null, row: T): void => {
    if (id !== null) map.set(id, [...(map.get(id) ?? []), row]);
  };
  for (const p of payments) for (const id of [p.id, p.paymentId, p.charge, p.intent, p.reference]) put(byId, id, p);
  for (const r of refunds)
    for (const id of [r.id, r.morRefundId, r.processorRefundId, r.paymentRowId]) put(refundsById, id, r);
  return (l) => {
    const own = new Set(idsOf(l).flatMap((id) => byId.get(id) ?? []));
    const names = [...idsOf(l), ...[...own].map((p) => p.id)];
    return { payments: [...own], refunds: [...new Set(names.flatMap((id) => refundsById.get(id) ?? []))] };
  };
}

type Span = { readonly firstAt: Date | null; readonly lastAt: Date | null };

/** Counts and sums, from where the statement stands. */
class Tally {
  private readonly counts: Record<string, number>;
  private readonly totals: Record<string, Record<string, bigint>>;
  private firstAt: Date | null;
  private lastAt: Date | null;

  constructor(row: StatementRow) {
    this.counts = { ...row.counts };
    this.totals = Object.fromEntries(Object.entries(row.totals).map(([currency, sums]) => [currency, { ...sums }]));
    this.firstAt = row.firstAt;
    this.lastAt = row.lastAt;
  }

  get span(): Span {
    return { firstAt: this.firstAt, lastAt: this.lastAt };
  }

  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  add({ type, refund, amount, currency, fee, at }: StatementLine): void {
    const sums = (this.totals[currency] ??= {});
    const kind = type ?? (refund === null ? 'payment' : 'refund');
    sums[kind] = (sums[kind] ?? 0n) + amount;
    if (fee !== null) sums['fee_column'] = (sums['fee_column'] ?? 0n) + fee;
    if (at === null) return;
    if (this.firstAt === null || at < this.firstAt) this.firstAt = at;
    if (this.lastAt === null || at > this.lastAt) this.lastAt = at;
  }

  shown(): Span & { readonly counts: Record<string, number>; readonly totals: Totals } {
    return { ...this.span, counts: this.counts, totals: this.totals };
  }
}

/** Whole days in UTC, for a statement may give days only. */
function windowOf(
  o: ReconcileOptions,
  { firstAt, lastAt }: Span,
): { readonly since: Date; readonly until: Date } | null {
  const since = o.since ?? firstAt;
  const last = o.until ?? lastAt;
  if (since === null || last === null) return null;
  return { since: startOfDay(since), until: new Date(startOfDay(last).getTime() + DAY_MS) };
}

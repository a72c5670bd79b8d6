// The cost of the day benchmark, read every few seconds: memory, processor time, and PostgreSQL's figures on files and
// connections.
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { processorTime } from '../processor-time.js';
import { memoryOf } from '../rig.js';

export type Sample = {
  readonly atMs: number;
  readonly rssMb: number;
  /** Processor time since the previous sample, as a share of one processor. */
  readonly daemonCpu: number;
  readonly postgresCpu: number;
  readonly loadCpu: number;
  readonly walMb: number;
  readonly databaseMb: number;
  readonly connections: number;
  readonly deadRows: number;
  readonly vacuums: number;
  readonly analyzes: number;
  /** The waiting work, as `/metrics` shows it. */
  readonly inbox: number;
  readonly outbox: number;
  readonly oldestSec: number;
  readonly toTell: number;
  readonly marked: number;
};

const EVERY_MS = 5_000;
const MB = 1_048_576;

const SQL = `
  select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal, pg_database_size(current_database())::float8 as size,
         (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid())::int as connections,
         sum(n_dead_tup)::float8 as dead, sum(autovacuum_count)::int as vacuums, sum(autoanalyze_count)::int as analyzes
    from pg_stat_user_tables`;

type Row = Readonly<Record<'wal' | 'size' | 'connections' | 'dead' | 'vacuums' | 'analyzes', number>>;

export class Watch {
  readonly samples: Sample[] = [];
  private over = false;
  private cpu = { daemon: 0, postgres: 0, load: 0, atMs: 0 };

  constructor(
    private readonly db: pg.Client,
    private readonly pids: { readonly daemon: number; readonly postgres: number },
    private readonly now: () => number,
    private readonly metrics: () => string,
    private readonly marked: () => number,
  ) {}

  async run(onSample: (sample: Sample) => void): Promise<void> {
    while (!this.over) {
      const sample = await this.take();
      this.samples.push(sample);
      onSample(sample);
      await pause(EVERY_MS);
    }
  }

  stop(): void {
    this.over = true;
  }

  async take(): Promise<Sample> {
    const atMs = this.now();
    const found = await this.db.query<Row>(SQL);
    const row = found.rows[0] ?? { wal: 0, size: 0, connections: 0, dead: 0, vacuums: 0, analyzes: 0 };
    const used = await processorTime(this.pids.daemon, this.pids.postgres);
    const cpu = { daemon: used.thread + used.helpers, postgres: used.postgres, load: used.load, atMs };
    const us = Math.max(1, (atMs - this.cpu.atMs) * 1_000);
    const [first, before] = [this.samples.length === 0, this.cpu];
    const part = (of: 'daemon' | 'postgres' | 'load'): number => (first ? 0 : (cpu[of] - before[of]) / us);
    const sample: Sample = {
      atMs,
      rssMb: (await memoryOf(this.pids.daemon)).now,
      daemonCpu: part('daemon'),
      postgresCpu: part('postgres'),
      loadCpu: part('load'),
      walMb: row.wal / MB,
      databaseMb: row.size / MB,
      connections: row.connections,
      deadRows: row.dead,
      vacuums: row.vacuums,
      analyzes: row.analyzes,
      ...status(this.metrics()),
      marked: this.marked(),
    };
    this.cpu = cpu;
    return sample;
  }
}

/** Reads the waiting work from the text of `/metrics`. */
export function status(text: string): Pick<Sample, 'inbox' | 'outbox' | 'oldestSec' | 'toTell'> {
  const of = (name: string): number => {
    const line = text.split('\n').find((l) => l.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  };
  return {
    inbox: of('crossbill_queue_depth{queue="inbox"}'),
    outbox: of('crossbill_queue_depth{queue="outbox"}'),
    oldestSec: of('crossbill_queue_oldest_age_seconds'),
    toTell: of('crossbill_notifications{status="pending"}'),
  };
}

/** A table with its indexes, and how many rows changed. */
export type TableSeen = {
  readonly name: string;
  readonly bytes: number;
  readonly rows: number;
  readonly dead: number;
  readonly vacuums: number;
  readonly analyzes: number;
  readonly hot: number;
  readonly updates: number;
};

export async function tablesOf(db: pg.Client): Promise<ReadonlyMap<string, TableSeen>> {
  const found = await db.query<TableSeen>(
    `select relname as name, pg_total_relation_size(relid)::float8 as bytes, (n_tup_ins + n_tup_upd + n_tup_del)::float8 as rows,
            n_dead_tup::float8 as dead, autovacuum_count::int as vacuums, autoanalyze_count::int as analyzes,
            n_tup_hot_upd::float8 as hot, n_tup_upd::float8 as updates
       from pg_stat_user_tables`,
  );
  return new Map(found.rows.map((t) => [t.name, t]));
}

// The entities and the rules in the database, in a real PostgreSQL.
import '../../src/app.module.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Secret } from '../../src/shared/config/secret.js';
import { createLogger } from '../../src/shared/observe/index.js';
import { type OpenDatabase, openDatabase } from '../../src/open-database.js';
import { Database, violatedConstraint } from '../../src/frames/store/database.js';
import {
  OWN_MIGRATIONS,
  loadMigrations,
  migrate,
  schemaState,
  undoLastMigration,
} from '../../src/frames/store/migrations.js';
import { type TestDatabase, emptyDatabase, freshDatabase } from '../support/rigs/database.js';
import { databaseForEach } from '../support/rigs/use-database.js';

// The entities and the migrations agree on every table read through TypeORM.
describe('The entities', () => {
  let db: Database;
  databaseForEach((opened) => (db = opened), 2);

  /**
   * TypeORM's changes to tables and columns. Keys, checks and indexes are the migrations' own: it cannot express their
   * names and kinds.
   */
  async function columnChanges(): Promise<readonly string[]> {
    const { upQueries } = await db.orm.driver.createSchemaBuilder().log();
    return upQueries
      .map(({ query }) => query)
      .filter((query) => !/ (ADD|DROP) CONSTRAINT |^(CREATE|DROP) (UNIQUE )?INDEX /.test(query));
  }

  it('the entity classes declare the same columns as the tables of the migration', async () => {
    expect(db.orm.entityMetadatas.length).toBeGreaterThan(10);
    expect(await columnChanges()).toEqual([]);
  });

  it('the schema check notices a missing column, a column of another type and a column wrongly allowing null', async () => {
    await db.pool.query('alter table review drop column note');
    await db.pool.query('alter table refund alter column counted type text using counted::text');
    await db.pool.query('alter table signup alter column path drop not null');
    const changes = (await columnChanges()).join('\n');
    for (const part of [
      '"review" ADD "note"',
      '"refund" ADD "counted" boolean',
      '"signup" ALTER COLUMN "path" SET NOT NULL',
    ])
      expect(changes).toContain(part);
  });
});

// The database's own rules: migrations both ways, append-only books, effects unique for good.
describe('The rules in the database', () => {
  let fresh: TestDatabase;
  let db: pg.Pool;
  async function use(database: TestDatabase): Promise<void> {
    fresh = database;
    db = new pg.Pool({ connectionString: fresh.url, max: 2 });
    db.on('error', () => undefined); // a connection may still be closing when the test drops its database
  }
  afterEach(async () => {
    await db.end();
    await fresh.drop();
  });

  const names = async (): Promise<string[]> => {
    const found = await db.query<{ name: string }>(
      `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'public' and c.relkind in ('r', 'S', 'i') and c.relname not like 'schema_migration%' and c.relname not like 'PK%'
     union all select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'public'
     order by 1`,
    );
    return found.rows.map((r) => r.name);
  };

  describe('migrations', () => {
    beforeEach(async () => use(await emptyDatabase()));

    it('the migrations run up, all the way down to an empty schema, and up to the same schema again', async () => {
      const count = loadMigrations().length;
      expect(await migrate(fresh.url)).toHaveLength(count);
      expect(await migrate(fresh.url)).toEqual([]);
      const up = await names();
      expect(up.length).toBeGreaterThan(20);
      for (let n = 0; n < count; n++) await undoLastMigration(fresh.url);
      expect(await names()).toEqual([]);
      await migrate(fresh.url);
      expect(await names()).toEqual(up);
    });

    it('each migration has its own number', () => {
      const numbers = readdirSync(OWN_MIGRATIONS).map((file) => file.slice(0, 4));
      expect(numbers.filter((n, i) => numbers.indexOf(n) !== i)).toEqual([]);
    });

    it('two replicas starting at the same time run each migration once', async () => {
      const ran = await Promise.all([migrate(fresh.url), migrate(fresh.url)]);
      expect(ran.map((r) => r.length).sort((a, b) => a - b)).toEqual([0, loadMigrations().length]);
    });

    it('the daemon knows from the applied migrations whether its schema is behind', async () => {
      const open = async (): Promise<boolean> => {
        const database = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
        const behind = (await schemaState(database.orm)).missing.length > 0;
        await database.close();
        return behind;
      };
      expect(await open()).toBe(true);
      await migrate(fresh.url);
      expect(await open()).toBe(false);
      await undoLastMigration(fresh.url);
      expect(await open()).toBe(true);
    });

    const opened = (url: string, signal: AbortSignal, lines: string[]): Promise<OpenDatabase> => {
      const log = createLogger({
        level: 'info',
        secrets: [],
        pretty: false,
        destination: { write: (l) => lines.push(l) },
      });
      const choice = { kind: 'url', url: new Secret(url) } as const;
      return openDatabase({ database: choice, databasePoolSize: 2 }, log, signal);
    };

    it("the daemon waits for `crossbill migrate` if the daemon's database user may not run the migrations", async () => {
      const url = new URL(fresh.url);
      url.searchParams.set('options', '-c role=pg_read_all_data');
      const lines: string[] = [];
      const opening = opened(url.toString(), new AbortController().signal, lines);
      while (!lines.some((l) => l.includes('run `crossbill migrate`'))) await new Promise((r) => setTimeout(r, 20));
      await migrate(fresh.url);
      const found = await opening;
      expect((await schemaState(found.db.orm)).missing).toEqual([]);
      await found.db.close();
      await found.close();
    });

    it("a stopping daemon does not wait for another process's migration", async () => {
      const other = await db.connect();
      await other.query('select pg_advisory_lock(4812007)');
      const stop = new AbortController();
      const opening = opened(fresh.url, stop.signal, []);
      const waits = async (): Promise<boolean> =>
        (await db.query(`select 1 from pg_stat_activity where application_name = 'crossbill-migrate'`)).rowCount !== 0;
      while (!(await waits())) await new Promise((r) => setTimeout(r, 20));
      stop.abort();
      await expect(opening).rejects.toMatchObject({ code: 'store.migration_ended' });
      expect(await names()).toEqual([]);
      await other.query('select pg_advisory_unlock(4812007)');
      other.release();
    });

    // Replicas of the release before go on next to the new schema, and this release may start on it again.
    const NEEDS_NEW_CODE =
      /\bdrop (table|column|function|type|sequence|view)\b|\brename\b|\balter (column )?\w+ (set not null|type)\b/i;
    it.each(readdirSync(OWN_MIGRATIONS).filter((name) => name.endsWith('.sql')))(
      'the migration %s removes and renames nothing that an older release needs',
      (file) => {
        const text = readFileSync(join(OWN_MIGRATIONS, file), 'utf8');
        expect(text).toMatch(/^-- Why: [\s\S]*Locks: [\s\S]*Undo: [\s\S]*\n\n-- up\n/);
        const up = (text.split(/^-- down$/m)[0] ?? '').split(/^-- up$/m)[1] ?? '';
        // A function acts when somebody calls it.
        expect(up.replace(/\$\$[\s\S]*?\$\$/g, '')).not.toMatch(NEEDS_NEW_CODE);
        const columns = [...up.matchAll(/add column[^,;]*/gi)].map(([column]) => column);
        expect(columns.filter((c) => /not null/i.test(c) && !/default/i.test(c))).toEqual([]);
      },
    );
  });

  describe('the schema', () => {
    beforeEach(async () => use(await freshDatabase()));

    const refused = async (sql: string): Promise<string | null> => {
      try {
        await db.query(sql);
        return null;
      } catch (e) {
        return violatedConstraint(e) ?? (e instanceof Error ? e.message : 'refused');
      }
    };

    const ENTRY = `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
    values`;
    const AUDIT = `insert into audit (at, actor, action, source, outcome, status) values (now(), 'ops', 'refund', '::1', 'done', 201)`;
    const logged = (version: number): string =>
      `insert into lane_log (lane, version, at, at_rest, snapshot, change) values ('in_1', ${version}, now(), true, false, '{"f":1}')`;

    it('the database refuses to change or delete ledger entries, audit entries and log rows, and an erasure leaves a log row its place', async () => {
      await db.query(`${ENTRY} ('a', 'b', 1, 'EUR', 'payment_collected', 'p', 'in_1', 'p', now(), now())`);
      await db.query(AUDIT);
      await db.query(logged(1));
      for (const sql of ['delete from lane_log', 'truncate lane_log'])
        expect(await refused(sql)).toMatch(/never changed or deleted/);
      expect(await refused(`update lane_log set change = '{}'`)).toMatch(/never changed/);
      const erasing = (change: string): Promise<string | null> =>
        refused(`set local crossbill.erasing = 'on'; update lane_log set ${change}`);
      for (const change of [`lane = 'in_2'`, 'version = 2', 'at = now()', 'at_rest = false', 'snapshot = true'])
        expect(await erasing(`change = '{}', ${change}`)).toMatch(/never changed/);
      expect(await erasing(`change = '{"f":1}'`)).toBeNull();
      for (const table of ['ledger_entry', 'audit']) {
        for (const sql of [`update ${table} set id = default`, `delete from ${table}`, `truncate ${table}`])
          expect(await refused(sql)).toMatch(/never changed or deleted/);
        expect((await db.query(`select 1 from ${table}`)).rowCount).toBe(1);
      }
    });

    it('the database refuses a second ledger entry for the same cause, and an amount of zero or less', async () => {
      const row = (debit: string, amount: number, subject: string): string =>
        `${ENTRY} ('${debit}', 'b', ${amount}, 'EUR', 'payment_marked', '${subject}', 'in_1', 'p', now(), now())`;
      expect(await refused(row('a', 1, 's'))).toBeNull();
      expect(await refused(row('a', 2, 's'))).toBe('ledger_entry_reason_subject_key');
      expect(await refused(row('a', 0, 't'))).toMatch(/check/);
      expect(await refused(row('a', -1, 't'))).toMatch(/check/);
      expect(await refused(row('b', 1, 't'))).toMatch(/check/);
    });

    it('the database refuses a second row for the same payment, charge, refund, log version or review item', async () => {
      await db.query(`insert into invoice (invoice_id, status, platform_status, first_seen_at)
      values ('in_1', 'open', 'open', now()), ('in_2', 'open', 'open', now())`);
      const payment = (id: string, invoice: string, columns: Record<string, string>): string =>
        `insert into payment (id, invoice_id, customer_id, origin, status, currency, mark, recorded_at, ${Object.keys(columns).join(', ')})
       values ('${id}', '${invoice}', 'c', '${columns['processor_charge_id'] ? 'signup' : 'renewal'}', 'succeeded', 'EUR',
         '${columns['mark_mode'] ? 'confirmed' : 'waiting'}', now(), ${Object.values(columns)
           .map((v) => `'${v}'`)
           .join(', ')})`;
      expect(await refused(payment('p1', 'in_1', { payment_id: 'pay_1', mark_mode: 'payment_record' }))).toBeNull();
      expect(await refused(payment('p2', 'in_2', { payment_id: 'pay_1' }))).toBe('payment_payment_id_key');
      expect(await refused(payment('p3', 'in_1', { payment_id: 'pay_3', mark_mode: 'payment_record' }))).toBe(
        'payment_holder',
      );
      expect(await refused(payment('p4', 'in_1', { processor_charge_id: 'ch_1' }))).toBeNull();
      expect(await refused(payment('p5', 'in_2', { processor_charge_id: 'ch_1' }))).toBe('payment_signup_charge');
      expect(await refused(payment('p6', 'in_2', { amount: '100', amount_refunded: '101' }))).toMatch(/check/);
      expect(await refused(payment('p7', 'in_2', { payment_record_id: 'pr_1' }))).toBeNull();
      expect(await refused(payment('p8', 'in_2', { payment_record_id: 'pr_1' }))).toBe('payment_payment_record_id_key');
      const refund = (id: string, mor: string, processor: string): string =>
        `insert into refund (id, payment_row_id, invoice_id, mor_refund_id, processor_refund_id, amount, currency, status, origin, counted, mirror, created_at)
       values ('${id}', 'p1', 'in_1', '${mor}', '${processor}', 1, 'EUR', 'succeeded', 'event', true, 'waiting', now())`;
      expect(await refused(refund('r1', 'rfnd_1', 're_1'))).toBeNull();
      expect(await refused(refund('r2', 'rfnd_1', 're_2'))).toBe('refund_mor_id');
      expect(await refused(refund('r3', 'rfnd_3', 're_1'))).toBe('refund_processor_id');
      expect(await refused(logged(1))).toBeNull();
      expect(await refused(logged(1))).toBe('lane_log_pkey');
      const review = (id: string, status: string, invoice = 'null'): string =>
        `insert into review (id, kind, status, topic, subject, invoice_id, fact, actions, created_at) values ('${id}', 'dispute', '${status}', 't', 's', ${invoice}, '{}', '{}', now())`;
      expect(await refused(review('v1', 'open'))).toBeNull();
      expect(await refused(review('v2', 'resolved'))).toBeNull();
      expect(await refused(review('v3', 'open'))).toBe('review_open_once');
      expect(await refused(review('v4', 'open', "'in_1'"))).toBeNull();
      expect(await refused(review('v5', 'open', "'in_2'"))).toBeNull();
      expect(await refused(review('v6', 'open', "'in_2'"))).toBe('review_open_once');
    });
  });
});

// Through a real PgBouncer: all well in session mode; in the other modes, where it would look healthy and do nothing, refused.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inTransaction } from '../../src/frames/store/database.js';
import { schemaState } from '../../src/frames/store/migrations.js';
import { cli } from '../cli/rig.js';
import { freePort } from '../e2e/support/daemon-process.js';
import { opening, settingsFor } from '../support/rigs/any-server.js';
import { adminUrl, emptyDatabase, freshDatabase, type TestDatabase } from '../support/rigs/database.js';

const PGBOUNCER = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((p) => existsSync(p));
if (PGBOUNCER === undefined)
  console.warn('the tests of poolers are skipped: there is no pgbouncer here (apt install pgbouncer)');

type Mode = 'session' | 'transaction' | 'statement';

class Bouncer {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
  ) {}

  /** With its own default settings, except for the mode. */
  static async start(mode: Mode): Promise<Bouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'crossbill-pgbouncer-'));
    const port = await freePort();
    const server = new URL(adminUrl());
    const to = `host=${server.hostname} port=${server.port || '5432'} user=${server.username} password=${decodeURIComponent(server.password)}`;
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(
      file,
      `[databases]\n* = ${to}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any\npool_mode = ${mode}\n`,
    );
    for (const path of [folder, file]) chmodSync(path, 0o755);
    const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []; // it refuses to run as root
    const child = spawn(PGBOUNCER ?? '', ['-q', ...asNobody, file], { stdio: 'ignore', cwd: '/' });
    while (!(await listens(port))) {
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return new Bouncer(child, folder, port);
  }

  /** The same database, through it. */
  to(database: TestDatabase): string {
    const { pathname } = new URL(database.url);
    return `postgres://crossbill:hunter22hunter22@127.0.0.1:${this.port}${pathname}`;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

(PGBOUNCER === undefined ? describe.skip : describe)('through PgBouncer', () => {
  let migrated: TestDatabase;
  beforeAll(async () => {
    migrated = await freshDatabase();
  });
  afterAll(() => migrated.drop());

  it('the daemon migrates and works through a pooler in session mode', async () => {
    const bouncer = await Bouncer.start('session');
    const empty = await emptyDatabase();
    const daemon = opening(bouncer.to(empty), { poolSize: 5 });
    try {
      const { db } = await daemon.opened;
      expect((await schemaState(db.orm)).missing).toEqual([]);
      const jit = await inTransaction(db.pool, async (c) => (await c.query<{ jit: string }>('show jit')).rows[0]?.jit);
      expect(jit).toBe('off');
      expect(await cli(['migrate'], settingsFor(bouncer.to(empty)))).toMatchObject({ code: 0 });
    } finally {
      await daemon.stop();
      await bouncer.stop();
      await empty.drop();
    }
  });

  it.each(['transaction', 'statement'] as const)(
    'the daemon, `crossbill migrate` and `crossbill doctor` refuse a pooler in %s mode and name the remedy',
    async (mode) => {
      const sentence =
        'The pooler before the database gives each transaction another session (transaction or statement mode): locks and session settings would be lost';
      const todo =
        'Connect to PostgreSQL directly, or through a pool in session mode (PgBouncer: pool_mode = session).';
      const bouncer = await Bouncer.start(mode);
      const url = bouncer.to(migrated);
      const daemon = opening(url, { poolSize: 5 });
      try {
        await expect(daemon.atOnce()).rejects.toMatchObject({
          code: 'store.pooling_mode',
          message: `${sentence}. ${todo}`,
        });
        expect(daemon.lines).toEqual([]);
        for (const command of ['migrate', 'status'])
          expect(await cli([command], settingsFor(url))).toEqual({ code: 1, out: '', err: `${sentence}. ${todo}\n` });
        const doctor = await cli(['doctor'], settingsFor(url));
        expect(doctor.code).toBe(1);
        expect(doctor.out).toMatch(/FAIL {2}database +The pooler before the database/);
        expect(doctor.out).toContain(`-> ${todo}`);
        expect(doctor.out).not.toContain('hunter22');
      } finally {
        await daemon.stop();
        await bouncer.stop();
      }
    },
  );

  it('the daemon recognises a pooler in transaction mode while other clients use the pool', async () => {
    const bouncer = await Bouncer.start('transaction');
    const { default: pg } = await import('pg');
    const others = new pg.Pool({ connectionString: bouncer.to(migrated), max: 12 });
    others.on('error', () => undefined);
    let over = false;
    const load = Array.from({ length: 12 }, async () => {
      while (!over) await others.query('select pg_sleep(random() / 200)');
    });
    try {
      for (let n = 0; n < 10; n++) {
        const daemon = opening(bouncer.to(migrated), { poolSize: 5 });
        await expect(daemon.atOnce()).rejects.toMatchObject({ code: 'store.pooling_mode' });
      }
    } finally {
      over = true;
      await Promise.allSettled(load);
      await others.end();
      await bouncer.stop();
    }
  });
});

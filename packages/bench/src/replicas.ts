// Measures one, two and four replicas on one database: their total rate, and a check that no effect happens twice.
import type pg from 'pg';
import { Database } from '#src/frames/store/database.js';
import { type Rig, until, withPeer } from './rig.js';
import { type Seen, seenBy, storeRenewals } from './whole-path.js';

type Row = { replicas: number; delayMs: number; perSecond: number; seen: Seen; ledger: number; count: number };

export async function replicas(rig: Rig): Promise<void> {
  const rows: Row[] = [];
  for (const [delayMs, count] of [
    [150, Math.round(3_000 * rig.scale)],
    [0, Math.round(6_000 * rig.scale)],
  ] as const) {
    for (const n of [1, 2, 4]) rows.push(await run(rig, n, delayMs, count));
  }
  rig.table(
    'Replicas on one database: 32 lanes each',
    rows.map((r) => ({
      'answers after': `${r.delayMs} ms`,
      replicas: r.replicas,
      'renewals per second': r.perSecond.toFixed(1),
      'of one': (r.perSecond / (rows.find((x) => x.delayMs === r.delayMs)?.perSecond ?? 1)).toFixed(2),
      'reports, attached': `${r.seen.reports}, ${r.seen.attached} of ${r.count}`,
      'second effects': r.seen.twice,
      'ledger entries': `${r.ledger} of ${2 * r.count}`,
    })),
  );
  rig.found['replicas'] = rows;
}

function run(rig: Rig, n: number, delayMs: number, count: number): Promise<Row> {
  return rig.fresh((url) =>
    withPeer(rig, { delayMs }, async (peerUrl) => {
      const db = await Database.open({ url, poolSize: 4, onError: () => undefined });
      await storeRenewals(db, 0, count);
      const all = await Promise.all(
        Array.from({ length: n }, () => rig.start('./path-replica.js', url, peerUrl, '32')),
      );
      try {
        const began = performance.now();
        for (const { child } of all) child.kill('SIGUSR2');
        await until(async () => (await seenBy(peerUrl)).attached >= count);
        const perSecond = count / ((performance.now() - began) / 1000);
        await until(
          async () => (await number(db.pool, `select count(*) from payment where mark = 'confirmed'`)) >= count,
        );
        const ledger = await number(db.pool, 'select count(*) from ledger_entry');
        return { replicas: n, delayMs, perSecond, seen: await seenBy(peerUrl), ledger, count };
      } finally {
        for (const { child } of all) child.kill('SIGKILL');
        await db.close();
      }
    }),
  );
}

async function number(pool: pg.Pool, sql: string): Promise<number> {
  const found = await pool.query<{ count: string }>(sql);
  return Number(found.rows[0]?.count);
}

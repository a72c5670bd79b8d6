// The durable limit of marks: three steps a renewal, each group-committed before its call, and nothing else.
import type pg from 'pg';

/** Renewals per second of a bare loop whose three calls answer at once, every step written down first. */
export async function durableLimit(pool: pg.Pool, count: number, concurrency: number): Promise<number> {
  await pool.query('create table if not exists bare_step (renewal int, step int, body text)');
  let waiting: { renewal: number; step: number; resolve: () => void; reject: (e: unknown) => void }[] = [];
  let busy = false;
  const body = 'x'.repeat(500);
  const flush = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await pool.query({
          name: 'bare_step',
          text: 'insert into bare_step select r, s, $3 from unnest($1::int[], $2::int[]) as t(r, s)',
          values: [batch.map((b) => b.renewal), batch.map((b) => b.step), body],
        });
        for (const b of batch) b.resolve();
      } catch (e) {
        for (const b of batch) b.reject(e);
      }
    }
    busy = false;
  };
  const write = (renewal: number, step: number): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ renewal, step, resolve, reject });
      if (!busy) void flush();
    });
  let next = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      for (let step = 0; step < 3; step++) await write(n, step);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return count / ((performance.now() - began) / 1000);
}

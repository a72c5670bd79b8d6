// The upper limit of marks: a bare loop of a mark's three calls to the bench's Stripe. With a database, the loop also
// stores each step before its call, and many steps share a commit.
import type pg from 'pg';
import { Pool } from 'undici';

const INVOICE_BODY = 'payment_record=ID&expand[0]=payments';
// As large as the request body of a real payment report.
const REPORT_BODY = `${'amount_requested[value]=2990&'.padEnd(520, 'x')}&metadata[invoice_id]=ID`;
/** The bytes stored for a step: as large as a stored call. */
const STEP = 'x'.repeat(500);

const AT_ONCE = 64;

/** Returns the renewals per second of the bare loop. `store` null: the loop writes nothing. */
export async function bareMarks(peerUrl: string, store: pg.Pool | null, count: number): Promise<number> {
  const peer = new Pool(peerUrl, { connections: AT_ONCE, pipelining: 1 });
  const write = store === null ? () => Promise.resolve() : await groupWriter(store);
  const call = async (key: string, method: 'GET' | 'POST', path: string, body: string | null): Promise<void> => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': key };
    const reply = await peer.request({ method, path, body, headers: body === null ? {} : form });
    const said = (await reply.body.json()) as { id?: unknown };
    if (reply.statusCode !== 200 || typeof said.id !== 'string') throw new Error('the peer did not answer');
  };
  let next = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) {
      const id = `in_bare${n}`;
      await write(n, 0);
      await call('', 'GET', `/v1/invoices/${id}`, null);
      await write(n, 1);
      await call(`r${n}`, 'POST', '/v1/payment_records/report_payment', REPORT_BODY.replace('ID', id));
      await write(n, 2);
      await call(`a${n}`, 'POST', `/v1/invoices/${id}/attach_payment`, INVOICE_BODY.replace('ID', `pr_${id}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  const perSecond = count / ((performance.now() - began) / 1000);
  await peer.close();
  return perSecond;
}

/** Writes steps. All steps that arrive during a commit share the next commit. */
async function groupWriter(store: pg.Pool): Promise<(renewal: number, step: number) => Promise<void>> {
  await store.query('create table if not exists bare_step (renewal int, step int, body text)');
  let waiting: { renewal: number; step: number; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let busy = false;
  const flush = async (): Promise<void> => {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await store.query({
          name: 'bare_step',
          text: 'insert into bare_step select r, s, $3 from unnest($1::int[], $2::int[]) as t(r, s)',
          values: [batch.map((b) => b.renewal), batch.map((b) => b.step), STEP],
        });
        for (const b of batch) b.resolve();
      } catch (e) {
        for (const b of batch) b.reject(e);
      }
    }
    busy = false;
  };
  return (renewal, step) =>
    new Promise((resolve, reject) => {
      waiting.push({ renewal, step, resolve, reject });
      if (!busy) void flush();
    });
}

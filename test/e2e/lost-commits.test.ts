// A connection cut between COMMIT and its answer: nobody knows whether it counted, and nothing is lost or done twice all the same.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startWorld, type Subscriber, type World } from '../support/world.js';
import { paidOnce, renewAtOnce } from './support/load.js';
import { TcpProxy } from './support/tcp-proxy.js';

const AT_ONCE = 8;

describe('a commit whose answer is lost', () => {
  let world: World;
  let proxy: TcpProxy;
  let subscribers: Subscriber[];

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    proxy = await TcpProxy.before(world.databaseUrl);
    await world.startDaemon({ DATABASE_URL: proxy.url });
    subscribers = await Promise.all(Array.from({ length: 4 }, () => world.subscriber({ amount: 1000 })));
    for (const s of subscribers) await world.invoice(s.firstInvoiceId, 'paid');
  });
  afterAll(async () => {
    await world.close();
    await proxy.close();
  });

  /** The senders come again after a 503; in the end each payment has one record, attached once, and the books no second entry. */
  async function allPaidOnce(invoices: readonly string[], losses: number): Promise<void> {
    await paidOnce(world, invoices, () => proxy.lost >= losses);
    for (const id of invoices) await world.invoice(id, 'paid');
    const db = new pg.Client({ connectionString: world.databaseUrl });
    await db.connect();
    const marked = await db.query('select 1 from ledger_entry where reason = $1 and invoice_id = any($2)', [
      'payment_marked',
      invoices,
    ]);
    const open = await db.query<{ kind: string }>(`select kind from review where status = 'open'`);
    await db.end();
    expect([marked.rowCount, open.rows]).toEqual([invoices.length, []]);
  }

  it('at the doors: the sender is told 503, comes again, and each event is there once', async () => {
    proxy.loseAnswers('store_events', 'SELECT ', 3); // the statement's name: its text travels once a connection
    await allPaidOnce(await renewAtOnce(world, subscribers, AT_ONCE), 3);
    const { body } = await world.control('GET', '/deliveries');
    const statuses = (body['data'] as { status: number | null }[]).flatMap((d) => d.status ?? []); // null: under way
    expect(statuses).toContain(503);
    expect(statuses.filter((s) => s !== 200 && s !== 503)).toEqual([]);
  });

  it('at a decision: it is taken up again as it was written down, and no call has a second effect', async () => {
    proxy.loseAnswers('step_', 'SELECT ', 3); // the statement's name begins so
    await allPaidOnce(await renewAtOnce(world, subscribers, AT_ONCE), 3 + 3);
  });
});

// The unsettled differences of the newest verify run, by invoice and by month, and the renewals nobody tries again.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { newMorObject } from '../../src/shared/domain/mor-object.js';
import { monthOf } from '../../src/core/ledger/rules/month.js';
import { RetriesRepository } from '../../src/features/retries/retries.repository.js';
import { Database } from '../../src/frames/store/database.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { DifferencesRepository } from '../../src/features/verify/differences.repository.js';
import { finding } from '../../src/features/verify/rules/findings.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';
import { never } from '../support/never.js';

let fresh: TestDatabase;
let db: Database;
let repository: DifferencesRepository;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
  repository = new DifferencesRepository(db);
  await db.pool.query(`update installation set began_at = '2020-01-01'`);
}, 60_000);
afterEach(() => db.pool.query('truncate verify_run, difference_ack, invoice, mor_object, open_call cascade'));
afterAll(async () => {
  await db.close();
  await fresh.drop();
});

const month = (name: string) => monthOf(name) ?? never();
const unmarked = (invoiceId: string) =>
  finding.unmarked({ invoiceId }, { taken: { minor: 2990n, currency: 'EUR' }, mark: 'waiting' });

type Run = { readonly since: string; readonly at: string; readonly outcome?: string; readonly more?: object };
async function run(differences: readonly object[], { since, at, outcome = 'differences', more = {} }: Run) {
  await db.pool.query(
    `insert into verify_run (id, since, began_at, started_at, finished_at, outcome, compared, differences, more)
     values (gen_random_uuid(), $1, $2, $2, $2::timestamptz + interval '1 minute', $3, '{}', $4, $5)`,
    [since, at, outcome, JSON.stringify(differences), JSON.stringify(more)],
  );
}
const acknowledge = (id: string) =>
  db.pool.query(`insert into difference_ack (id, kind, note, by, at) values ($1, 'no_verdict', 'seen', 'ada', now())`, [
    id,
  ]);

let entries = 0;
const moved = (invoiceId: string, at: string, refundId: string | null = null) =>
  db.pool.query(
    `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, refund_id, moved_at, recorded_at)
     values ('mor_receivable', 'unmarked_payments', 2990, 'EUR', 'payment_collected', $1, $2, 'pmt_1', $3, $4, $4)`,
    [`s${(entries += 1)}`, invoiceId, refundId, at],
  );
const invoice = (invoiceId: string, at: string, over: object = {}) => {
  const row = { invoice_id: invoiceId, status: 'open', platform_status: 'open', platform_created_at: at, ...over };
  return db.pool.query(
    `insert into invoice (invoice_id, customer_id, status, platform_status, currency, amount_due, amount_remaining, retries, next_try_at,
                          platform_created_at, first_seen_at)
     select invoice_id, 'cus_1', status, platform_status, 'EUR', 2990, 2990, retries, next_try_at, platform_created_at, platform_created_at
       from jsonb_populate_record(null::invoice, $1)`,
    [JSON.stringify(row)],
  );
};

describe('the differences of an invoice', () => {
  it("an invoice shows only its own unacknowledged differences of the newest finished run, with the run's end", async () => {
    const [first, second, other] = [unmarked('in_1'), finding.noVerdict({ invoiceId: 'in_1' }, {}), unmarked('in_2')];
    await run([{ ...unmarked('in_1'), id: 'older' }], { since: '2026-11-01', at: '2026-11-20' });
    await run([first, other, second], { since: '2026-11-01', at: '2026-11-21' });
    await run([], { since: '2026-11-01', at: '2026-11-22', outcome: 'running' });
    const found = await repository.ofInvoice('in_1');
    expect(found.map((d) => d.id)).toEqual([first.id, second.id]);
    expect(found[0]?.foundAt).toEqual(new Date('2026-11-21T00:01:00Z'));
    await acknowledge(first.id);
    expect((await repository.ofInvoice('in_1')).map((d) => d.id)).toEqual([second.id]);
    expect(await repository.ofInvoice('in_3')).toEqual([]);
  });
});

describe('the comparison of a month', () => {
  const count = async (name: string): Promise<number> => (await repository.ofMonth(month(name))).differences;

  it('a difference counts in the months of its ledger entries, else in the month of its invoice', async () => {
    await moved('in_moved', '2026-09-30T23:59:59Z');
    await moved('in_moved', '2026-10-01T00:00:00Z', 'ref_1');
    await invoice('in_moved', '2026-08-15');
    await invoice('in_made', '2026-08-31T12:00:00Z');
    const refund = { ...unmarked('in_moved'), id: 'x', refundId: 'ref_1' };
    await run([unmarked('in_moved'), unmarked('in_made'), refund], { since: '2026-10-05', at: '2026-11-04' });
    expect([await count('2026-08'), await count('2026-09'), await count('2026-10'), await count('2026-11')]).toEqual([
      1, 1, 2, 0,
    ]);
    await acknowledge('x');
    expect(await count('2026-10')).toBe(1);
  });

  it('a difference without a known invoice, and one that the run only counted, count in every month of the run', async () => {
    const unknown = { ...unmarked('in_unknown'), invoiceId: null };
    await run([unknown], { since: '2026-10-05', at: '2026-11-04', more: { no_verdict: 3, with_item: 1 } });
    expect([await count('2026-09'), await count('2026-10'), await count('2026-11'), await count('2026-12')]).toEqual([
      0, 5, 5, 0,
    ]);
  });

  it('a month is compared if complete runs without a gap reach from its first to its last day', async () => {
    const clean = { outcome: 'clean' };
    await run([], { since: '2026-10-01', at: '2026-10-20', ...clean });
    await run([], { since: '2026-10-20', at: '2026-10-31', ...clean });
    await run([], { since: '2026-10-20', at: '2026-11-19', outcome: 'incomplete' });
    expect(await repository.ofMonth(month('2026-10'))).toMatchObject({
      isWhole: true,
      comparedAt: new Date('2026-10-31'),
    });
    await run([], { since: '2026-11-01', at: '2026-11-30', ...clean });
    expect(await repository.ofMonth(month('2026-10'))).toMatchObject({
      isWhole: true,
      comparedAt: new Date('2026-10-31'),
    });
    await run([], { since: '2026-10-31T12:00:00Z', at: '2026-12-02', ...clean });
    expect(await repository.ofMonth(month('2026-10'))).toMatchObject({
      isWhole: false,
      comparedAt: new Date('2026-12-02'),
    });
    expect(await repository.ofMonth(month('2026-11'))).toMatchObject({
      isWhole: true,
      comparedAt: new Date('2026-12-02'),
    });
    expect(await repository.ofMonth(month('2027-03'))).toEqual({ differences: 0, comparedAt: null, isWhole: false });
  });

  it('the month of the installation is compared from the installation on', async () => {
    await db.pool.query(`update installation set began_at = '2026-11-10'`);
    await run([], { since: '2026-11-10', at: '2026-12-01', outcome: 'clean' });
    expect(await repository.ofMonth(month('2026-11'))).toMatchObject({ isWhole: true });
    await db.pool.query(`update installation set began_at = '2020-01-01'`);
    expect(await repository.ofMonth(month('2026-11'))).toMatchObject({ isWhole: false });
  });
});

describe('refused renewals with nothing planned', () => {
  const refusal = { at: '2026-11-20T12:00:00.000Z', outcome: 'failed', kind: 'soft', code: 'insufficient_funds' };
  const trace = (over: object = {}) => ({
    refusal,
    retries: [],
    waitingSince: null,
    askedAt: null,
    ended: null,
    ...over,
  });
  const ended = (how: string) => trace({ ended: { at: refusal.at, how, why: null } });
  const unplanned = async (limit = 10): Promise<string[]> =>
    (await new RetriesRepository(db, new ServerTime()).unplanned(limit)).map((i) => i.invoiceId);
  const paper = async (invoiceId: string, kind: string, status: string, deadline: string | null): Promise<void> => {
    const o = newMorObject(new Date(), { id: `obj_${invoiceId}`, kind: kind as never, invoiceId, status });
    await db.pool.query(
      `insert into mor_object (id, kind, invoice_id, status, deadline, detail, created_at, updated_at)
       values ($1, $2, $3, $4, $5, '{}', now(), now())`,
      [o.id, kind, invoiceId, status, deadline],
    );
  };

  it('a refused renewal without a next step is listed, the newest first, with customer, rest and reason', async () => {
    await invoice('in_old', '2026-11-01', { retries: trace() });
    await invoice('in_new', '2026-11-02', { retries: ended('nothing') });
    expect(await unplanned()).toEqual(['in_new', 'in_old']);
    expect(await unplanned(1)).toEqual(['in_new']);
    const [first] = await new RetriesRepository(db, new ServerTime()).unplanned(1);
    expect(first).toMatchObject({ customerId: 'cus_1', minor: 2990n, currency: 'EUR', refusal });
  });

  it('a refused renewal with a next step, and an invoice that owes nothing, are not listed', async () => {
    const at = '2026-11-01';
    await invoice('in_planned', at, { retries: trace(), next_try_at: '2099-01-01' });
    await invoice('in_waiting', at, { retries: trace({ waitingSince: refusal.at }) });
    await invoice('in_cancelled', at, { retries: ended('cancel') });
    await invoice('in_written_off', at, { retries: ended('uncollectible'), platform_status: 'uncollectible' });
    await invoice('in_paid', at, { retries: trace(), status: 'paid', platform_status: 'paid' });
    await invoice('in_void', at, { retries: trace(), status: 'void', platform_status: 'void' });
    await invoice('in_silent', at);
    expect(await unplanned()).toEqual([]);
  });

  it('a payable link, an open proforma invoice and a waiting retry are next steps; an expired link is none', async () => {
    for (const id of ['in_link', 'in_expired', 'in_late', 'in_proforma', 'in_dead', 'in_call'])
      await invoice(id, '2026-11-01', { retries: trace() });
    await paper('in_link', 'payment_link', 'PAYABLE', '2099-01-01');
    await paper('in_expired', 'payment_link', 'EXPIRED', '2099-01-01');
    await paper('in_late', 'payment_link', 'PAYABLE', '2020-01-01');
    await paper('in_proforma', 'proforma', 'ISSUED', '2020-01-01');
    await paper('in_dead', 'proforma', 'CANCELLED', null);
    await db.pool.query(
      `insert into open_call (id, lane, kind, subject, status, attempts, next_try_at, created_at)
       values ('c1', 'in_call', 'retry_charge', 's', 'pending', 0, now(), now())`,
    );
    expect((await unplanned()).sort()).toEqual(['in_dead', 'in_expired', 'in_late']);
  });
});

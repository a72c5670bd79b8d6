// Signups, remembered requests and the audit in a real PostgreSQL.
import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { type SignupRow } from '../../src/shared/domain/signup.js';
import { TaxClient } from '../../src/shared/domain/ports/tax.js';
import { LaneChanges } from '../../src/engine/lane-changes.js';
import { RefundsService } from '../../src/core/refunds/refunds.service.js';
import { SignupService } from '../../src/core/signups/signup.service.js';
import { SignupPrice, type SignupRequest } from '../../src/core/signups/signup-price.js';
import { TaxTotalsRepository } from '../../src/core/signups/tax-totals.repository.js';
import { LaneSignal } from '../../src/engine/lane-signal.js';
import { PgAuditLog } from '../../src/frames/store/audit-log.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { ReadModel } from '../../src/engine/read-model.js';
import { Requests } from '../../src/frames/store/requests.js';
import { SignupsRepository } from '../../src/core/signups/signups.repository.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID } from '../support/builders/events.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

/** Calculates nothing. */
class NoTax extends TaxClient {
  calculate = (): never => this.refuse();
  commit = (): never => this.refuse();
  refund = (): never => this.refuse();

  private refuse(): never {
    throw new Error('no tax is asked for here');
  }
}

let x: LaneOnPostgres;
let signups: SignupsRepository;
let refunds: RefundsService;
let refundsOfAnotherReplica: RefundsService;
let service: SignupService;
laneForEach((opened) => {
  x = opened;
  const { clock, ids, repository, context, gateway } = x.harness;
  const books = new ReadModel(x.db);
  signups = new SignupsRepository(x.db, clock);
  const lanes = new LaneChanges(repository, context, new LaneSignal());
  refunds = new RefundsService(lanes, books);
  const theirs = new LaneChanges(
    new PgLaneRepository(x.db, clock, { parsed: parsedEvents() }),
    context,
    new LaneSignal(),
  );
  refundsOfAnotherReplica = new RefundsService(theirs, books);
  const price = new SignupPrice(x.harness.platform, new NoTax(), new TaxTotalsRepository(x.db, clock));
  service = new SignupService(signups, books, gateway, lanes, clock, ids, new Requests(x.db, clock), price);
});

/** Runs `then` once, between the answer to the next look at a request's name and the asker's next step. */
function afterTheNameWasLookedUp(pool: pg.Pool, then: () => Promise<void>): void {
  let waiting = true;
  pool.on('acquire', (client) => {
    if (!waiting) return;
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const heard = async (...args: unknown[]): Promise<unknown> => {
      const reply = await query(...args);
      if (waiting && typeof args[0] === 'string' && args[0].includes('from api_request')) {
        waiting = false;
        await then();
      }
      return reply;
    };
    Object.assign(client, { query: heard });
  });
}

const name = (key: string) => ({ apiKey: 'shop', method: 'POST', path: '/v1/signups', idempotencyKey: key });
const sha = (count: number): Buffer => Buffer.alloc(32, count);
const ASKED: SignupRequest = {
  kind: 'payment',
  customerId: 'cus_oak',
  amount: 1000n,
  currency: 'EUR',
  invoiceId: null,
  call: { kind: 'create_payment_intent', customer: { id: 'cus_oak' }, description: null },
  taxCalculationId: null,
  calculation: null,
  by: 'shop',
};

it('Crossbill stores an idempotency key with the id of the new signup, and recognises another body under the key', async () => {
  const requests = new Requests(x.db, x.harness.clock);
  expect(await requests.recall(name('k'), sha(1))).toEqual({ known: false });
  expect(await requests.remember(name('k'), sha(1), 'sup_1')).toEqual({ known: false });
  expect(await requests.remember(name('k'), sha(1), 'sup_2')).toEqual({
    known: true,
    sameBody: true,
    objectId: 'sup_1',
  });
  expect(await requests.recall(name('k'), sha(2))).toEqual({ known: true, sameBody: false, objectId: 'sup_1' });
  for (const other of [{ apiKey: 'b' }, { method: 'PUT' }, { path: '/v1/x' }, { idempotencyKey: 'K' }])
    expect(await requests.recall({ ...name('k'), ...other }, sha(1))).toEqual({ known: false });
});

it('two equal signup requests at the same time make one signup and one intent at the MoR', async () => {
  x.harness.clock.selfMoving = true;
  const both = await Promise.all([1, 2].map(() => service.create(ASKED, name('k'), '{"a":1}')));
  const made = both.flatMap((m) => (m.outcome === 'made' ? [m] : []));
  expect(made).toHaveLength(2);
  expect(made[0]?.signup.id).toBe(made[1]?.signup.id);
  expect(made[0]?.intent).toEqual(made[1]?.intent);
  expect(new Set(x.harness.gateway.asked).size).toBe(1);
  expect((await x.db.pool.query('select 1 from signup')).rowCount).toBe(1);
  expect((await service.create(ASKED, name('k'), '{"a":2}')).outcome).toBe('conflict');
  expect((await service.create(ASKED, null, '{"a":1}')).outcome).toBe('made');
  expect((await x.db.pool.query('select 1 from signup')).rowCount).toBe(2);
});

it('two equal refund requests at the same time make one refund at the MoR', async () => {
  const { harness } = x;
  harness.platform.put(anInvoice());
  harness.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await harness.take(aPaymentSucceeded());
  const ask = (count: number) =>
    refunds.request(
      'pay_oak',
      { amount: 700n, reason: null, metadata: null, by: 'ops' },
      { ...name('r'), bodySha256: sha(count) },
    );
  const both = await Promise.all([ask(1), ask(1)]);
  const ids = both.map((r) => (r.ok ? r.value.id : r.code));
  expect(ids[0]).toBe(ids[1]);
  expect(await ask(2)).toMatchObject({ ok: false, code: 'idempotency_conflict' });
  await harness.idle();
  expect(harness.gateway.made.map((m) => m.amountMinor)).toEqual([700n]);
  expect((await harness.state(INVOICE_ID)).refunds).toHaveLength(1);
  // Without a common name the lock of the lane keeps the sum within the payment.
  const more = await Promise.all(
    [1, 2].map((n) =>
      refunds.request(
        'pay_oak',
        { amount: 200n, reason: null, metadata: null, by: 'ops' },
        { ...name(`o${n}`), bodySha256: sha(1) },
      ),
    ),
  );
  expect(more.filter((r) => r.ok)).toHaveLength(1);
});

it('a refund request finds the refund another replica stored under the same key a moment before', async () => {
  const { harness } = x;
  harness.platform.put(anInvoice());
  harness.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await harness.take(aPaymentSucceeded());
  const request = { amount: 300n, reason: null, metadata: null, by: 'ops' };
  const named = { ...name('r'), bodySha256: sha(1) };
  let other: Awaited<ReturnType<typeof refunds.request>> | null = null;
  afterTheNameWasLookedUp(x.db.pool, async () => {
    other = await refundsOfAnotherReplica.request('pay_oak', request, named);
  });
  const mine = await refunds.request('pay_oak', request, named);
  expect(other).toMatchObject({ ok: true });
  expect(mine).toEqual(other);
  await harness.idle();
  expect(harness.gateway.made.map((m) => m.amountMinor)).toEqual([300n]);
  expect((await harness.state(INVOICE_ID)).refunds).toHaveLength(1);
});

it('a repeated refund request returns the first refund after the MoR gave the payment another id', async () => {
  const { harness } = x;
  harness.platform.put(anInvoice());
  harness.gateway.charges.add('ch_1');
  harness.gateway.payments.set('pay_ours', { minor: 1000n, currency: 'EUR', refunded: 0n });
  const made = await service.create(ASKED, null, '{}');
  if (made.outcome !== 'made') throw new Error(made.outcome);
  const completion = { chargeId: 'ch_1', invoiceId: INVOICE_ID, amount: 1000n, currency: 'EUR', paymentId: 'pay_ours' };
  await service.complete(made.signup.id, completion);
  await harness.idle(1);
  const [payment] = (await harness.state(INVOICE_ID)).payments;
  const request = { amount: 300n, reason: null, metadata: null, by: 'ops' };
  const ask = () => refunds.request(payment?.id ?? '', request, { ...name('r'), bodySha256: sha(1) });
  const first = await ask();
  await harness.idle(1);
  harness.gateway.payments.set('pay_theirs', { minor: 1000n, currency: 'EUR', refunded: 300n });
  await harness.take(aPaymentSucceeded({ paymentId: 'pay_theirs', chargeId: 'ch_1' }));
  expect((await harness.state(INVOICE_ID)).payments).toMatchObject([{ paymentId: 'pay_theirs' }]);
  const again = await ask();
  await harness.idle(1);
  expect(again).toMatchObject({ ok: true, value: { id: first.ok ? first.value.id : '' } });
  expect(harness.gateway.made.map((m) => m.amountMinor)).toEqual([300n]);
});

async function made(): Promise<SignupRow> {
  const one = await service.create(ASKED, null, '{}');
  if (one.outcome !== 'made') throw new Error(one.outcome);
  return one.signup;
}
const result = { chargeId: 'ch_1', invoiceId: INVOICE_ID, amount: 1000n, currency: 'EUR' };

it("a signup stores the customer's MoR id, and no client secret", async () => {
  const s = await made();
  const links = await x.db.pool.query('select customer_id, mor_customer_id from customer_link');
  expect(links.rows).toEqual([{ customer_id: 'cus_oak', mor_customer_id: s.morCustomerId }]);
  const text = await x.db.pool.query<{ all: string }>("select string_agg(signup::text, '') as all from signup");
  expect(text.rows[0]?.all).not.toContain('secret');
});

it('Crossbill refuses a second charge for a completed signup, and refuses a used charge for another signup or invoice', async () => {
  const s = await made();
  const other = await made();
  for (let n = 0; n < 2; n++) expect(await service.complete(s.id, result)).toMatchObject({ ok: true });
  const codes = [
    await service.complete(s.id, { ...result, chargeId: 'ch_2' }),
    await service.complete(other.id, { ...result, invoiceId: 'in_elm' }),
    await service.complete(other.id, result),
    await service.complete('sup_none', result),
  ].map((r) => (r.ok ? 'ok' : r.code));
  expect(codes).toEqual(['signup_already_completed', 'charge_already_used', 'charge_already_used', 'not_found']);
  expect((await x.harness.state(INVOICE_ID)).payments).toHaveLength(1);
});

it('if two simultaneous requests complete a signup with different charges, the signup keeps one of the charges', async () => {
  const s = await made();
  const both = ['ch_1', 'ch_2'].map((chargeId, n) =>
    service.complete(s.id, { ...result, chargeId, invoiceId: `in_${n}` }),
  );
  await Promise.race(both);
  let through = false;
  const done = Promise.all(both).finally(() => (through = true));
  while (!through) {
    x.harness.clock.advance(50); // a waiter for the turn looks again
    await new Promise((resolve) => setImmediate(resolve));
  }
  const codes = (await done).map((r) => (r.ok ? 'ok' : r.code));
  expect(codes.sort()).toEqual(['ok', 'signup_already_completed']);
  expect((await x.db.pool.query('select 1 from payment')).rowCount).toBe(1);
});

it('Crossbill opens one review item for an uncompleted signup and closes it at the completion', async () => {
  const s = await made();
  x.harness.clock.advance(20 * 3_600_000);
  expect(await signups.tellOverdue(18 * 3_600_000)).toBe(1);
  expect(await signups.tellOverdue(18 * 3_600_000)).toBe(0);
  await x.harness.drain();
  expect((await x.db.pool.query('select status from review')).rows).toEqual([{ status: 'open' }]);
  await service.complete(s.id, result);
  await x.harness.drain();
  const items = await x.db.pool.query('select kind, status, resolution from review');
  expect(items.rows).toEqual([{ kind: 'signup_overdue', status: 'resolved', resolution: 'cleared' }]);
});

it('of several equal signup requests, only one calls the MoR; if its process dies, another request calls the MoR 15 seconds later', async () => {
  const s = await made();
  const { clock } = x.harness;
  expect(await signups.claim(s.id, 15_000)).toBe(true);
  expect(await signups.claim(s.id, 15_000)).toBe(false);
  clock.advance(15_000);
  expect(await signups.claim(s.id, 15_000)).toBe(true);
  // Taken while the server's clock was a day ahead, by a process killed then.
  expect(await signups.claim(s.id, 15_000)).toBe(false);
  await x.db.pool.query('update signup set busy_until = $1', [new Date(clock.now().getTime() + 86_400_000)]);
  expect(await signups.claim(s.id, 15_000)).toBe(true);
});

it('the audit trail stores author, action, time, address and outcome', async () => {
  const log = new PgAuditLog(x.db, x.harness.clock);
  const entry = {
    actor: 'ops',
    role: 'ops',
    action: 'refund.create',
    target: 'pay_1',
    source: '::1',
    outcome: 'refused',
  };
  await log.write({ ...entry, status: 403, detail: { amount: '700' } });
  const { rows } = await x.db.pool.query('select * from audit');
  expect(rows).toEqual([{ id: '1', at: x.harness.clock.now(), ...entry, status: 403, detail: { amount: '700' } }]);
});

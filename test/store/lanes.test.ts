// Lanes, steps in one commit and a call longer than its lease, in a real PostgreSQL.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { getMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { StoreUnavailable } from '../../src/shared/domain/errors.js';
import { type InvoiceRow } from '../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../src/shared/domain/model.js';
import { type PaymentRow } from '../../src/shared/domain/payment-row.js';
import { type EffectCheck } from '../../src/shared/domain/ports/billing-platform.js';
import { type CallOutcome } from '../../src/shared/domain/ports/call.js';
import { addAttempt, putPayment, putInvoice } from '../support/builders/put-rows.js';
import { readLane } from '../../src/engine/lane-reader.js';
import { type Claim, type LaneWork, NotUnique } from '../../src/engine/lane.repository.js';
import { LaneWorker } from '../../src/engine/lane-worker.js';
import { newPayment } from '../../src/core/books/rules/payment-rows.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { LaneSignal } from '../../src/engine/lane-signal.js';
import { WorkLaneService } from '../../src/engine/work-lane.service.js';
import { paymentCollected } from '../../src/shared/domain/postings.js';
import { INVOICE_ID, aPaymentSucceeded, anInvoice, invoiceEvent } from '../support/builders/events.js';
import { failed } from '../support/fakes/fake-platform.js';
import { FACTS, aKind } from '../support/builders/item-facts.js';
import { balances, openKinds } from '../support/rigs/lane-harness.js';
import { type LaneOnPostgres, laneForEach, laneOnPostgres } from '../support/rigs/lane-on-postgres.js';
import { NoChannels } from '../support/fakes/no-channels.js';
import { note, openReview, ensureInvoice } from '../support/rigs/decide.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

// Lanes in a real PostgreSQL: one worker at a time, nothing lost to a dead one, nothing written by a late one, all of it exact.
describe('Lanes', () => {
  let x: LaneOnPostgres;
  beforeEach(async () => {
    x = await laneOnPostgres();
  });
  afterEach(() => x.close());

  function write(lane: string, fence: bigint | null, change: (state: LaneState) => LaneState): LaneWork<null> {
    return { lane, fence, decide: ({ state }) => ({ state: change(state), outcomes: [], dueAt: null, value: null }) };
  }

  const at = new Date('2026-11-20T12:34:56.789Z');
  const ctx = () => ({ ...x.harness.context.now(), now: at });
  const HUGE = 9_223_372_036_854_775_807n; // far beyond 2^53

  async function stored(change: (state: LaneState) => LaneState): Promise<LaneState> {
    await x.harness.repository.transact(write(INVOICE_ID, null, change));
    return x.harness.state(INVOICE_ID);
  }

  it('the database returns a stored invoice and payment exactly: huge amounts, milliseconds and any writing system', async () => {
    let invoice: InvoiceRow | null = null;
    let payment: PaymentRow | null = null;
    const s = await stored((empty) => {
      const made = ensureInvoice(empty, ctx());
      invoice = { ...made.invoice, currency: 'KWD', amountDue: HUGE, total: -HUGE, amountPaid: 0n, finalizesAt: at };
      payment = newPayment(ctx(), {
        invoiceId: INVOICE_ID,
        customerId: `cus_'"\\ äß漢字🌳`,
        currency: 'KWD',
        amount: HUGE,
        amountRefunded: HUGE - 1n,
        succeededAt: at,
        waived: ['amount_mismatch', 'customer_mismatch'],
      });
      const withEntry = { ...empty, entries: [paymentCollected(payment, HUGE, at, null)] };
      return note(putPayment(putInvoice(withEntry, invoice), payment), ctx(), 'call', 'read', null, {
        n: 1,
        none: null,
      });
    });
    expect(s.invoice).toEqual(invoice);
    expect(s.payments).toEqual([payment]);
    expect(s.entries[0]?.amount).toEqual({ minor: HUGE, currency: 'KWD' });
    const { story } = await readLane(x.db.pool, INVOICE_ID);
    expect(story.journal).toMatchObject([{ at, detail: { n: 1, none: null } }]);
  });

  it('a running daemon still reads its rows after a newer release added columns to the tables', async () => {
    const { harness, db } = x;
    const decide = () => harness.repository.transact(write(INVOICE_ID, null, (s) => ensureInvoice(s, ctx()).state));
    const onEveryConnection = () => Promise.all(Array.from({ length: 12 }, decide));
    await onEveryConnection();
    const tables = ['invoice', 'payment', 'refund', 'mor_object', 'review', 'open_call', 'lane'];
    for (const table of [...tables, 'inbox_event', 'lane_log', 'ledger_entry'])
      await db.pool.query(`alter table ${table} add column of_a_later_release text`);
    await onEveryConnection();
    expect((await harness.state(INVOICE_ID)).invoice?.invoiceId).toBe(INVOICE_ID);
  });

  it('the database stores a failed payment attempt right even if the same connection wrote a successful payment before', async () => {
    const payment = newPayment(ctx(), { invoiceId: INVOICE_ID, customerId: 'cus_1', currency: 'EUR', amount: 1n });
    await stored((s) => note(putPayment(ensureInvoice(s, ctx()).state, payment), ctx(), 'decision', 'made', null));
    const again = { ...payment, customerId: 'cus_2' };
    await stored((s) => note(putPayment(s, again), ctx(), 'decision', 'a payment', null));
    const attempt = {
      eventId: 'evt_late',
      invoiceId: INVOICE_ID,
      paymentId: 'pay_1',
      outcome: 'failed' as const,
      amount: 1n,
      currency: 'EUR',
      failureMessage: null,
      declineCode: null,
      processorPaymentIntentId: null,
      at,
    };
    await stored((s) => note(addAttempt(s, attempt), ctx(), 'decision', 'an attempt', null));
    expect((await readLane(x.db.pool, INVOICE_ID)).story.attempts).toEqual([attempt]);
  });

  it('Crossbill stores no row of a decision if the database refuses any of its rows', async () => {
    const bad = (lane: LaneState): LaneState => {
      const { state, invoice } = ensureInvoice(lane, ctx());
      return putInvoice(openReview(state, ctx(), { kind: 'dispute', subject: 's', fact: FACTS.dispute }), {
        ...invoice,
        currency: 'TOOLONG',
      });
    };
    await expect(stored(bad)).rejects.toThrow();
    const { rows } = await x.db.pool.query('select 1 from review union all select 1 from lane');
    expect(rows).toEqual([]);
  });

  it('the database refuses the same payment on a second invoice, and Crossbill finds the first invoice', async () => {
    const one = (lane: string) => (s: LaneState) => {
      const { state } = ensureInvoice(s, ctx());
      return putPayment(
        state,
        newPayment(x.harness.context.now(), { invoiceId: lane, customerId: 'c', currency: 'EUR', paymentId: 'pay_1' }),
      );
    };
    const { repository, backend } = x.harness;
    await repository.transact(write('in_a', null, one('in_a')));
    await expect(repository.transact(write('in_b', null, one('in_b')))).rejects.toBeInstanceOf(NotUnique);
    expect(await backend.books.payments.namedElsewhere(['pay_1', 'pay_2'], 'in_b')).toEqual(
      new Map([['pay_1', 'in_a']]),
    );
    expect(await backend.books.payments.namedElsewhere(['pay_1'], 'in_a')).toEqual(new Map());
  });

  it('Crossbill replaces characters PostgreSQL cannot store and keeps the rest of the text', async () => {
    const said = 'a\0b \ud83d c\udc4d \\u0000 \\\\ud83d 👍 \u0001\0\0';
    const kept = 'a\ufffdb \ufffd c\ufffd \\u0000 \\\\ud83d 👍 \u0001\ufffd\ufffd';
    const now = x.harness.context.now();
    const item = { kind: 'dispute', subject: 'dp_1', fact: { ...FACTS.dispute, outcome: said } } as const;
    await x.harness.repository.transact(
      write('in_0', null, (s) => note(openReview(s, now, item), now, 'call', 'told', null, { why: [said] } as never)),
    );
    const reviews = await x.db.pool.query("select fact->>'outcome' as outcome from review");
    expect(reviews.rows).toEqual([{ outcome: kept }]);
    const { story } = await readLane(x.db.pool, 'in_0');
    expect(story.journal.find((line) => line.text === 'told')?.detail).toEqual({ why: [kept] });
  });

  it('a connection pool drops a connection after its server became a read-only standby, and opens a new connection', async () => {
    const { pool } = x.db;
    const claim = () => x.harness.repository.claim('w', 1, 25_000);
    await claim();
    await pool.query('set default_transaction_read_only = on'); // on the one idle connection
    await expect(claim()).rejects.toMatchObject({ code: '25006' });
    expect(await claim()).toEqual([]);
  });

  const ABOUT = { invoiceId: 'in_0', subject: 'x' };
  const say = (kind: 'dispute' | 'effect_failed') => (s: LaneState) =>
    openReview(s, x.harness.context.now(), { ...aKind(kind), ...ABOUT });
  const kinds = (state: LaneState): readonly string[] => state.reviews.map((r) => r.kind);

  it("a worker keeps an invoice's state in memory between two writes, and still sees another replica's write", async () => {
    await x.inbox.store([aPaymentSucceeded({ invoiceId: 'in_0' })]);
    const { repository, clock } = x.harness;
    const [claim] = await repository.claim('w', 1, 25_000);
    const seen: (readonly string[])[] = [];
    const step = (change: (state: LaneState) => LaneState): Promise<null> =>
      repository.transact(
        write('in_0', claim?.fence ?? 0n, (s) => {
          seen.push(kinds(s));
          return change(s);
        }),
      );
    await step(say('dispute'));
    await step((s) => s);
    const elsewhere = new PgLaneRepository(x.db, clock, { parsed: parsedEvents() }); // a person's command, by way of another replica
    await elsewhere.transact(write('in_0', null, say('effect_failed')));
    await step((s) => note(s, x.harness.context.now(), 'decision', 'decided again on what is there now'));
    expect(seen).toEqual([[], ['dispute'], ['dispute'], ['dispute', 'effect_failed']]);
    expect(kinds(await x.harness.state('in_0'))).toEqual(['dispute', 'effect_failed']);
  });

  it('a worker forgets a change that the database refused', async () => {
    await x.inbox.store([aPaymentSucceeded({ invoiceId: 'in_0' })]);
    const { repository } = x.harness;
    const [claim] = await repository.claim('w', 1, 25_000);
    const step = (change: (state: LaneState) => LaneState): Promise<null> =>
      repository.transact(write('in_0', claim?.fence ?? 0n, change));
    await step((s) => s);
    const nothing = newPayment(x.harness.context.now(), { invoiceId: 'in_0', customerId: 'c', currency: 'EUR' });
    const refused = (state: LaneState): LaneState => ({
      ...say('dispute')(state),
      entries: [paymentCollected(nothing, 0n, x.harness.clock.now(), null)],
    });
    await expect(step(refused)).rejects.toThrow('ledger_entry_amount_check');
    let after: LaneState | null = null;
    await step((s) => (after = s));
    expect(after).toMatchObject({ reviews: [], journal: [] });
  });

  it('a payment event for a second invoice changes nothing there and opens a review item', async () => {
    const { harness } = x;
    harness.platform.put(anInvoice());
    harness.platform.put(anInvoice({ invoiceId: 'in_elm' }));
    await harness.take(aPaymentSucceeded());
    await harness.take(
      aPaymentSucceeded({ invoiceId: 'in_elm', eventId: 'evt_2' }),
      invoiceEvent('invoice.finalized', { invoiceId: 'in_elm' }),
    );
    const elm = await harness.state('in_elm');
    expect(elm.payments).toEqual([]);
    expect(elm.reviews.map((r) => r.kind)).toEqual(['conflicting_event']);
    expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
    const { rows } = await x.db.pool.query('select distinct status from inbox_event');
    expect(rows).toEqual([{ status: 'done' }]);
  });

  it("Crossbill reports and attaches a renewal's payment on Stripe once, wherever a worker crashes", async () => {
    for (let k = 1; k <= 4; k++) {
      await x.close();
      x = await laneOnPostgres();
      const { harness } = x;
      harness.platform.put(anInvoice());
      harness.repository.dieBefore = k;
      await harness.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
      await harness.idle();
      expect(harness.crashes).toBe(k <= 3 ? 1 : 0);
      expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
      const s = await harness.state(INVOICE_ID);
      expect(balances(s)).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
      const { rows } = await x.db.pool.query('select 1 from lane where lease_until is not null');
      expect(rows).toEqual([]);
    }
  });
});

// Steps gathering for one commit, in a real PostgreSQL: who shares it, and who does not wait.
describe('Steps in one commit', () => {
  /** So long: no step of a test leaves by its patience. */
  const NEVER_MS = 600_000;

  let x: LaneOnPostgres;
  let repository: PgLaneRepository;
  laneForEach((opened) => {
    x = opened;
    repository = new PgLaneRepository(x.db, x.harness.clock, { gatherMs: NEVER_MS, parsed: parsedEvents() });
  });

  function step(lane: string, fence: bigint | null): LaneWork<null> {
    const ctx = x.harness.context.now();
    return {
      lane,
      fence,
      decide: ({ state }) => ({ state: note(state, ctx, 'decision', 'told'), outcomes: [], dueAt: null, value: null }),
    };
  }

  async function claimed(count: number): Promise<(index: number) => LaneWork<null>> {
    await x.inbox.store(
      Array.from({ length: count }, (_, i) => aPaymentSucceeded({ invoiceId: `in_${i}`, paymentId: `pay_${i}` })),
    );
    const claims = await repository.claim('w', count, 25_000);
    expect(claims).toHaveLength(count);
    return (i) => {
      const claim = claims.find((c) => c.lane === `in_${i}`);
      return step(`in_${i}`, claim?.fence ?? 0n);
    };
  }

  /** The lanes of each transaction. */
  async function commits(): Promise<readonly (readonly string[])[]> {
    const { rows } = await x.db.pool.query<{ lanes: string[] }>(
      'select array_agg(lane order by lane) as lanes from lane_log group by xmin::text order by min(version), min(lane)',
    );
    return rows.map((r) => r.lanes);
  }

  it('a worker with nine invoices waits until three of them are decided, and writes these three decisions in one commit', async () => {
    const of = await claimed(9);
    const writing = [repository.transact(of(0)), repository.transact(of(1))];
    await setImmediate();
    expect(await commits()).toEqual([]);
    writing.push(repository.transact(of(2)));
    await Promise.all(writing);
    expect(await commits()).toEqual([['in_0', 'in_1', 'in_2']]);
  });

  it('a worker with nine invoices commits a decision about one invoice after a short wait for other decisions', async () => {
    repository = new PgLaneRepository(x.db, x.harness.clock, { gatherMs: 1, parsed: parsedEvents() });
    const of = await claimed(9);
    await repository.transact(of(0));
    expect(await commits()).toEqual([['in_0']]);
  });

  it("a worker commits an invoice's decision without a wait, together with a person's command about another invoice", async () => {
    const of = await claimed(9);
    await Promise.all([repository.transact(of(0)), repository.transact(step('in_elm', null))]);
    expect(await commits()).toEqual([['in_0', 'in_elm']]);
  });

  it("a worker with at most three invoices commits each invoice's decision without a wait", async () => {
    const of = await claimed(3);
    await repository.transact(of(0));
    expect(await commits()).toEqual([['in_0']]);
  });
});

// A call longer than a lease, such as a search through thousands of payment records: the lane stays with its caller.
describe('A call longer than its lease', () => {
  const LEASE_MS = 25_000;

  let x: LaneOnPostgres;
  let ended = false;
  beforeEach(async () => {
    ended = false;
    x = await laneOnPostgres();
  });
  afterEach(() => {
    ended = true;
    return x.close();
  });

  function workerOf(flow: Pick<WorkLaneService, 'run'>, concurrency: number): LaneWorker {
    const { repository, clock } = x.harness;
    const options = { owner: 'one', concurrency, leaseMs: LEASE_MS, pollMs: 60_000 };
    return new LaneWorker(repository, flow as WorkLaneService, new LaneSignal(), clock, options);
  }

  /** Waits for a fact; a test without its fact fails by its own limit of time, and the worker's loop ends with it. */
  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds()) && !ended) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  it("a worker sends a call only once even if the call takes longer than the worker's lease, and stores the result", async () => {
    const { harness, db } = x;
    const { clock, context, gateway, platform, relay, repository } = harness;
    platform.put(anInvoice());
    platform.payAnotherWay(INVOICE_ID);
    let checks = 0;
    let reply: (outcome: CallOutcome<EffectCheck>) => void = () => undefined;
    platform.check = () => {
      checks++;
      return new Promise((resolve) => (reply = resolve));
    };
    const service = new WorkLaneService(
      repository,
      platform,
      gateway,
      relay,
      context,
      { expected: null },
      new NoChannels(),
    );
    await harness.deliver(aPaymentSucceeded());
    const worker = workerOf(service, 4);
    worker.start();
    await until(() => checks > 0);

    const leaseUntil = async (): Promise<number> => {
      const found = await db.pool.query<{ lease_until: Date | null }>('select lease_until from lane');
      return found.rows[0]?.lease_until?.getTime() ?? 0;
    };
    const elsewhere = new PgLaneRepository(db, clock, { parsed: parsedEvents() });
    for (let passed = 0; passed < 60_000; passed += 7_500) {
      const before = await leaseUntil();
      clock.advance(7_500);
      await until(async () => (await leaseUntil()) !== before);
      expect(await elsewhere.claim('two', 5, LEASE_MS)).toEqual([]);
    }
    reply(failed('unknown', { code: 'list_too_long', message: 'too many' }));
    await until(async () => (await leaseUntil()) === 0);
    clock.advance(60_000); // a renewal still to come takes nothing back
    await worker.stop();

    expect(checks).toBe(1);
    expect(await leaseUntil()).toBe(0);
    expect(openKinds(await harness.state(INVOICE_ID))).toEqual(['double_payment']);
  }, 60_000);

  it('a worker with forty invoices causes no Node warning about too many listeners during a database outage', async () => {
    const signals: AbortSignal[] = [];
    const run = async (_claim: Claim, signal: AbortSignal): Promise<never> => {
      signals.push(signal);
      throw new StoreUnavailable('the database is away');
    };
    await x.harness.deliver(aPaymentSucceeded());
    const worker = workerOf({ run }, 40);
    worker.start();
    await until(() => signals.length > 0);
    await worker.stop();
    const [stopping] = signals;
    expect(stopping === undefined ? null : getMaxListeners(stopping)).toBeGreaterThan(40);
  });
});

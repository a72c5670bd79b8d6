// The inbox, a repeated batch and bodies by the month, in a real PostgreSQL.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Delivery } from '../../src/shared/domain/ports/inbox.js';
import { ERASED_PARTS } from '../../src/core/lanes/erased-parts.js';
import { Erasure } from '../../src/engine/erasure.js';
import { type EventFilter, type EventRow, eventById } from '../../src/core/events/event-list.repository.js';
import { EventsRepository } from '../../src/core/events/events.repository.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { type Database } from '../../src/frames/store/database.js';
import { BodyMonths } from '../../src/frames/store/event-bodies.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import {
  CUSTOMER_ID,
  INVOICE_ID,
  aPaymentFailed,
  aPaymentSucceeded,
  anInvoice,
  delivery,
  invoiceEvent,
} from '../support/builders/events.js';
import { databaseForEach } from '../support/rigs/use-database.js';
import { type LaneOnPostgres, laneForEach, laneOnPostgres } from '../support/rigs/lane-on-postgres.js';
import { reported } from '../support/builders/reported.js';

// The inbox in a real PostgreSQL: stored once, kept byte for byte, listed with the quarantine, retried and parked.
describe('The inbox', () => {
  let x: LaneOnPostgres;
  let repository: EventsRepository;
  laneForEach((opened) => {
    x = opened;
    repository = new EventsRepository(x.db, x.harness.clock);
  });

  const an = (id: string, over: Partial<Delivery> = {}, body: object = { id }): Delivery =>
    delivery('mor_payments', id, 'payment.x', `in_${id}`, body, over);

  async function rows(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await x.db.pool.query<Record<string, unknown>>(sql, values)).rows;
  }

  async function everything(limit: number, filter: EventFilter = {}): Promise<EventRow[]> {
    const seen: EventRow[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 50; page++) {
      const got = await repository.list(filter, { limit, cursor });
      seen.push(...got.data);
      cursor = got.nextCursor;
      if (cursor === null) return seen;
    }
    throw new Error('the pages do not end');
  }

  it('the inbox returns a result for each delivery of a batch in order, duplicates included', async () => {
    const two = an('b', {}, { id: 'b', other: 1 });
    const got = await x.inbox.store([an('a'), an('b'), an('a'), two, an('c')]);
    expect(got).toEqual(['stored', 'stored', 'duplicate', 'conflict', 'stored']);
    expect(await x.inbox.store([an('c'), an('d')])).toEqual(['duplicate', 'stored']);
    expect(await rows(`select event_id from inbox_event where source <> 'crossbill'`)).toHaveLength(4);
  });

  it('the inbox stores events of two senders under the same id', async () => {
    expect(await x.inbox.store([an('a'), { ...an('a'), source: 'stripe' }])).toEqual(['stored', 'stored']);
  });

  it('the inbox keeps the exact bytes of a delivery', async () => {
    const bodies = [Buffer.from([0, 255, 10, 13, 0]), Buffer.alloc(0), Buffer.from('{"ä":"\\u0000 \r\n"}')];
    await x.inbox.store(
      bodies.map((body, n) => ({ ...an(`raw${n}`), body, status: 'parked' as const, reason: 'no JSON' })),
    );
    const kept = await rows(
      `select body, sha256(body) = body_sha256 as same, decided_at from inbox_event join event_body b on b.event_id = id order by id`,
    );
    expect(kept.map((r) => Buffer.compare(r['body'] as Buffer, bodies[kept.indexOf(r)] ?? Buffer.from('x')))).toEqual([
      0, 0, 0,
    ]);
    expect(kept.every((r) => r['same'] === true && r['decided_at'] !== null)).toBe(true);
  });

  it("the inbox stores event ids in any writing system, and stamps arrivals with the database's time", async () => {
    const wrong = ['2026-11-20T12:04:00Z', '1999-12-31T23:59:59.999Z', '2261-01-01T00:00:00.000Z'].map(
      (t) => new Date(t),
    );
    const ids = ['日本 é', `"{},NULL\\`, 'null'];
    await x.inbox.store(
      ids.map((id, n) =>
        an(id, { receivedAt: wrong[n] ?? new Date(0), ...(n === 1 ? { status: 'parked', reason: '{"ü"}' } : {}) }),
      ),
    );
    const kept = await rows('select event_id, lane, type, reason, received_at, status from inbox_event order by id');
    expect(kept).toEqual(
      ids.map((id, n) => ({
        event_id: id,
        lane: `in_${id}`,
        type: 'payment.x',
        reason: n === 1 ? '{"ü"}' : null,
        received_at: x.harness.clock.now(),
        status: n === 1 ? 'parked' : 'received',
      })),
    );
  });

  it('the inbox keeps a second body under a known event id and opens one review item for all its repeats', async () => {
    const other = an('a', {}, { id: 'a', amount: 2 });
    await x.inbox.store([an('a')]);
    for (let n = 0; n < 3; n++) expect(await x.inbox.store([other])).toEqual(['conflict']);
    expect(await rows('select deliveries from inbox_quarantine')).toEqual([{ deliveries: 3 }]);
    expect(await rows(`select count(*)::int as n from inbox_event where source = 'crossbill'`)).toEqual([{ n: 1 }]);
    await x.harness.drain();
    expect(await rows('select kind, status from review')).toEqual([{ kind: 'conflicting_event', status: 'open' }]);
    expect(await repository.retry('iq_1')).toBeNull();
    await rows(`update review set status = 'resolved'`); // a person settled it: the same bytes are no news
    expect(await x.inbox.store([other])).toEqual(['conflict']);
    await x.harness.drain();
    expect(await rows('select status from review')).toEqual([{ status: 'resolved' }]);
  });

  it("after the erasure of an event's body, the inbox detects another body under the same id from the MoR, but not from Stripe", async () => {
    const body = (count: number) => ({ id: 'a', n: count });
    const both = (count: number) => [
      an('a', {}, body(count)),
      { ...an('a', {}, body(count)), source: 'stripe' as const },
    ];
    await x.inbox.store(both(1));
    await rows('delete from event_body');
    expect(await x.inbox.store(both(1))).toEqual(['duplicate', 'duplicate']);
    expect(await x.inbox.store(both(2))).toEqual(['conflict', 'duplicate']);
    await x.harness.drain();
    expect(await rows('select kind, status from review')).toEqual([{ kind: 'conflicting_event', status: 'open' }]);
  });

  it('under a known id the inbox treats a Stripe event in another API version as a repeat, and an event about another object as a conflict', async () => {
    const stripe = (name: string, from = '', to = ''): Delivery => ({
      ...an('evt_two1', { type: 'invoice.created' }),
      source: 'stripe',
      body: Buffer.from(reported(name).replaceAll(from, to)),
    });
    expect(await x.inbox.store([stripe('01-rendering-new')])).toEqual(['stored']);
    expect(await x.inbox.store([stripe('01-rendering-old')])).toEqual(['duplicate']);
    expect(await rows('select kind from review')).toEqual([]);
    expect(await x.inbox.store([stripe('01-rendering-old', 'in_two', 'in_three')])).toEqual(['conflict']);
    await x.harness.drain();
    expect(await rows('select kind from review')).toEqual([{ kind: 'conflicting_event' }]);
    // With the first body gone, nothing else would tell the two apart.
    await rows('delete from event_body');
    expect(await repository.retry('iq_1')).toBeNull();
    expect(await rows('select released_at from inbox_quarantine')).toEqual([{ released_at: null }]);
  });

  it('Crossbill decides a parked Stripe event after Stripe delivers the event in a readable API version', async () => {
    const parked: Delivery = {
      ...an('evt_two1', { status: 'parked', reason: 'unreadable', lane: 'stripe/evt_two1' }),
      source: 'stripe',
      body: Buffer.from(reported('01-rendering-old')),
    };
    const usable: Delivery = {
      ...an('evt_two1', { lane: 'in_two1' }),
      source: 'stripe',
      body: Buffer.from(reported('01-rendering-new')),
    };
    expect(await x.inbox.store([parked])).toEqual(['stored']);
    expect(await x.inbox.store([usable])).toEqual(['duplicate']);
    expect(await x.inbox.store([parked])).toEqual(['duplicate']);
    const kept = await rows(
      `select lane, status, reason, body, sha256(body) = body_sha256 as same from inbox_event join event_body b on b.event_id = id`,
    );
    expect(kept).toEqual([{ lane: 'in_two1', status: 'received', reason: null, body: usable.body, same: true }]);
    expect(await rows('select key from lane')).toEqual([{ key: 'in_two1' }]);
  });

  it("the review item about two bodies under one event id names the event's type, and for a dispute also the MoR's portal", async () => {
    const back = (note: string) => an('evt_dis_1', { type: 'dispute.revision_requested' }, { id: 'evt_dis_1', note });
    await x.inbox.store([back('blurred')]);
    expect(await x.inbox.store([back('the second page is missing')])).toEqual(['conflict']);
    await x.inbox.store([an('a')]);
    await x.inbox.store([an('a', {}, { id: 'a', amount: 2 })]);
    await x.harness.drain();
    const items = await rows(`select topic, fact from review order by fact ->> 'event' desc`);
    expect(items).toMatchObject([
      { topic: 'second-body', fact: { event: 'evt_dis_1', type: 'dispute.revision_requested' } },
      { topic: 'second-body', fact: { event: 'a' } },
    ]);
  });

  it('the inbox stores one event if fifty deliveries of one id arrive at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 50 }, () => x.inbox.store([an('a')])));
    expect(all.flat().filter((o) => o === 'stored')).toHaveLength(1);
    expect(await rows('select 1 from inbox_event')).toHaveLength(1);
  });

  it('the quarantine keeps one copy of a stale delivery and counts its repeats', async () => {
    for (let n = 0; n < 3; n++) await x.inbox.quarantine(an('s'), 'stale');
    expect(await rows('select event_id, deliveries, reason from inbox_quarantine')).toEqual([
      { event_id: 's', deliveries: 3, reason: 'stale' },
    ]);
    expect((await everything(10)).map((e) => e.status)).toEqual(['quarantined']);
    await x.inbox.store([an('s')]); // it came again in time
    expect((await everything(10)).map((e) => e.status)).toEqual(['received']);
  });

  it('the event list shows inbox and quarantine together, newest first, each event once, at any page size', async () => {
    for (let n = 0; n < 14; n++) {
      x.harness.clock.advance(1_000);
      if (n % 3 === 0) await x.inbox.quarantine(an(`q${n}`), 'stale');
      else await x.inbox.store([an(`i${n}`, { status: n % 2 === 0 ? 'ignored' : 'received' })]);
    }
    const whole = (await everything(100)).map((e) => e.eventId);
    expect(whole).toEqual(Array.from({ length: 14 }, (_, k) => ((13 - k) % 3 === 0 ? `q${13 - k}` : `i${13 - k}`)));
    for (const limit of [1, 2, 3, 5, 13, 14]) expect((await everything(limit)).map((e) => e.eventId)).toEqual(whole);
    expect(await everything(2, { status: 'quarantined' })).toHaveLength(5);
    expect((await everything(2, { status: 'ignored' })).every((e) => e.status === 'ignored')).toBe(true);
    expect(await everything(2, { eventId: 'q3' })).toHaveLength(1);
    expect(await everything(2, { source: 'stripe' })).toEqual([]);
  });

  it('a retry moves an event from quarantine into the inbox, and Crossbill marks its invoice paid', async () => {
    x.harness.platform.put(anInvoice());
    await x.inbox.quarantine(aPaymentSucceeded(), 'stale');
    expect(await repository.retry('iq_1')).toBe('ie_1');
    await x.harness.drain();
    expect(x.harness.platform.invoices.get(INVOICE_ID)?.status).toBe('paid');
    expect(await everything(10)).toHaveLength(1);
  });

  it("a retry leaves a quarantined copy in quarantine if its body differs from the inbox's, and opens a review item", async () => {
    await x.inbox.quarantine(an('a', {}, { id: 'a', amount: 2 }), 'stale');
    await x.inbox.store([an('a')]);
    expect(await repository.retry('iq_1')).toBeNull();
    expect(await everything(10, { status: 'quarantined' })).toHaveLength(1);
    // Nobody has seen it: it came before the valid one.
    expect(await repository.retry('iq_1')).toBeNull();
    await x.harness.drain();
    expect(await rows('select kind, subject, invoice_id from review')).toEqual([
      { kind: 'conflicting_event', subject: 'mor_payments:a', invoice_id: 'in_a' },
    ]);
  });

  it('if a quarantined delivery has another body than the stored event, its repeats within the time window open one review item', async () => {
    const other = an('a', {}, { id: 'a', amount: 2 });
    await x.inbox.quarantine(other, 'stale');
    await x.inbox.store([an('a')]);
    for (let n = 0; n < 2; n++) expect(await x.inbox.store([other])).toEqual(['conflict']);
    await x.harness.drain();
    expect(await rows('select kind from review')).toEqual([{ kind: 'conflicting_event' }]);
  });

  it('a retry closes the quarantined copy of a Stripe event if only pending_webhooks differs from the stored event', async () => {
    const event = (pending: number) => ({
      ...an('a', {}, { id: 'a', pending_webhooks: pending }),
      source: 'stripe' as const,
    });
    await x.inbox.quarantine(event(2), 'stale');
    expect(await x.inbox.store([event(1)])).toEqual(['stored']);
    expect(await everything(10, { status: 'quarantined' })).toHaveLength(1);
    expect(await repository.retry('iq_1')).toBe('ie_1');
    expect(await everything(10)).toHaveLength(1);
    expect(await rows('select 1 from review')).toEqual([]);
  });

  describe('an event unreadable for every older release', () => {
    const event = aPaymentSucceeded();
    const unread: Delivery = {
      ...event,
      lane: `event:mor_payments:${event.eventId}`,
      status: 'parked',
      reason: 'odd',
    };
    const settled = async (): Promise<object> => ({
      invoices: await rows('select invoice_id, status from invoice'),
      lanes: await rows(`select distinct lane from inbox_event where source = 'mor_payments'`),
      items: await rows('select 1 from review'),
    });
    const home = { invoices: [{ invoice_id: INVOICE_ID, status: 'paid' }], lanes: [{ lane: INVOICE_ID }], items: [] };
    beforeEach(async () => {
      x.harness.platform.put(anInvoice());
      await x.harness.take(invoiceEvent('invoice.finalized', anInvoice()));
    });

    it('a retry of an event that an older release parked as unreadable applies the event to its invoice', async () => {
      await x.inbox.store([unread]);
      expect(await repository.retry('ie_2')).toBe('ie_2');
      await x.harness.idle();
      expect(await settled()).toEqual(home);
    });

    it('a retry releases an event from quarantine although an older release could not read the event', async () => {
      await x.inbox.quarantine(unread, 'stale');
      await x.inbox.store([unread]);
      expect(await repository.retry('iq_1')).toBe('ie_2');
      await x.harness.idle();
      expect(await settled()).toEqual(home);
    });

    it("an event parked by an older release creates no invoice row with the event's id", async () => {
      await x.harness.take({ ...unread, status: 'received', reason: null });
      expect(await rows('select invoice_id from invoice')).toEqual([{ invoice_id: INVOICE_ID }]);
      expect(await rows(`select status from inbox_event where source = 'mor_payments'`)).toEqual([
        { status: 'parked' },
      ]);
      await repository.retry('ie_2');
      await x.harness.idle();
      expect(await settled()).toEqual(home);
    });
  });

  it('the erasure of a customer keeps the body of a parked event until a person dismisses or decides the event', async () => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(invoiceEvent('invoice.finalized', anInvoice()));
    const event = aPaymentSucceeded();
    const apart = { lane: 'event:mor_payments:evt_odd', eventId: 'evt_odd' };
    const parked = { status: 'parked', reason: 'ten decisions failed' } as const;
    await x.inbox.store([
      { ...event, ...parked },
      { ...event, ...parked, ...apart },
    ]);
    const erasure = new Erasure(x.db, ERASED_PARTS);
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ events: 1, waiting: 2 });
    expect(await repository.dismiss('ie_3', 'odd', 'of Ada')).toBe(true);
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ events: 1, waiting: 1 });
    expect(await repository.retry('ie_2')).toBe('ie_2');
    await x.harness.idle();
    expect(x.harness.platform.invoices.get(INVOICE_ID)?.status).toBe('paid');
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ events: 1, waiting: 0 });
  });

  it('the erasure of a customer keeps the body of a quarantined event until Crossbill decides the event, then erases it', async () => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(invoiceEvent('invoice.finalized', anInvoice()));
    const apart = { ...aPaymentSucceeded({ eventId: 'evt_apart' }), lane: 'event:mor_payments:evt_apart' };
    for (const stale of [aPaymentSucceeded(), invoiceEvent('invoice.finalized'), apart])
      await x.inbox.quarantine(stale, 'its time is outside the tolerance');
    const erasure = new Erasure(x.db, ERASED_PARTS);
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ events: 1, quarantined: 1, waiting: 2 });
    for (const id of ['iq_1', 'iq_3']) expect(await repository.retry(id)).not.toBeNull();
    await x.harness.idle();
    expect(x.harness.platform.invoices.get(INVOICE_ID)?.status).toBe('paid');
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ quarantined: 2, waiting: 0 });
  });

  it('a retry of a decided event makes no second call to Stripe and no second ledger entry', async () => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(aPaymentSucceeded());
    expect(await repository.retry('ie_1')).toBe('ie_1');
    await x.harness.idle();
    expect(x.harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
    expect(await rows('select 1 from ledger_entry')).toHaveLength(2);
  });

  it('a retry of a missing or malformed event id changes nothing', async () => {
    for (const id of ['ie_999', 'iq_1', 'ie_-1', 'ie_1; drop table lane', '', 'evt_1'])
      expect(await repository.retry(id)).toBeNull();
  });

  it('Crossbill parks an event after three failed decisions, and meanwhile decides the other events of its invoice', async () => {
    const { harness, db, inbox } = x;
    const { repository, clock, platform } = harness;
    platform.put(anInvoice());
    await inbox.store([an('poison', { lane: INVOICE_ID }), aPaymentFailed(), { ...an('other'), lane: 'in_other' }]);
    const [bad] = await rows(`select id from inbox_event where event_id = 'poison'`);
    const failed = { event: BigInt(String(bad?.['id'])), reason: 'TypeError: poison' };
    for (let n = 1; n <= 3; n++) {
      const claims = await repository.claim('w', 10, 25_000);
      const own = claims.find((c) => c.lane === INVOICE_ID);
      expect(own).toBeDefined();
      if (n === 1) expect(claims.map((c) => c.lane).sort()).toEqual(['in_oak', 'in_other']);
      await repository.postpone({ lane: INVOICE_ID, fence: own?.fence ?? 0n }, failed, 2_000, 3);
      const between = await repository.claim('w2', 10, 1_000); // the other event of the lane is due all the same
      if (n < 3) {
        expect(between.map((c) => c.lane)).toEqual([INVOICE_ID]);
        const seen = await repository.transact({
          lane: INVOICE_ID,
          fence: between[0]?.fence ?? 0n,
          decide: ({ state, events }) => ({ state, outcomes: [], dueAt: null, value: events.map((e) => e.eventId) }),
        });
        expect(seen).toEqual(['evt_payment.failed_pay_oak']);
        await repository.release(INVOICE_ID, between[0]?.fence ?? 0n);
      }
      clock.advance(2_000);
    }
    const poison = await rows(`select status, attempts, reason from inbox_event where event_id = 'poison'`);
    expect(poison).toEqual([{ status: 'parked', attempts: 3, reason: 'TypeError: poison' }]);
    await db.pool.query('update lane set lease_until = null');
    await harness.drain();
    expect((await harness.state(INVOICE_ID)).payments[0]?.status).toBe('failed');
  });
});

// A sender without an answer sends everything again: known deliveries must cost a batch no more statements than new
// ones.
const KNOWN = 200;

describe('a batch of repeated deliveries', () => {
  let x: LaneOnPostgres;
  beforeAll(async () => {
    x = await laneOnPostgres();
  });
  afterAll(() => x.close());

  it('the inbox needs fewer than five statements for 200 repeated deliveries', async () => {
    const batch = Array.from({ length: KNOWN }, (_, n): Delivery =>
      delivery('mor_payments', `k${n}`, 'payment.x', `in_k${n}`, { id: `k${n}` }),
    );
    await x.inbox.store(batch);
    let statements = 0;
    x.db.intake.on('acquire', () => statements++);
    expect(await x.inbox.store(batch)).toEqual(batch.map(() => 'duplicate'));
    expect(statements).toBeLessThan(5);
  });
});

// Bodies by the month, in a real PostgreSQL: made ahead, found wherever they lie, purged as a whole.
describe('Bodies by the month', () => {
  let at: string;
  let db: Database;
  databaseForEach((opened, url) => ([db, at] = [opened, url]));

  /** Stores an event of a given time and status, and returns its id. */
  async function came(at: string, status = 'done'): Promise<string> {
    const id = `evt_${at}_${status}`;
    const inbox = new PgInbox(db, { given: () => new Date(at) });
    expect(await inbox.store([delivery('mor_payments', id, 'payment.x', `in_${id}`, { id })])).toEqual(['stored']);
    if (status !== 'received') {
      await db.pool.query('update inbox_event set status = $2, decided_at = received_at where event_id = $1', [
        id,
        status,
      ]);
      await db.pool.query('delete from lane where key = $1', [`in_${id}`]);
    }
    const found = await db.pool.query<{ id: string }>('select id from inbox_event where event_id = $1', [id]);
    return `ie_${found.rows[0]?.id ?? ''}`;
  }
  const months = async (): Promise<string[]> => {
    const found = await db.pool.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event_body'::regclass order by 1`,
    );
    return found.rows.map((r) => r.name);
  };
  const make = (at: string, ahead = 0): Promise<void> =>
    new BodyMonths(db, { given: () => new Date(at) }).makeAhead(ahead);
  const bodies = async (ids: readonly string[]): Promise<boolean[]> =>
    Promise.all(ids.map(async (id) => (await eventById(db.pool, id))?.body !== null));

  it('after the first migration the database has partitions of event bodies for this month and the next two months', async () => {
    const now = new Date();
    const expected = [0, 1, 2].map((n) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1)));
    expect(await months()).toEqual([
      ...expected.map((d) => `event_body_${d.toISOString().slice(0, 7).replace('-', '_')}`),
      'event_body_other',
    ]);
    await new BodyMonths(db, new ServerTime()).makeAhead(2);
    expect(await months()).toHaveLength(4);
  });

  it("the inbox stores an event body of a month without a partition, and makes that month's partition later", async () => {
    const id = await came('2020-02-03T00:00:00Z');
    expect(await bodies([id])).toEqual([true]);
    await make('2020-01-31T23:59:59Z', 2);
    expect((await months()).slice(0, 2)).toEqual(['event_body_2020_01', 'event_body_2020_03']);
    expect(await bodies([id])).toEqual([true]);
  });

  it('purge drops event bodies month by month, except bodies of events that wait for a decision or a person', async () => {
    await make('2021-05-01T00:00:00Z', 1);
    const old = [
      await came('2021-05-01T00:00:00Z'),
      await came('2021-05-31T23:59:59Z', 'ignored'),
      await came('2021-05-20T00:00:00Z', 'parked'),
      await came('2021-05-21T00:00:00Z', 'received'),
      await came('2021-06-01T00:00:00Z'),
    ];
    const purge = (before: string) => new Erasure(db, ERASED_PARTS).purge(new Date(before));
    expect(await purge('2021-05-31T23:59:59Z')).toMatchObject({ events: 0 });
    expect(await bodies(old)).toEqual([true, true, true, true, true]);
    expect(await purge('2021-06-01T00:00:00Z')).toMatchObject({ events: 2 });
    expect(await bodies(old)).toEqual([false, false, true, true, true]);
    expect(await months()).not.toContain('event_body_2021_05');
    await db.pool.query(`update inbox_event set status = 'done' where status in ('parked', 'received')`);
    expect(await purge('2021-07-01T00:00:00Z')).toMatchObject({ events: 3 });
    expect(await bodies(old)).toEqual([false, false, false, false, false]);
  });

  it('a database user without the right to drop tables makes and purges the partitions of event bodies', async () => {
    const role = `clerk_${Math.random().toString(36).slice(2)}`;
    await db.pool.query(`create role ${role} login password 'clerk'`);
    await db.pool.query(`grant select, insert, update, delete on all tables in schema public to ${role}`);
    await db.pool.query(`grant usage on all sequences in schema public to ${role}`);
    const url = new URL(at);
    url.username = role;
    url.password = 'clerk';
    const clerk = new pg.Pool({ connectionString: url.toString(), max: 3 });
    try {
      await Promise.all([0, 1, 2].map(() => clerk.query(`select make_body_months('2022-03-01T00:00:00Z', 0)`)));
      expect(await months()).toContain('event_body_2022_03');
      const id = await came('2022-03-02T00:00:00Z');
      await expect(clerk.query('drop table event_body_2022_03')).rejects.toThrow('owner');
      const dropped = await clerk.query<{ n: string }>(`select drop_body_month('2022-04-01T00:00:00Z') as n`);
      expect(dropped.rows).toEqual([{ n: '1' }]);
      expect(await bodies([id])).toEqual([false]);
    } finally {
      await clerk.end();
      await db.pool.query(`drop owned by ${role}`);
      await db.pool.query(`drop role ${role}`);
    }
  });

  it('PostgreSQL updates the row of a decided event without a write to an index (a HOT update)', async () => {
    for (let n = 1; n <= 20; n++) await came(`2023-01-${String(n).padStart(2, '0')}T00:00:00Z`);
    await db.pool.query('select pg_stat_force_next_flush()').catch(() => undefined); // PostgreSQL 15 and later
    const counted = await db.pool.query<{ all: string; hot: string }>(
      `select pg_stat_get_xact_tuples_updated('inbox_event'::regclass) + n_tup_upd as all, pg_stat_get_xact_tuples_hot_updated('inbox_event'::regclass) + n_tup_hot_upd as hot
         from pg_stat_user_tables where relname = 'inbox_event'`,
    );
    expect(counted.rows[0]?.hot).toBe(counted.rows[0]?.all);
  });
});

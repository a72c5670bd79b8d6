// The erasure in a real PostgreSQL: rows of earlier releases, workers with a lane in memory, customers without rows.
import { describe, expect, it } from '@jest/globals';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ERASED_PARTS } from '../../src/core/lanes/erased-parts.js';
import { itemLane } from '../../src/shared/domain/events/channel-lane.js';
import { ofSignup } from '../../src/shared/domain/events/own-event.js';
import { type JournalLine, type LaneState } from '../../src/shared/domain/model.js';
import { Erasure } from '../../src/engine/erasure.js';
import { LaneWriter } from '../../src/engine/lane-writer.js';
import { Rebuild } from '../../src/engine/rebuild.js';
import { recallIn, rememberIn } from '../../src/frames/store/requests.js';
import { tellLanes } from '../../src/frames/store/own-events.js';
import { migrate, OWN_MIGRATIONS } from '../../src/frames/store/migrations.js';
import {
  CUSTOMER_ID,
  INVOICE_ID,
  aPaymentFailed,
  aPaymentSucceeded,
  anInvoice,
  delivery,
  invoiceEvent,
} from '../support/builders/events.js';
import { emptyDatabase } from '../support/rigs/database.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

const WORDS = 'Ada Lovelace has no money';
const WORD = 'Lovelace';
/** The same in a column of bytes. */
const HEX = Buffer.from(WORD).toString('hex');

describe('the erasure', () => {
  let x: LaneOnPostgres;
  let erasure: Erasure;
  laneForEach((opened) => {
    x = opened;
    erasure = new Erasure(x.db, ERASED_PARTS);
  });

  const rows = async <T extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<T[]> =>
    (await x.db.pool.query<T>(sql, values)).rows;
  /** The tables with the words in any column, as text or as bytes. */
  const holders = async (): Promise<string[]> => {
    const tables = await rows<{ t: string }>(
      `select table_name as t from information_schema.tables where table_schema = 'public' order by 1`,
    );
    const found = await Promise.all(
      tables.map(async ({ t }) =>
        (await rows(`select 1 from "${t}" r where r::text like any($1)`, [[`%${WORD}%`, `%${HEX}%`]])).length > 0
          ? [t]
          : [],
      ),
    );
    return found.flat();
  };
  /** A failed payment of the customer. */
  const failedRenewal = async (): Promise<void> => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(invoiceEvent('invoice.finalized', anInvoice()));
    await x.harness.take(aPaymentFailed());
  };

  it('the erasure removes the words that an earlier release left in timelines and reasons, and keeps codes', async () => {
    await failedRenewal();
    const line = (kind: string, text: string, reason: string | null): object => ({
      kind,
      ref: 'out_1',
      text,
      detail: { call: 'report_payment', status: 422, reason },
    });
    const old = {
      f: 1,
      journal: [
        line('call', `report_payment: the MoR answered 422: ${WORDS}`, null),
        line('event', `payment.failed: dispute dp_1 is decided: ${WORDS}`, `dispute dp_1 is decided: ${WORDS}`),
      ],
      attempts: [{ event_id: 'evt_old', decline_code: 'do_not_honor', failure_message: WORDS }],
    };
    await rows(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
         select lane, max(version) + 1, max(at), false, false, $2 from lane_log where lane = $1 group by lane`,
      [INVOICE_ID, JSON.stringify(old)],
    );
    await rows(`update inbox_event set status = 'ignored', reason = $1 where type = 'payment.failed'`, [
      `dismissed by ops: ${WORDS}`,
    ]);
    await rows(
      `insert into verify_run (id, started_at, outcome, since, began_at, differences)
         values ('ver_1', now(), 'differences', now(), now(), $1)`,
      [
        JSON.stringify([
          { invoiceId: INVOICE_ID, detail: `the MoR refused it: ${WORDS}; ask`, acknowledged: { note: WORDS } },
        ]),
      ],
    );
    expect(await holders()).toEqual(['inbox_event', 'lane_log', 'verify_run']);

    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ waiting: 0 });
    expect(await holders()).toEqual([]);
    const [kept] = await rows<{ change: typeof old }>(
      `select change from lane_log where change ->> 'f' = '1' order by version desc limit 1`,
    );
    expect(kept?.change).toMatchObject({
      f: 1,
      journal: [{ detail: { status: 422 } }, { detail: { call: 'report_payment' } }],
      attempts: [{ event_id: 'evt_old', decline_code: 'do_not_honor', failure_message: null }],
    });
    expect(await rows(`select reason from inbox_event where type = 'payment.failed'`)).toEqual([
      { reason: 'dismissed by ops' },
    ]);
    expect(await new Rebuild(x.db).run(true, () => undefined)).toMatchObject({ differed: 0, failed: [] });
    const before = await rows('select * from lane_log');
    expect(await erasure.eraseCustomer(CUSTOMER_ID)).toMatchObject({ texts: 0, events: 0 });
    expect(await rows('select * from lane_log')).toEqual(before);
  });

  it('a worker with the lane in memory does not bring erased words back, not even with its next snapshot', async () => {
    await failedRenewal();
    const writer = new LaneWriter(x.db.pool, x.harness.clock, { parsed: parsedEvents() });
    await rows(`insert into lane (key, fence) values ($1, 7) on conflict (key) do update set fence = 7`, [INVOICE_ID]);
    const step = (change: (state: LaneState) => LaneState): Promise<null> =>
      writer.submit({
        lane: INVOICE_ID,
        fence: 7n,
        decide: ({ state }) => ({ state: change(state), outcomes: [], dueAt: null, value: null }),
      });
    const line = (text: string): JournalLine => ({
      ...{ lane: INVOICE_ID, at: x.harness.clock.now(), kind: 'decision', ref: null, text, detail: null },
    });
    await writer.steps.keep([{ lane: INVOICE_ID, fence: 7n, news: 0n }]);
    await step((s) => ({ ...s, payments: s.payments.map((p) => ({ ...p, failureMessage: WORDS })) }));
    const since = async (): Promise<number> => {
      const [n] = await rows<{ n: string }>(
        `select max(version) - max(version) filter (where snapshot or version = 1) as n from lane_log`,
      );
      return Number(n?.n);
    };
    while ((await since()) < 19) await step((s) => ({ ...s, journal: [line('a step')] }));
    expect(await holders()).toContain('lane_log');

    await erasure.eraseCustomer(CUSTOMER_ID);
    await step((s) => ({ ...s, journal: [line('after the erasure')] }));
    expect(await rows(`select snapshot from lane_log where change::text like '%after the erasure%'`)).toEqual([
      { snapshot: true },
    ]);
    expect(await holders()).toEqual([]);
    await new Rebuild(x.db).run(false, () => undefined);
    expect(await holders()).toEqual([]);
  });

  it('a customer known only from the bodies of events is known to the erasure, with the note of the dismissed event', async () => {
    const about = { id: 'evt_1', customer: 'cus_only', name: WORDS };
    await x.inbox.store([
      { ...delivery('mor_payments', 'evt_1', 'payment.x', 'event:mor_payments:evt_1', about), status: 'ignored' },
    ]);
    await rows(`update inbox_event set note = $1`, [WORDS]);
    expect(await erasure.knows('cus_only')).toBe(true);
    expect(await erasure.knows('cus_other')).toBe(false);
    expect(await erasure.eraseCustomer('cus_only')).toMatchObject({ invoices: 0, events: 1, texts: 1, waiting: 0 });
    expect(await holders()).toEqual([]);
  });

  it.each([
    ['its charge', 'ch_oak'],
    ['its payment intent', 'pi_oak'],
    ['its payment', 'pay_oak'],
    ["its subscription's invoice", INVOICE_ID],
    ['its subscription', 'sub_oak'],
    ['a charge of another announcement', 'ch_further'],
  ])('the erasure reaches an event in no lane of an invoice that names only %s', async (_, id) => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(
      invoiceEvent('invoice.finalized', anInvoice()),
      aPaymentSucceeded({ chargeId: 'ch_oak', intentId: 'pi_oak', paymentId: 'pay_oak' }),
    );
    await rows(
      `insert into mor_object (id, kind, mor_id, invoice_id, status, detail, created_at, updated_at)
         values ('obj_1', 'payment_link', 'pl_1', $1, 'PAID', '{"observed":[{"charge":"ch_further"}]}', now(), now())`,
      [INVOICE_ID],
    );
    const event = delivery('mor_events', 'evt_x', 'dispute.opened', 'event:mor_events:evt_x', {
      about: id,
      name: WORDS,
    });
    await x.inbox.store([{ ...event, status: 'ignored' }]);
    expect(await holders()).not.toEqual([]);
    await erasure.eraseCustomer(CUSTOMER_ID);
    expect(await holders()).toEqual([]);
  });

  it("the erasure reaches the note on a difference about the customer's balance, and no other note", async () => {
    await failedRenewal();
    const difference = (id: string, customer: string): object => ({
      ...{ id, kind: 'credited_by_hand', invoiceId: null, objectId: 'cbtxn_1' },
      detail: `Somebody credited customer ${customer}'s balance with 5.00 EUR (cbtxn_1). The MoR does not know of it.`,
    });
    await rows(
      `insert into verify_run (id, started_at, outcome, since, began_at, differences)
         values ('ver_1', now(), 'differences', now(), now(), $1)`,
      [JSON.stringify([difference('dif_mine', CUSTOMER_ID), difference('dif_other', `${CUSTOMER_ID}2`)])],
    );
    for (const id of ['dif_mine', 'dif_other'])
      await rows(
        `insert into difference_ack (id, kind, note, by, at) values ($1, 'credited_by_hand', $2, 'ops', now())`,
        [id, WORDS],
      );
    await erasure.eraseCustomer(CUSTOMER_ID);
    expect(await rows('select id, note from difference_ack order by id')).toEqual([
      { id: 'dif_mine', note: null },
      { id: 'dif_other', note: WORDS },
    ]);
  });

  it('the erasure hashes an Idempotency-Key with words, and a repeat of the request is still the same request', async () => {
    x.harness.platform.put(anInvoice());
    await x.harness.take(invoiceEvent('invoice.finalized', anInvoice()), aPaymentSucceeded());
    const [payment] = await rows<{ id: string }>('select id from payment');
    const name = { apiKey: 'shop', method: 'POST', path: '/v1/x', idempotencyKey: `refund for ${WORDS}` };
    const plain = { ...name, idempotencyKey: '0190f2c4-7a7b' };
    const sha = Buffer.alloc(32);
    for (const one of [name, plain])
      await rememberIn(x.db.pool, one, { bodySha256: sha, objectId: payment?.id ?? '', at: null });
    await erasure.eraseCustomer(CUSTOMER_ID);
    expect(await holders()).toEqual([]);
    for (const one of [name, plain]) {
      const known = { known: true, sameBody: true, objectId: payment?.id };
      expect(await recallIn(x.db.pool, one, sha)).toEqual(known);
      expect(await rememberIn(x.db.pool, one, { bodySha256: sha, objectId: 'another', at: null })).toEqual(known);
    }
    expect(await rows('select count(*)::int as n from api_request')).toEqual([{ n: 2 }]);
  });

  it('the erasure reaches the note of an item about a signup without an invoice', async () => {
    const signup = {
      id: 'sup_1',
      kind: 'payment',
      customer_id: CUSTOMER_ID,
      status: 'requested',
      mor_key: 'k',
      path: '/',
      created_by: 'shop',
    };
    await rows(
      `insert into signup (${Object.keys(signup).join(', ')}, created_at) values ($1, $2, $3, $4, $5, $6, $7, now())`,
      Object.values(signup),
    );
    const notified = ofSignup({
      type: 'signup.overdue',
      signup: 'sup_1',
      customer: CUSTOMER_ID,
      since: '2026-11-20T00:00:00Z',
    });
    await tellLanes(x.db.pool, [notified], x.harness.clock);
    await x.harness.idle();
    const [item] = await rows<{ id: string }>(`select id from review where subject = 'sup_1'`);
    const writer = new LaneWriter(x.db.pool, x.harness.clock, { parsed: parsedEvents() });
    await writer.submit({
      lane: itemLane('sup_1'),
      fence: null,
      decide: ({ state }) => ({
        state: { ...state, reviews: state.reviews.map((r) => ({ ...r, note: r.id === item?.id ? WORDS : null })) },
        ...{ outcomes: [], dueAt: null, value: null },
      }),
    });
    expect(await holders()).toEqual(['lane_log', 'review']);
    await erasure.eraseCustomer(CUSTOMER_ID);
    expect(await holders()).toEqual([]);
  });
});

it('the upgrade puts the customer’s id in place of the free reference under which a link was audited', async () => {
  const fresh = await emptyDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  const db = new pg.Client({ connectionString: fresh.url });
  try {
    const before = readdirSync(OWN_MIGRATIONS).filter((file) => !file.includes('audit-references'));
    for (const file of before) cpSync(join(OWN_MIGRATIONS, file), join(folder, file));
    await migrate(fresh.url, { folder });
    await db.connect();
    const add = `insert into audit (at, actor, action, target, source, outcome, status, detail) values (now(), $1, $2, $3, 'here', 'done', 201, $4)`;
    await db.query(
      `insert into customer_link (customer_id, mor_customer_id, reference, linked_by, linked_at) values ('cus_1', 'mc_1', 'Ada', 'ops', now())`,
    );
    await db.query(add, ['ops', 'customer.link', 'Ada', { id: 'Ada' }]);
    await db.query(add, ['ops', 'customer.link', 'gone', { id: 'gone' }]);
    await db.query(add, ['ops', 'refund.create', 'pay_1', { id: 'ref_1' }]);
    await migrate(fresh.url);
    expect((await db.query('select target, detail from audit order by id')).rows).toEqual([
      { target: 'cus_1', detail: { id: 'cus_1' } },
      { target: null, detail: null },
      { target: 'pay_1', detail: { id: 'ref_1' } },
    ]);
    await expect(db.query('update audit set target = null')).rejects.toThrow('never changed');
  } finally {
    await db.end();
    await fresh.drop();
    rmSync(folder, { recursive: true });
  }
});

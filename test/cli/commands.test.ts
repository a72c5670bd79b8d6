// The commands against a running daemon, its database, and the sandbox.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { OWN_MIGRATIONS } from '../../src/frames/store/migrations.js';
import { emptyDatabase } from '../support/rigs/database.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import { OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { writtenBesideTheFacts } from './named-texts.js';
import { cli, cliJson } from './rig.js';

type Check = { name: string; state: string; detail: string; todo: string };

/** The traces of a command without effect: no result, and the reason on stderr. */
const saysWhy = (code: 1 | 2, why: RegExp) => ({ code, out: '', err: expect.stringMatching(why) });

let world: World;
let paid: { invoiceId: string; paymentId: string; customerId: string; subscriptionId: string };

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
  const s = await world.subscriber({ email: 'ada.lovelace@example.com' });
  await world.invoice(s.firstInvoiceId, 'paid');
  const invoiceId = await world.renew(s.subscriptionId);
  await world.invoice(invoiceId, 'held');
  await world.advance(3_700);
  const invoice = await world.invoice(invoiceId, 'paid');
  const [payment] = invoice['payments'] as { id: string }[];
  paid = { ...s, invoiceId, paymentId: payment?.id ?? '' };
});
afterAll(() => world.close());

async function sql<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
  const db = new pg.Client({ connectionString: world.databaseUrl });
  await db.connect();
  try {
    return (await db.query<T>(text, values)).rows;
  } finally {
    await db.end();
  }
}

it('`crossbill migrate` brings an empty database up to date, and other commands refuse to run before', async () => {
  const empty = await emptyDatabase();
  const env = { ...world.env, DATABASE_URL: empty.url };
  try {
    const behind = await cli(['status'], env);
    expect(behind).toEqual({ code: 1, out: '', err: expect.stringContaining('Run `crossbill migrate`') });
    expect(await cli(['migrate', '--status'], env)).toEqual({
      code: 1,
      out: expect.stringMatching(/^The schema lacks \S.*\. Run `crossbill migrate`\.\n$/),
      err: '',
    });
    const done = await cliJson<{ migrations: string[] }>(['migrate'], env);
    expect(done.code).toBe(0);
    expect(done.body.migrations).toHaveLength(readdirSync(OWN_MIGRATIONS).length);
    expect(await cli(['migrate'], env)).toEqual({ code: 0, out: 'The schema is already current.\n', err: '' });
    expect(await cli(['migrate', '--status'], env)).toEqual({ code: 0, out: 'The schema is current.\n', err: '' });
  } finally {
    await empty.drop();
  }
});

it('`crossbill doctor` finds no failure in a trial run and prints no secret', async () => {
  const { code, body, out } = await cliJson<{ checks: Check[]; summary: Record<string, number> }>(
    ['doctor'],
    world.env,
  );
  expect(body.checks.filter((c) => c.state === 'fail')).toEqual([]);
  expect(code).toBe(0);
  const names = body.checks.map((c) => c.name);
  for (const name of [
    'database',
    'schema',
    'clock against Stripe',
    'Stripe key',
    'webhook endpoint at Stripe',
    'arrival of Stripe’s events',
    'automatic invoice mails',
    'mark mode',
    'MoR credentials',
    'partner credentials',
    'traffic from stripe',
  ]) {
    expect(names).toContain(name);
  }
  for (const name of ['STRIPE_API_KEY', 'MOR_CLIENT_SECRET', 'STRIPE_WEBHOOK_SECRETS'])
    expect(out).not.toContain(world.env[name]);
  expect(out).not.toContain(OPS_KEY);
});

it('`crossbill doctor` reports a card Stripe could charge, a wrong Stripe key and wrong MoR credentials', async () => {
  const method = await world.stripe.paymentMethods.create({ type: 'card', card: { token: 'tok_visa' } });
  await world.stripe.paymentMethods.attach(method.id, { customer: paid.customerId });
  await world.stripe.customers.update(paid.customerId, { invoice_settings: { default_payment_method: method.id } });
  const card = await cliJson<{ checks: Check[] }>(['doctor'], world.env);
  expect(card.code).toBe(1);
  expect(card.body.checks.find((c) => c.name.startsWith('customers whom'))).toMatchObject({
    state: 'fail',
    detail: expect.stringContaining(paid.customerId),
  });
  await world.stripe.customers.update(paid.customerId, { invoice_settings: { default_payment_method: '' } });

  const wrong = await cliJson<{ checks: Check[] }>(['doctor'], {
    ...world.env,
    STRIPE_API_KEY: 'sk_test_0123456789wrongwrong',
    MOR_CLIENT_SECRET: 'not-the-secret-of-anyone',
  });
  expect(wrong.code).toBe(1);
  expect(wrong.body.checks.find((c) => c.name === 'Stripe key')).toMatchObject({
    state: 'fail',
    todo: expect.stringContaining('STRIPE_API_KEY'),
  });
  expect(wrong.body.checks.find((c) => c.name === 'MoR credentials')).toMatchObject({ state: 'fail' });
  expect(wrong.out).not.toContain('wrongwrong');
  expect(wrong.out).not.toContain('not-the-secret');
});

it('`crossbill status` counts invoices, queues and events', async () => {
  const { code, body } = await cliJson<Record<string, Record<string, unknown>>>(['status'], world.env);
  expect(code).toBe(0);
  expect(body['invoices']?.['paid']).toBeGreaterThanOrEqual(2);
  const names = ['oldest_seconds', 'parked_events', 'pending_messages', 'quarantined', 'waiting_events'];
  expect(Object.keys(body['queue'] ?? {}).toSorted()).toEqual(names);
  expect(body['queue']).toMatchObject({ parked_events: 0, quarantined: 0 });
  expect(body['senders']).toContainEqual(
    expect.objectContaining({ source: 'stripe', last_event_at: expect.stringMatching(/^20/) }),
  );
  expect((await cli(['status'], world.env)).out).toContain('Last verify\n  never');
});

it("`crossbill status` and `crossbill doctor` report a webhook endpoint's last refused delivery until the next accepted delivery", async () => {
  const insert = `insert into endpoint_refusal (endpoint, at, status, why, address) values ('stripe', now(), 401, 'signature_mismatch', '203.0.113.9')`;
  await sql(insert);
  await sql(`insert into endpoint_answers (endpoint, hour, status, n) values ('stripe', date_trunc('hour', now()), 401, 3)
               on conflict (endpoint, hour, status) do update set n = endpoint_answers.n + 3`);
  const { body } = await cliJson<{ senders: { source: string; answers: object; last_refusal: object }[] }>(
    ['status'],
    world.env,
  );
  const sender = (source: string) => body.senders.find((s) => s.source === source);
  expect(sender('stripe')).toMatchObject({
    answers: { 401: 3 },
    last_refusal: { status: 401, why: 'signature_mismatch', address: '203.0.113.9' },
  });
  expect(sender('mor_events')?.last_refusal).toBeNull();
  const said = (await cli(['status'], world.env)).out;
  expect(said).toMatch(
    /^ {2}stripe last refused a delivery at \S+ with 401 \(signature_mismatch\), from 203\.0\.113\.9\. .*STRIPE_WEBHOOK_SECRETS/m,
  );
  const seen = async (endpoint = 'stripe'): Promise<Check | undefined> =>
    (await cliJson<{ checks: Check[] }>(['doctor'], world.env)).body.checks.find(
      (c) => c.name === `traffic from ${endpoint}`,
    );
  expect(await seen()).toMatchObject({ state: 'warn', detail: expect.stringContaining('signature_mismatch') });
  // A secret wrong from the start: no delivery was ever accepted.
  await sql(insert.replace(`('stripe'`, `('mor_events'`).replace('401', '503'));
  expect(await seen('mor_events')).toMatchObject({
    state: 'warn',
    detail: expect.stringContaining('signature_mismatch'),
    todo: expect.stringContaining('MOR_EVENT_WEBHOOK_SECRETS'),
  });
  await sql(`update endpoint_refusal set at = at - interval '1 hour'`); // and another one accepted since
  expect(await seen()).toMatchObject({ state: 'ok' });
});

it("`crossbill explain` shows an invoice's timeline for the id of the invoice, payment, customer or event", async () => {
  const { code, out } = await cli(['explain', paid.invoiceId], world.env);
  expect(code).toBe(0);
  const at = (text: string): number => {
    expect(out).toContain(text);
    return out.indexOf(text);
  };
  expect(at('Invoice created')).toBeLessThan(at('Payment succeeded'));
  expect(at('Payment succeeded')).toBeLessThan(at('Reported the payment'));
  expect(at('Reported the payment')).toBeLessThan(at('Attached the payment'));
  expect(out).toMatch(/request req_/);
  expect(out).not.toContain('ada.lovelace');
  const [event] = await sql<{ event_id: string }>(
    `select event_id from inbox_event where type = 'payment.succeeded' limit 1`,
  );
  const found = await Promise.all(
    [paid.paymentId, paid.customerId, event?.event_id ?? ''].map((id) =>
      cliJson<{ invoices: { id: string }[] }>(['explain', id], world.env),
    ),
  );
  for (const { body } of found) expect(body.invoices.map((i) => i.id)).toContain(paid.invoiceId);
  const unknown = /^Crossbill does not know in_nobody\./;
  expect(await cli(['explain', 'in_nobody'], world.env)).toEqual(saysWhy(1, unknown));
});

it("`crossbill explain` shows an uncompleted signup for the signup's id and for the customer's id", async () => {
  const customerId = 'cus_undecided';
  const signup = { kind: 'payment', customer: { id: customerId }, amount: 2990, currency: 'eur' };
  const { body } = await world.api('POST', '/v1/signups', signup);
  const id = String(body['id']);
  for (const { code, out } of await Promise.all([id, customerId].map((by) => cli(['explain', by], world.env)))) {
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(`Signup ${id} (payment of 29.90 EUR) of customer ${customerId}`),
    ]);
  }
});

it('`crossbill refund` asks for confirmation, makes one refund for each key, and records each attempt in the audit trail', async () => {
  const asked = `Refund 5.00 EUR of 29.90 EUR to customer ${paid.customerId} (invoice ${paid.invoiceId})?`;
  const unasked = await cli(['refund', paid.paymentId, '--amount', '5'], world.env);
  expect(unasked).toEqual(saysWhy(2, /^Refund 5\.00 EUR of 29\.90 EUR .*\?\n.*--yes/));
  const no = await cli(['refund', paid.paymentId, '--amount', '5'], world.env, { reply: 'n' });
  expect(no).toEqual({ code: 1, out: '', err: `${asked} [y/N] Nothing was done.\n` });
  expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body['amount_refunded']).toBe(0);
  const args = ['refund', paid.paymentId, '--amount', '5', '--key', 'ticket-7', '--yes'];
  const done = await cliJson(args, world.env);
  expect(done).toMatchObject({ code: 0, body: { status: 'succeeded', mirror: 'done', amount: 500 } });
  const again = await cliJson(args, world.env);
  expect(again.body['id']).toBe(done.body['id']);
  expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body['amount_refunded']).toBe(500);
  const wrong = [['--amount', '5.005', '--yes'], ['--amount', '12.50', '--minor', '--yes'], ['--minor']];
  expect(await Promise.all(wrong.map((given) => cli(['refund', paid.paymentId, ...given], world.env)))).toEqual([
    saysWhy(2, /^5\.005 is no amount in EUR\. Use 2 decimals, above 0\.\n$/),
    saysWhy(2, /^With --minor the amount is a whole number, not 12\.50\.\n$/),
    saysWhy(2, /--amount/),
  ]);
  const tooMuch = await cli(['refund', paid.paymentId, '--amount', '9999.99', '--yes'], world.env);
  expect(tooMuch).toEqual(saysWhy(1, /^The amount exceeds the rest of this payment\. Refund at most 24\.90 EUR\.\n$/));
  const audited = await sql<Record<string, string>>(
    `select actor, outcome, detail->>'code' as code from audit where action = 'refund.create' order by id`,
  );
  const row = (outcome: string, code: string | null = null) => ({ actor: 'cli:ada', outcome, code });
  expect(audited).toEqual([
    ...[row('begun'), row('done'), row('begun'), row('done')], // the same key twice
    ...[row('begun'), row('refused', 'invalid_request')],
  ]);
});

it('`crossbill export` writes the ledger as CSV and as JSON lines', async () => {
  const csv = await cli(['export', 'ledger', '--format', 'csv'], world.env);
  expect([csv.code, csv.err]).toEqual([0, expect.stringMatching(/^(written [^\n]*\n)*$/)]);
  const [head, ...rows] = csv.out.trimEnd().split('\r\n');
  expect(head).toMatch(/^id,moved_at,reason,debit_account,amount,credit_account,currency,/);
  const lines = (await cli(['export', 'ledger', '--format', 'jsonl'], world.env)).out.trimEnd().split('\n');
  expect(lines).toHaveLength(rows.length);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ amount: 2990, currency: 'eur' });
});

it('`crossbill events` shows events without personal data, and lets Crossbill decide an event again', async () => {
  const list = (...words: string[]) =>
    cliJson<{ data: { id: string; type: string }[] }>(
      [...words, '--type', 'invoice.created', '--limit', '1'],
      world.env,
    );
  // Without a command of its own, `events` lists.
  const [listed, bare] = await Promise.all([list('events', 'list'), list('events')]);
  expect(bare.body.data).toEqual(listed.body.data);
  expect(await cli(['events', 'lst'], world.env)).toEqual(saysWhy(2, /^error: too many arguments for 'list'/));
  const [event] = listed.body.data;
  const [shown, raw] = await Promise.all(
    [[], ['--raw']].map((how) => cli(['events', 'show', event?.id ?? '', ...how], world.env)),
  );
  expect(shown?.out).toContain('invoice.created');
  expect(shown?.out).not.toContain('ada.lovelace');
  expect(raw).toEqual({ code: 0, out: expect.stringContaining('ada.lovelace'), err: '' });
  expect(await cliJson(['retry', event?.id ?? ''], world.env)).toMatchObject({
    code: 0,
    body: { retried: [event?.id] },
  });
  const given = [['retry', '--all-parked'], ['retry'], ['retry', 'evt_nobody'], ['events', 'list', '--cursor', 'x']];
  expect(await Promise.all(given.map((argv) => cli(argv, world.env)))).toEqual([
    { code: 0, out: 'No event is parked.\n', err: '' },
    saysWhy(2, /^Name one event, or use --all-parked\.\n$/),
    saysWhy(1, /^There is no event evt_nobody\./),
    saysWhy(2, /^Unknown cursor\. Omit --cursor\.\n$/),
  ]);
});

it("`crossbill reviews` lists review items and settles a review item by an operator's choice", async () => {
  const invoiceId = await world.renew(paid.subscriptionId);
  await world.invoice(invoiceId, 'held');
  await world.control('POST', `/stripe/invoices/${invoiceId}/add`, { amount: 500 });
  await world.advance(3_700);
  await world.invoice(invoiceId, 'review');
  const { body } = await cliJson<{ data: { id: string; kind: string; invoice_id: string }[] }>(
    ['reviews', 'list'],
    world.env,
  );
  const item = body.data.find((r) => r.invoice_id === invoiceId);
  expect(item?.kind).toBe('amount_mismatch');
  const shown = await cli(['reviews', 'show', item?.id ?? ''], world.env);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining(`crossbill reviews resolve ${item?.id} apply`) });
  const narrow = await cli(['reviews', 'list'], world.env, { columns: 80 });
  for (const line of narrow.out.split('\n').slice(0, 3)) expect(line.length).toBeLessThanOrEqual(80);
  expect(narrow.out).not.toContain(invoiceId);
  expect((await cli(['reviews', 'list', '--wide'], world.env, { columns: 80 })).out).toContain(invoiceId);
  const wrong = await cli(['reviews', 'resolve', item?.id ?? '', 'forget', '--yes'], world.env);
  expect(wrong).toEqual(saysWhy(2, /^The resolution is one of apply, .*\n$/));
  const done = await cliJson(['reviews', 'resolve', item?.id ?? '', 'apply', '--note', 'agreed', '--yes'], world.env);
  expect(done).toMatchObject({ code: 0, body: { status: 'resolved', resolved_by: 'cli:ada' } });
  const open = await world.invoice(invoiceId, 'open'); // a part of it is paid now
  expect(open['amount_paid']).toBe(2990);
});

it('`crossbill webhooks` registers an endpoint and shows the secret once, then lists and deletes the endpoint', async () => {
  const url = 'https://bridge.example.com/webhooks/mor/events';
  const made = await cliJson<{ id: string; secret: string }>(['webhooks', 'register', '--url', url], world.env);
  expect(made.code).toBe(0);
  expect(made.body.secret.length).toBeGreaterThan(8);
  const listed = await cli(['webhooks', 'list'], world.env);
  expect(listed).toEqual({ code: 0, out: expect.stringContaining(url), err: '' });
  expect(listed.out).not.toContain(made.body.secret);
  const deleted = { code: 0, out: `Deleted ${made.body.id}.\n`, err: '' };
  expect(await cli(['webhooks', 'delete', made.body.id, '--yes'], world.env)).toEqual(deleted);
  expect(await cli(['webhooks', 'list'], world.env)).toEqual({ code: 0, out: 'none\n', err: '' });
  const plain = await cli(['webhooks', 'register', '--url', 'http://bridge.example.com'], world.env);
  expect(plain).toEqual(saysWhy(1, /https/)); // the MoR refuses it, and says why
});

it('`crossbill onboard` shows stored merchants, and refuses a missing file', async () => {
  expect(await cli(['onboard', 'status'], world.env)).toEqual({ code: 0, out: 'none\n', err: '' });
  const missing = await cli(['onboard', 'apply', '--file', 'nowhere.json', '--yes'], world.env);
  expect(missing).toEqual(saysWhy(2, /^Crossbill cannot read nowhere\.json, or it is not JSON\.\n$/));
});

it("`crossbill erase` removes a customer's personal data; `crossbill verify` then finds no difference, and Crossbill still recognises repeated events", async () => {
  // Its deliveries have their decisions: nothing needs their bytes any more.
  const decided = `select count(*) filter (where status = 'received') = 0
                        and count(*) filter (where type = 'invoice.paid' and lane = $1) > 0 as all from inbox_event`;
  await world.until(
    'every event is decided',
    () => sql<{ all: boolean }>(decided, [paid.invoiceId]),
    ([seen]) => seen?.all === true,
  );
  // Texts of people and of a processor next to the facts.
  const pool = new pg.Pool({ connectionString: world.databaseUrl, max: 1, pipeline: true });
  await changeByHand(pool, paid.invoiceId, writtenBesideTheFacts);
  await pool.end();
  const before = await cliJson<{ outcome: string }>(['verify'], world.env);
  expect(before).toMatchObject({ code: 0, body: { outcome: 'clean' } });
  const ran = await cliJson(['erase', paid.customerId, '--yes'], world.env);
  expect(ran).toMatchObject({ code: 0, body: { waiting: 0 } });
  const find = `select 'inbox' as t from event_body where position('ada.lovelace'::bytea in body) > 0
      union all select 'quarantine' from inbox_quarantine where position('ada.lovelace'::bytea in body) > 0
      union all select 'signup' from signup where body like '%ada.lovelace%'
      union all select 'log' from lane_log where change::text || coalesce(bodies::text, '') like '%ada.lovelace%'
      union all select 'call' from open_call where last_message like '%ada.lovelace%'
      union all select 'object' from mor_object where detail::text like '%ada.lovelace%'
      union all select 'payment' from payment where failure_message like '%ada.lovelace%'
      union all select 'refund' from refund where reason like '%ada.lovelace%'
      union all select 'review' from review where fact::text || coalesce(note, '') like '%ada.lovelace%'`;
  expect(await sql(find)).toEqual([]);
  expect(await cliJson(['verify'], world.env)).toMatchObject({ code: 0, body: { outcome: 'clean' } });
  const [events] = await sql<{ n: string }>('select count(*) as n from inbox_event');
  await cli(['backfill', '--since', '30d', '--yes'], world.env);
  expect(await sql<{ n: string }>('select count(*) as n from inbox_event')).toEqual([events]);
  expect(
    await sql(`select outcome from audit where action = 'customer.erase' and target = $1 order by id`, [
      paid.customerId,
    ]),
  ).toEqual([{ outcome: 'begun' }, { outcome: 'done' }]);
  expect((await cli(['erase', 'cus_nobody', '--yes'], world.env)).code).toBe(1);
  expect((await cli(['explain', paid.invoiceId], world.env)).out).toContain('29.90 EUR');
});

it('`crossbill purge` drops event bodies over the given age, and keeps younger bodies', async () => {
  const none = await cliJson(['purge', '--older-than', '90d', '--yes'], world.env);
  expect(none).toMatchObject({ code: 0, body: { events: 0 } });
  await world.subscriber();
  await world.until(
    'two events with bodies are decided',
    () => sql(`select 1 from event_body b join inbox_event e on e.id = b.event_id where e.status = 'done'`),
    (found) => found.length >= 2,
  );
  await sql(
    `with old as (update inbox_event set received_at = received_at - interval '100 days', decided_at = now() - interval '100 days'
                      where id in (select b.event_id from event_body b join inbox_event e on e.id = b.event_id where status = 'done' limit 2) returning id, received_at)
       update event_body b set received_at = old.received_at from old where old.id = b.event_id`,
  );
  const some = await cliJson<{ events: number }>(['purge', '--older-than', '90d', '--yes'], world.env);
  expect(some.body.events).toBe(2);
});

it('`crossbill onboard apply` names the missing fields of each merchant in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-cli-'));
  const file = join(folder, 'merchants.json');
  writeFileSync(file, JSON.stringify([{ merchantReference: 'shop-1' }]));
  try {
    const wrong = await cliJson<{ data: { error?: { message: string } }[] }>(
      ['onboard', 'apply', '--file', file, '--yes'],
      world.env,
    );
    expect(wrong.code).toBe(1);
    expect(wrong.body.data[0]?.error?.message).toMatch(/productCode|company/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('`crossbill returned` prints the command that repeats the record, and refuses a second record of the debit', async () => {
  const first = await world.invoice((await world.paidSubscriber()).firstInvoiceId, 'paid');
  const [payment] = first['payments'] as { id: string }[];
  const args = ['returned', payment?.id ?? '', '--yes'];
  const done = await cliJson<{ id: string; repeat: string }>(args, world.env);
  expect([done.code, (await cli(args, world.env)).code]).toEqual([0, 1]);
  const [, key = ''] = /--key (\S+)/.exec(done.body.repeat) ?? [];
  const again = await cliJson([...args, '--key', key], world.env);
  expect(again).toMatchObject({ code: 0, body: { id: done.body.id, status: 'returned' } });
  const text = await cli([...args, '--undo'], world.env);
  expect(text).toMatchObject({ code: 0, out: expect.stringContaining('crossbill returned --key ') });
});

it('while no daemon runs, `crossbill refund` stores the request, and `crossbill refund --work` carries the request out', async () => {
  await Promise.all(world.daemons.map((d) => d.stop()));
  const left = await cliJson<{ id: string; status: string }>(
    ['refund', paid.paymentId, '--amount', '1', '--key', 'alone', '--wait', '1', '--yes'],
    world.env,
  );
  expect(left).toMatchObject({ code: 5, body: { status: 'unknown' } });
  const done = await cliJson<{ id: string }>(
    ['refund', paid.paymentId, '--amount', '1', '--key', 'alone', '--work', '--yes'],
    world.env,
  );
  expect(done).toMatchObject({ code: 0, body: { id: left.body.id, status: 'succeeded', mirror: 'done' } });
});

it('an equal `crossbill refund` without a key is refused while the first waits, and the printed command carries out that one refund', async () => {
  await Promise.all(world.daemons.map((d) => d.stop()));
  const refunded = async (): Promise<number> => {
    const [row] = await sql<{ sum: string }>(`select sum(amount) as sum from refund where reason = 'once'`);
    return Number(row?.sum ?? 0);
  };
  const args = ['refund', paid.paymentId, '--amount', '110', '--minor', '--reason', 'once', '--yes'];
  const left = await cli([...args, '--wait', '1'], world.env);
  expect(left).toMatchObject({ code: 5, out: expect.stringContaining('of 1.10 EUR: stored, not sent yet') });
  const [, key = ''] = /--key (\S+)/.exec(left.err) ?? [];
  expect(left.out).toContain(`crossbill refund --key ${key} --work ${paid.paymentId}`);

  // The natural repeat, as text and as JSON.
  const [again, asJson] = await Promise.all([
    cli([...args, '--work'], world.env),
    cliJson<{ error: { code: string } }>([...args, '--work'], world.env),
  ]);
  expect(again).toEqual(saysWhy(1, new RegExp(`crossbill refund --key ${key} `)));
  expect(asJson).toMatchObject({ code: 1, body: { error: { code: 'refund_waiting' } } });
  expect(await refunded()).toBe(110);

  const repeat = expect.stringContaining(`--key ${key}`);
  const done = await cliJson([...args, '--work', '--key', key], world.env);
  expect(done).toMatchObject({ code: 0, body: { status: 'succeeded', repeat } });
  expect(await refunded()).toBe(110);

  // A key of its own is a person's word for a second refund.
  const more = await Promise.all(
    ['second', 'third'].map((own) => cli([...args, '--wait', '1', '--key', own], world.env)),
  );
  expect([...more.map((ran) => ran.code), await refunded()]).toEqual([5, 5, 330]);
});

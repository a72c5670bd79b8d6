// Rows of a newer release or of a hand edit: a code that this release does not know, in any column, fails no list, no
// page of the console and no command.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { LOGGED } from '../../src/engine/lane-log.js';
import { CUSTOMER_LINK } from '../../src/shared/domain/customer-link.js';
import { LEDGER_ENTRY } from '../../src/shared/domain/ledger-entry.js';
import { SIGNUP } from '../../src/shared/domain/signup.js';
import { OPEN_CALL } from '../../src/engine/read-rows.js';
import { type AnyRow } from '../../src/frames/store/codec.js';
import { snake } from '../../src/frames/store/columns.js';
import { cli, commandsOf } from '../cli/rig.js';
import { furnished, furnishing } from '../console/furnish.js';
import { consolePages } from '../console/routes.js';
import { Visitor } from '../console/visitor.js';
import { type Json, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';

const ROWS: readonly AnyRow[] = [...Object.values(LOGGED), CUSTOMER_LINK, LEDGER_ENTRY, SIGNUP, OPEN_CALL];

const codedIn = ({ columns }: AnyRow): readonly string[] =>
  Object.entries(columns).flatMap(([name, { options }]) => (options.coded ? [options.name ?? snake(name)] : []));

/** The codes and the free texts of the tables without a declared row. A column in neither list fails the test. */
const UNDECLARED: Readonly<Record<string, { readonly codes: readonly string[]; readonly texts: readonly string[] }>> = {
  api_request: { codes: ['method'], texts: ['api_key', 'path', 'idempotency_key', 'object_id'] },
  audit: { codes: ['role', 'action', 'outcome'], texts: ['actor', 'target', 'source'] },
  charge_look: { codes: [], texts: ['key'] },
  console_session: { codes: [], texts: ['id', 'name', 'source'] },
  difference_ack: { codes: ['kind'], texts: ['id', 'invoice_id', 'note', 'by'] },
  endpoint_answers: { codes: ['endpoint'], texts: [] },
  endpoint_refusal: { codes: ['endpoint', 'why'], texts: ['address'] },
  endpoints_open: { codes: [], texts: ['id'] },
  inbox_event: { codes: ['source', 'type', 'status'], texts: ['event_id', 'lane', 'reason', 'aside', 'note'] },
  inbox_quarantine: { codes: ['source', 'type', 'reason'], texts: ['event_id', 'lane'] },
  lane: { codes: [], texts: ['key', 'lease_owner'] },
  lane_log: { codes: [], texts: ['lane'] },
  ledger_day: { codes: ['reason', 'debit_account', 'credit_account'], texts: [] },
  mark_lookup: { codes: ['answer'], texts: ['payment_row_id', 'invoice_id'] },
  move: { codes: ['status', 'way'], texts: ['subscription_id', 'customer_id', 'method_id', 'changed_by'] },
  notification: { codes: ['type', 'format', 'status'], texts: ['id', 'subject', 'invoice_id', 'body'] },
  onboarding: {
    codes: ['product_code', 'regions', 'status', 'due'],
    texts: ['reference', 'merchant_id', 'application_id', 'review_message', 'body_sha256', 'created_by'],
  },
  request_budget: { codes: [], texts: ['name'] },
  schema_migration: { codes: [], texts: ['name', 'version'] },
  tax_total: { codes: [], texts: ['tax_calculation_id'] },
  verify_run: { codes: ['outcome'], texts: ['id', 'resumed_from'] },
};

/** Commands that change something or need a person. All other commands must bear an unknown code. */
const CHANGES = new Set([
  ...['init', 'setup', 'migrate', 'rehearse', 'start', 'demo', 'sandbox', 'listen', 'trigger', 'move', 'backfill'],
  ...['refund', 'retry', 'returned', 'erase', 'purge', 'verify', 'shadow', 'completion', 'import customers'],
  ...['webhooks register', 'webhooks delete', 'onboard apply', 'onboard watch', 'onboard company', 'onboard submit'],
  ...['events retry', 'events dismiss', 'reviews resolve', 'notifications replay'],
]);

/** The suffix makes a code unknown, and keeps unique values unique. */
const NEW = '_of_tomorrow';

type Place = { readonly table: string; readonly column: string; readonly type: string; readonly nullable: boolean };

let world: World;
let db: pg.Client;
let visitor: Visitor;
let url: string;
const pages: string[] = [];
const routes: string[] = [];
const commands: (readonly string[])[] = [];

beforeAll(async () => {
  world = await startWorld();
  url = (await world.startDaemon(furnishing(world))).url;
  const books = await furnished(world);
  await world.api('POST', `/v1/payments/${books.paymentId}/refunds`, { amount: 100 }, { 'idempotency-key': 'one' });
  const terms = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
  const link = await world.api('POST', `/v1/invoices/${books.openId}/payment-link`, terms);
  expect(link.status).toBe(201);
  await world.until(
    'the refund is there',
    () => world.list('/v1/refunds'),
    (rows) => rows.length > 0,
  );
  db = new pg.Client({ connectionString: world.databaseUrl });
  await db.connect();
  await allowEverything();
  await addMissingRows(books.invoiceId);
  visitor = await new Visitor(url).login(OPS_KEY);

  const some = async (path: string, field = 'id'): Promise<string[]> =>
    (await world.list<Json>(path)).slice(0, 4).map((row) => String(row[field]));
  const ids: Readonly<Record<string, readonly string[]>> = {
    signups: (await world.query<{ id: string }>('select id from signup limit 1')).map(({ id }) => id),
    customers: await some('/v1/customers', 'customer_id'),
    invoices: await some('/v1/invoices'),
    payments: await some('/v1/payments'),
    refunds: await some('/v1/refunds'),
    events: await some('/v1/events'),
    reviews: await some('/v1/reviews'),
    notifications: await some('/v1/notifications'),
    merchants: ['larch'],
  };
  const named = (path: string): readonly string[] => {
    const [, noun = ''] = /(\w+)\/[:{]/.exec(path) ?? [];
    if (!/[:{]/.test(path)) return [path];
    return (ids[noun] ?? []).map((id) => path.replace(/:\w+|\{\w+\}/, encodeURIComponent(id)));
  };
  const month = new Date().toISOString().slice(0, 7);
  const spec = (await world.api('GET', '/docs-json')).body as { paths: Record<string, Record<string, unknown>> };
  for (const [path, methods] of Object.entries(spec.paths)) {
    // Routes below these paths only pass on what the MoR answers.
    if (methods['get'] === undefined || /\/document$|\/(tax|mor)\/|regions/.test(path)) continue;
    routes.push(...named(path).map((at) => (at.endsWith('trial-balance') ? `${at}?month=${month}` : at)));
  }
  pages.push(...Object.values(books.pages), ...consolePages().flatMap(named));
  const args: Readonly<Record<string, readonly string[]>> = {
    explain: [books.invoiceId],
    'events show': ids['events']?.slice(0, 1) ?? [],
    'notifications show': ids['notifications']?.slice(0, 1) ?? [],
    rebuild: ['--check'],
    'trial-balance': ['--month', month],
  };
  for (const name of await commandsOf((command) => command.commands.length === 0)) {
    if (!CHANGES.has(name)) commands.push([...name.split(' '), ...(args[name] ?? [])]);
  }
}, 300_000);
afterAll(async () => {
  await db?.end();
  await world?.close();
});

/** Rows of the tables that the furnished world leaves empty. */
async function addMissingRows(invoiceId: string): Promise<void> {
  await db.query(
    `insert into onboarding (reference, merchant_id, product_code, regions, status, due, comments, created_by, created_at, updated_at)
     values ('larch', 'mer_1', 'cards', '{GB}', 'pending_requirements', '{bank}', '[]', 'ops', now(), now())`,
  );
  const times = "now() - interval '1 hour', now()";
  await db.query(
    `insert into open_call (id, lane, kind, subject, status, attempts, last_status, next_try_at, created_at)
     values ('out_1', $1, 'report_payment', 'x', 'pending', 3, 503, now() + interval '1 day', now())`,
    [invoiceId],
  );
  await db.query(
    `insert into inbox_quarantine (source, event_id, type, lane, body, body_sha256, reason, second_body, received_at, last_at)
     values ('stripe', 'evt_old1', 'invoice.paid', $1, '{}', 'x', 'timestamp_out_of_tolerance', false, ${times})`,
    [invoiceId],
  );
  await db.query(
    `insert into endpoint_answers (endpoint, hour, status, n) values ('stripe', date_trunc('hour', now()), 200, 1) on conflict do nothing`,
  );
  await db.query(
    `insert into endpoint_refusal (endpoint, at, status, why, address) values ('stripe', now(), 401, 'signature_mismatch', '::1')`,
  );
  await db.query(
    `insert into difference_ack (id, kind, invoice_id, note, by, at)
     select d->>'id', d->>'kind', $1, 'known', 'ops', now() from verify_run, jsonb_array_elements(differences) d limit 1`,
    [invoiceId],
  );
  await db.query(
    `insert into mark_lookup (payment_row_id, invoice_id, entry_id, answer, looked_at)
     select payment_row_id, invoice_id, id, 'not_ready', now() from ledger_entry where reason = 'payment_marked' limit 1 on conflict do nothing`,
  );
}

/** Takes away the database's own checks of codes, as a newer release may change them. */
async function allowEverything(): Promise<void> {
  await db.query('set session_replication_role = replica'); // no trigger refuses a change of audit and ledger
  const checks = await db.query<{ sql: string }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as sql
       from pg_constraint where contype = 'c' and connamespace = 'public'::regnamespace`,
  );
  for (const { sql } of checks.rows) await db.query(sql);
}

async function columns(): Promise<readonly Place[]> {
  const found = await db.query<{ table_name: string; column_name: string; type: string; nullable: boolean }>(
    `select table_name, column_name, udt_name as type, is_nullable = 'YES' as nullable from information_schema.columns
      where table_schema = 'public' and udt_name in ('text', '_text', 'json', 'jsonb') order by 1, 2`,
  );
  return found.rows
    .map((r) => ({ table: r.table_name, column: r.column_name, type: r.type, nullable: r.nullable }))
    .filter(({ table }) => !/^event_body/.test(table));
}

/** Every coded column of the schema. */
async function codedColumns(): Promise<readonly Place[]> {
  const unlisted: Place[] = [];
  const coded = (await columns()).filter((place) => {
    if (place.type.startsWith('json')) return true;
    const row = ROWS.find((r) => r.table === place.table);
    if (row !== undefined) return codedIn(row).includes(place.column);
    const { codes = [], texts = [] } = UNDECLARED[place.table] ?? {};
    if (![...codes, ...texts].includes(place.column)) unlisted.push(place);
    return codes.includes(place.column);
  });
  expect(unlisted).toEqual([]);
  return coded;
}

const AT_ONCE = 4;

type Sql = (column: string, type: string, nullable: boolean) => string;
type Change = { readonly unknown: Sql; readonly known: Sql };

const CHANGE: Readonly<Record<string, Change>> = {
  text: {
    unknown: (c) => `coalesce(${c}, '') || '${NEW}'`,
    known: (c, _, nullable) => (nullable ? `nullif(replace(${c}, '${NEW}', ''), '')` : `replace(${c}, '${NEW}', '')`),
  },
  _text: { unknown: (c) => `array_append(${c}, '${NEW}')`, known: (c) => `array_remove(${c}, '${NEW}')` },
};
/** Every member of a JSON value whose value looks like a code, such as `"status":"open"`. */
const JSON_CHANGE: Change = {
  unknown: (c, type) => `regexp_replace(${c}::text, '("\\w+": ?"[a-z]+([_-][a-z]+)*)"', '\\1${NEW}"', 'g')::${type}`,
  known: (c, type) => `replace(${c}::text, '${NEW}', '')::${type}`,
};

/** Makes every value of the column an unknown code while `act` runs. */
async function withUnknown({ table, column, type, nullable }: Place, act: () => Promise<void>): Promise<void> {
  const { unknown, known } = CHANGE[type] ?? JSON_CHANGE;
  const changed = await db.query(`update ${table} set ${column} = ${unknown(column, type, nullable)}`);
  try {
    if (changed.rowCount === 0) throw new Error(`${table} has no rows: add one`);
    await act();
  } finally {
    await db.query(`update ${table} set ${column} = ${known(column, type, nullable)}`);
  }
}

/** The status, or a gap in the text where a word for a code is missing. */
function judged({ status, text }: { readonly status: number; readonly text: string }): unknown {
  return GAP.exec(text)?.[0] ?? status;
}
const GAP = /.{0,60}(\bundefined\b|\bNaN\b|\[object).{0,60}/;

/** Visits every route and page, and returns each status. */
async function statuses(): Promise<Readonly<Record<string, unknown>>> {
  const visit = async (at: string): Promise<unknown> => {
    if (at.startsWith('/console')) return judged(await visitor.get(at));
    const reply = await fetch(url + at, { headers: { authorization: `Bearer ${OPS_KEY}` } });
    const text = await reply.text();
    return reply.status === 409 && text.includes('newer_format') ? 200 : judged({ status: reply.status, text });
  };
  return looked([...new Set([...routes, ...pages])], visit);
}

async function exitCodes(): Promise<Readonly<Record<string, unknown>>> {
  return looked(
    commands.map((argv) => argv.join(' ')),
    async (line) => {
      const { code, out, err } = await cli(line.split(' '), world.env);
      // These two compare: they report a difference, and still must not break.
      if (/^(doctor|rebuild)/.test(line)) return /Cannot read|undefined/.exec(out + err)?.[0] ?? 0;
      return code === 0 ? (GAP.exec(out)?.[0] ?? 0) : `${code}: ${err.slice(0, 300)}`;
    },
  );
}

/** Looks at all places, several at once. */
async function looked(
  places: readonly string[],
  read: (at: string) => Promise<unknown>,
): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  const left = [...places];
  const worker = async (): Promise<void> => {
    for (let at = left.shift(); at !== undefined; at = left.shift()) seen[at] = await read(at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return seen;
}

/** The looks that differ from the look before. 404: an object of an unknown kind is no dispute, for example. */
function changed(
  was: Readonly<Record<string, unknown>>,
  is: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(is).filter(([at, seen]) => was[at] !== seen && seen !== 404));
}

it('an unknown code in any column of any table fails no list of the API and no page of the console', async () => {
  const failed: Record<string, unknown> = {};
  const before = await statuses();
  for (const place of await codedColumns()) {
    await withUnknown(place, async () => {
      const differences = changed(before, await statuses());
      if (Object.keys(differences).length > 0) failed[`${place.table}.${place.column}`] = differences;
    });
  }
  expect(failed).toEqual({});
}, 600_000);

it('an unknown code in any column of any table fails no reading command', async () => {
  const failed: Record<string, unknown> = {};
  const before = await exitCodes();
  const coded = await codedColumns();
  // All columns of a table at once: each command starts its own connections.
  for (const table of new Set(coded.map((place) => place.table))) {
    const read = async (): Promise<void> => {
      const differences = changed(before, await exitCodes());
      if (Object.keys(differences).length > 0) failed[table] = differences;
    };
    const places = coded.filter((place) => place.table === table);
    await places.reduce<() => Promise<void>>((inner, place) => () => withUnknown(place, inner), read)();
  }
  expect(failed).toEqual({});
}, 600_000);

it('Crossbill shows an item of a newer release with its own code, and leaves its choices to that release', async () => {
  const [item] = await world.list<Json>('/v1/reviews?status=open');
  const path = `/v1/reviews/${String(item?.['id'])}`;
  await db.query(`update review set fact = '{"code":"of-tomorrow","sum":{"minor":"1.5"}}' where id = $1`, [
    item?.['id'],
  ]);
  const shown = (await world.api('GET', path)).body;
  expect(shown).toMatchObject({ kind: item?.['kind'], fact: { code: 'of-tomorrow' }, actions: [], proposed: null });
  expect(String(shown['proposal'])).toContain('of-tomorrow');
});

it('an invoice with a log of a newer release gets 409 from API and console and a sentence from `crossbill explain`, and lists show it', async () => {
  const [payment] = await world.list<Json>('/v1/payments?status=succeeded');
  const invoice = String(payment?.['invoice_id']);
  const rewrite = (to: string): Promise<unknown> =>
    db.query(
      `update lane_log set change = ${to} where lane = $1 and version = (select max(version) from lane_log where lane = $1)`,
      [invoice],
    );
  const refund = (): ReturnType<World['api']> =>
    world.api('POST', `/v1/payments/${String(payment?.['id'])}/refunds`, { amount: 1 }, { 'idempotency-key': 'late' });

  await rewrite(`(change::jsonb || '{"f":99}')::json`);
  expect((await world.api('GET', `/v1/invoices/${invoice}`)).body).toMatchObject({ code: 'newer_format' });
  expect(await refund()).toMatchObject({ status: 409, body: { code: 'newer_format' } });
  expect((await visitor.get(`/console/invoices/${invoice}`)).status).toBe(409);
  const explained = await cli(['explain', invoice, '--json'], world.env);
  expect([explained.code, JSON.parse(explained.out)]).toMatchObject([1, { error: { code: 'newer_format' } }]);
  expect((await world.list<Json>('/v1/invoices?limit=100')).map((row) => row['id'])).toContain(invoice);

  await rewrite(`'{}'`);
  expect(await world.api('GET', `/v1/invoices/${invoice}`)).toMatchObject({
    status: 409,
    body: { code: 'log_unreadable' },
  });
  expect(await refund()).toMatchObject({ status: 409, body: { code: 'log_unreadable' } });
});

// The log of an event, a stuck log and secrets, end to end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sign } from '../support/builders/signing.js';
import { type Json, OPS_KEY, READ_KEY, SIGNUP_KEY, type World, startWorld } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { ENDPOINTS, type EndpointName, deliver, eventStatus, post, secretOf } from './support/endpoint.js';
import { deafMor, newPaid, openRenewal, refund, tellSucceeded } from './support/story.js';

// Following one event: its name is in each log line about it.
describe('a renewal', () => {
  let world: World;
  let invoiceId: string;
  let event: string;

  beforeAll(async () => {
    world = await startWorld();
    const daemon = await world.startDaemon();
    const s = await world.paidSubscriber();
    await deafMor(world);
    invoiceId = await openRenewal(world, s);
    await world.shows(`/v1/invoices/${invoiceId}`, (r) =>
      JSON.stringify(r['timeline'] ?? []).includes('invoice.finalized'),
    );
    const said = { customerId: s.customerId, invoiceId, amount: 2990 };
    event = `mor_payments:${await tellSucceeded(world, newPaid(), said)}`;
    await world.invoice(invoiceId, 'paid');
    await daemon.stop();
  });
  afterAll(async () => {
    await world.close();
  });

  it('each log line about a renewal at level info and above carries a stable event code', () => {
    const loud = world.logLines.map((l) => JSON.parse(l) as Json).filter((l) => l['level'] !== 'debug');
    expect(loud.map((l) => l['event'])).toContain('daemon.ready');
    expect(loud.filter((l) => !/^[a-z]+\.[a-z_]+$/.test(String(l['event'])))).toEqual([]);
  });

  it('at level info, one line says that the invoice is expected and one that it is paid, each with its id and amount', () => {
    const lines = world.logLines.map((l) => JSON.parse(l) as Json).filter((l) => l['level'] === 'info');
    const about = lines.filter((l) => l['invoice'] === invoiceId);
    expect(about).toMatchObject([
      { event: 'invoices.opened', amount: 2990, currency: 'eur' },
      { event: 'invoices.settled', amount: 2990, currency: 'eur' },
    ]);
  });

  it('each log line about a payment event names the event, from its delivery to the last call to Stripe', () => {
    const lines = world.logLines.map((l) => JSON.parse(l) as Json);
    const about = lines.filter(
      (l) => l['delivery'] === event || (l['events'] as string[] | undefined)?.includes(event),
    );
    expect(about.map((l) => (l['msg'] === 'call' ? l['call'] : l['msg'])).sort()).toEqual([
      'attach_payment',
      'event decided',
      'event stored',
      'read-invoice',
      'report_payment',
    ]);
    for (const line of about) expect(line['invoice']).toBe(invoiceId);
    const calls = lines.filter((l) => l['msg'] === 'call' || l['event'] === 'calls.failed');
    for (const call of calls) expect([call['call'], call['invoice']]).toEqual([expect.any(String), expect.any(String)]);
  });
});

// The target of the log cannot stop the daemon: a full disk, and a reader standing still, from its start to its end.
describe('a daemon unable to write its log', () => {
  function fill(fifo: number): void {
    try {
      for (;;) writeSync(fifo, 'x'.repeat(1024));
    } catch {
      // full
    }
  }
  /** Each refused delivery is a line of the log at this level. */
  const DELIVERIES = 100;

  const folder = mkdtempSync(join(tmpdir(), 'crossbill-log-'));
  let world: World;
  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld();
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function livesOn(stdout: number, linesAreLost: boolean): Promise<void> {
    const daemon = await DaemonProcess.on({ ...world.env, LOG_LEVEL: 'trace' }, [], stdout);
    const { url } = daemon;
    await daemon.start();
    for (let n = 0; n < DELIVERIES; n++) {
      const reply = await fetch(`${url}/webhooks/stripe`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(60_000),
      });
      expect(reply.status).toBe(400);
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const lost = Number(/^crossbill_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    if (linesAreLost) expect(lost).toBeGreaterThan(0);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await daemon.end('SIGTERM')).toBe(0);
  }

  it('a daemon with a full log disk keeps answering, counts the dropped lines, and exits on SIGTERM', async () => {
    const full = openSync('/dev/full', 'w');
    await livesOn(full, true);
    closeSync(full);
  });

  it('a daemon with a stuck log reader keeps answering, and exits on SIGTERM', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(fifo, 'w');
    // Nothing more fits in.
    const filler = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    fill(filler);
    await livesOn(writer, false);
    for (const fd of [reader, writer, filler]) closeSync(fd);
  });
});

// No secret ever reaches a log line or a table, in any request, refusal, forgery or failure.
describe('secrets', () => {
  let world: World;
  /** The texts to find nowhere, with a name for the report. */
  const canaries = new Map<string, string>();
  /** The API's answers. */
  const replies: string[] = [];
  const canary = (name: string): string => {
    const value = `canary${name.replaceAll(/\W/g, '')}${randomUUID().replaceAll('-', '')}`;
    canaries.set(name, value);
    return value;
  };

  beforeAll(async () => {
    const notifySecret = Buffer.from(canary('notify bytes').slice(-32)).toString('base64');
    canaries.set('notify secret', notifySecret);
    world = await startWorld({
      BILLING_DRAFT_POLICY: 'finalize',
      LOG_LEVEL: 'trace',
      MOR_RELAY_URL: 'http://127.0.0.1:9/relay',
      MOR_RELAY_SECRET: `whsec_${canary('relay secret')}`,
      NOTIFY_URL: `http://127.0.0.1:9/${canary('notify url')}`,
      NOTIFY_SECRETS: `whsec_${notifySecret}`,
      OIDC_ISSUER: 'http://127.0.0.1:9/realm',
      OIDC_CLIENT_ID: 'crossbill',
      OIDC_CLIENT_SECRET: canary('oidc client secret'),
      OIDC_ROLES: 'staff=read',
    });
    const { secrets } = world.sandbox;
    for (const [name, value] of [
      ['stripe api key', secrets.stripeApiKey],
      ['stripe webhook secret', secrets.stripeWebhookSecret],
      ['payment webhook secret', secrets.paymentWebhookSecret],
      ['event webhook secret', secrets.eventWebhookSecret],
      ['merchant secret', secrets.merchant.clientSecret],
      ['partner secret', secrets.partner.clientSecret],
      ['ops key', OPS_KEY],
      ['signup key', SIGNUP_KEY],
      ['read key', READ_KEY],
      ['database password', new URL(world.databaseUrl).password],
    ] as const) {
      if (value !== '') canaries.set(name, value);
    }
    await world.startDaemon();
    const { api } = world;
    const heard: World['api'] = async <T = Json>(...asked: Parameters<World['api']>) => {
      const reply = await api<T>(...asked);
      // The one secret handed over on purpose, to its requester.
      replies.push(
        JSON.stringify(reply.body, (name, value: unknown) => (name === 'client_secret' ? undefined : value)),
      );
      return reply;
    };
    world.api = heard;
  });
  afterAll(() => world.close());

  it('no log line, database column, page or API response contains a secret after every kind of request and failure', async () => {
    const s = await world.paidSubscriber({ amount: 1000 });
    await world.invoice(await world.renew(s.subscriptionId), 'paid');
    const key = { 'idempotency-key': 'k' };
    const tryOut = () => world.api('POST', '/v1/signups', { kind: 'trial', customer: { id: s.customerId } }, key);
    const trial = await tryOut();
    canaries.set('client secret', String(trial.body['client_secret']));
    expect((await tryOut()).body['client_secret']).toBe(trial.body['client_secret']);

    const card = await world.api('POST', `/v1/customers/${s.customerId}/payment-method`, {}, key);
    canaries.set('client secret of another card', String(card.body['client_secret']));

    // Peers with refusals and an echo of their input.
    const echo = {
      code: 'echo',
      message: `you sent ${world.sandbox.secrets.stripeApiKey} ${String(trial.body['client_secret'])}`,
    };
    await world.control('POST', '/tokens/revoke', {});
    for (const path of ['/v1/invoices/', '/v1/payment_records']) {
      await world.fault({
        side: 'stripe',
        path,
        times: 1,
        action: 'status',
        status: 400,
        body: { error: { ...echo, type: 'invalid_request_error' } },
      });
    }
    await world.fault({
      side: 'mor',
      path: '/api/payments',
      times: 1,
      action: 'status',
      status: 422,
      body: { ...echo, errors: [{ field: 'amount', message: world.sandbox.secrets.merchant.clientSecret }] },
    });
    await world.api('POST', '/v1/signups', {
      kind: 'payment',
      customer: { id: s.customerId },
      amount: 100,
      currency: 'eur',
    });
    await world.fault({ side: 'mor', path: '/oauth2/token', times: 1, action: 'garble' });
    await world.renew(s.subscriptionId);
    const paid = newPaid();
    const id = await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId: 'in_none', amount: 1000 });
    await eventStatus(world, 'mor_payments', id);
    await refund(world, paid.paymentId, { amount: 100 }, 'no-such-payment-at-the-mor');

    // A person types a card number into a reason and a note.
    canaries.set('card number', '4242 4242 4242 4242');
    const typed = 'of card 4242 4242 4242 4242';
    await refund(world, paid.paymentId, { amount: 50, reason: typed }, 'card-in-the-reason');
    const stored = await world.query('select reason from refund where amount = 50', []);
    expect(stored).toEqual([{ reason: 'of card [masked]' }]);
    const [item] = await world.list('/v1/reviews?status=open');
    const dismissed = { resolution: 'dismiss', note: typed };
    expect(await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, dismissed)).toMatchObject({
      body: { note: 'of card [masked]' },
    });

    // Forged, stale, malformed: their signatures and headers are nobody's to keep.
    for (const endpoint of Object.keys(ENDPOINTS) as EndpointName[]) {
      const forged = sign('{}', canary(`forger ${endpoint}`));
      canaries.set(`forged signature ${endpoint}`, forged.split('v1=')[1] ?? '');
      const url = `${world.daemons[0]?.url ?? ''}${ENDPOINTS[endpoint].path}`;
      await post(url, '{}', {
        [ENDPOINTS[endpoint].header]: forged,
        authorization: `Bearer ${canary(`bearer ${endpoint}`)}`,
      });
      await post(url, '{}', { [ENDPOINTS[endpoint].header]: `t=1,v1=${canary(`malformed ${endpoint}`)}` });
      const body = JSON.stringify({ id: `evt_${endpoint}`, type: 'x', created: 1 });
      const good = sign(body, secretOf(world, endpoint));
      canaries.set(`good signature ${endpoint}`, good.split('v1=')[1] ?? '');
      await post(url, body, { [ENDPOINTS[endpoint].header]: good, cookie: canary(`cookie ${endpoint}`) });
      await deliver(world, endpoint, body, { t: 1 });
    }
    for (const path of ['/v1/audit', '/v1/payments/x/refunds', '/nowhere', '/console']) {
      await world.api('POST', `${path}?key=1`, { amount: 1 }, { authorization: `Bearer ${canary(`key ${path}`)}` });
    }

    // Log in at the console, lose the database's connections, start with wrong settings.
    const form = new URLSearchParams({ key: OPS_KEY });
    const url = world.daemons[0]?.url ?? '';
    const login = await fetch(`${url}/console/login`, { method: 'POST', body: form, redirect: 'manual' });
    const cookie = /crossbill_console=([^;]+)/.exec(login.headers.getSetCookie().join())?.[1] ?? '';
    canaries.set('session signature', cookie.split('.')[1] ?? '');
    const pages: [string, string][] = [];
    for (const path of [
      '/console',
      '/console/settings',
      '/console/sessions',
      '/console/sso',
      '/docs',
      '/docs-json',
      '/metrics',
      '/readyz',
    ]) {
      const reply = await fetch(url + path, {
        headers: { cookie: `crossbill_console=${cookie}` },
        redirect: 'manual',
      });
      pages.push([path, `${JSON.stringify([...reply.headers])} ${await reply.text()}`]);
    }
    await world.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await world.until('it works again', () => world.api('GET', '/readyz'), { status: 200 });
    const wrong = canary('a wrong setting');
    const refused = await world
      .startDaemon({ STRIPE_API_KEY: wrong, STRIPE_API_BASE: `ftp://${wrong}` })
      .catch((e: unknown) => e);
    expect(String(refused)).toContain('STRIPE_API_BASE');
    world.logLines.push(String(refused));

    // Tokens are in the sandbox's own memory; the log must not hold anything of the kind.
    expect(world.logLines.length).toBeGreaterThan(100);
    const found: string[] = [];
    const scan = (where: string, text: string): void => {
      for (const [name, value] of canaries)
        if (text.includes(value)) found.push(`${name} in ${where}: ${text.slice(0, 200)}`);
      if (/Bearer [\w-]{16,}|(pi|seti)_\w+_secret_\w{4}|v1=[0-9a-f]{64}/.test(text))
        found.push(`a secret’s shape in ${where}: ${text.slice(0, 200)}`);
    };
    for (const line of world.logLines) scan('the log', line);

    const columns = await world.query<{ table_name: string; column_name: string; data_type: string }>(
      `select table_name, column_name, data_type from information_schema.columns
        where table_schema = 'public' and data_type in ('text', 'character varying', 'character', 'bytea', 'jsonb', 'json', 'ARRAY')`,
    );
    expect(columns.length).toBeGreaterThan(50);
    for (const { table_name: table, column_name: column, data_type: type } of columns) {
      const shown = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`;
      const values = await world.query<{ value: string }>(
        `select distinct ${shown} as value from "${table}" where "${column}" is not null`,
      );
      for (const { value } of values) scan(`${table}.${column}`, value);
    }
    for (const [path, text] of pages) scan(path, text);
    expect(pages.filter(([, text]) => text.length > 500).length).toBeGreaterThan(4);
    for (const reply of replies) scan('an answer of the API', reply);
    expect(replies.length).toBeGreaterThan(8);
    const reviews = await world.api<{ data: Json[] }>('GET', '/v1/reviews?limit=100');
    scan('the review items', JSON.stringify(reviews.body));
    expect(found).toEqual([]);
  });
});

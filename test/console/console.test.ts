// The console over HTTP: everybody's rights, no effect of another site's form, and no markup from outside.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { COOKIE } from '../../src/frames/console/session.js';
import { type Json, OPS_KEY, READ_KEY, startWorld, type World } from '../support/rigs/world.js';
import { Visitor } from './visitor.js';

let world: World;
let url: string;
let invoiceId: string;
let paymentId: string;

beforeAll(async () => {
  world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  url = (await world.startDaemon()).url;
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  invoiceId = await world.renew(s.subscriptionId);
  const paid = await world.invoice(invoiceId, 'paid');
  paymentId = String((paid['payments'] as Json[])[0]?.['id']);
});
afterAll(() => world.close());

const visitor = (): Visitor => new Visitor(url);
const ops = (): Promise<Visitor> => visitor().login(OPS_KEY);
const audit = async (action: string): Promise<Json[]> =>
  (await world.api<{ data: Json[] }>('GET', `/v1/audit?action=${action}`)).body.data;

it("the console's login exchanges an API key for a cookie closed to scripts and other sites", async () => {
  const v = visitor();
  const seen = await v.post('/console/login', { key: OPS_KEY });
  expect(seen.status).toBe(303);
  expect(seen.headers.get('location')).toBe('/console');
  const cookie = seen.headers.getSetCookie().join();
  for (const trait of ['HttpOnly', 'SameSite=Strict', 'Path=/console', 'Max-Age=28800'])
    expect(cookie).toContain(trait);
  expect(cookie).not.toContain(OPS_KEY);
  expect((await v.get('/console')).status).toBe(200);
  expect((await audit('console.login'))[0]).toMatchObject({ actor: 'ops', role: 'ops', outcome: 'done' });
});

it('the console redirects a visitor without a session to the login form, and back to the requested page afterwards', async () => {
  const v = visitor();
  const sent = await v.get(`/console/invoices/${invoiceId}`);
  expect(sent.status).toBe(303);
  const form = sent.headers.get('location') ?? '';
  expect(form).toBe(`/console/login?to=${encodeURIComponent(`/console/invoices/${invoiceId}`)}`);
  expect((await v.get(form)).text).toContain(`value="/console/invoices/${invoiceId}"`);
  const back = await v.post('/console/login', { key: READ_KEY, to: `/console/invoices/${invoiceId}` });
  expect(back.headers.get('location')).toBe(`/console/invoices/${invoiceId}`);
});

it.each([
  'https://evil.example/',
  '//evil.example',
  '/console@evil.example',
  '/console/../v1',
  '/console/%2e%2E/v1',
  '/\\evil',
  '/\t/evil.example',
  '/consoles',
  `/console/${'x'.repeat(1_000)}`,
])("the console's login redirects to no address outside the console: %s", async (to) => {
  const seen = await visitor().post('/console/login', { key: OPS_KEY, to });
  expect(seen.headers.get('location')).toBe('/console');
});

it("the console refuses a session cookie with changed content, with another session's signature, or sent twice", async () => {
  const v = await ops();
  const [body = '', mac = ''] = (v.cookie ?? '').split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Json;
  const later = Buffer.from(JSON.stringify({ ...claims, e: Number(claims['e']) + 1 })).toString('base64url');
  const other = await visitor().login(READ_KEY);
  const asOps = Buffer.from(
    JSON.stringify({
      ...(JSON.parse(Buffer.from(other.cookie?.split('.')[0] ?? '', 'base64url').toString()) as Json),
      n: 'ops',
    }),
  ).toString('base64url');
  for (const forged of [
    `${later}.${mac}`,
    `${asOps}.${other.cookie?.split('.')[1]}`,
    `${body}.`,
    body,
    'x.y',
    `${body}.${mac}.z`,
    `${body}.${mac}; ${COOKIE}=${body}.${mac}`,
  ]) {
    const f = visitor();
    f.cookie = forged;
    expect((await f.get('/console')).status).toBe(303);
  }
});

it("the console's login slows a client address after five wrong keys, and the audit trail has these five tries", async () => {
  const other = await world.startDaemon(); // each daemon counts tries: the others of these tests stay undisturbed
  const v = new Visitor(other.url);
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await v.post('/console/login', { key: `wrong-${i}` })).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
  const slowed = await v.post('/console/login', { key: 'wrong-again' });
  expect(slowed.status).toBe(429);
  expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(slowed.text).not.toContain('wrong-again');
  const right = await v.post('/console/login', { key: OPS_KEY });
  expect([right.status, right.headers.get('location')]).toEqual([303, '/console']); // others lock nobody out
  expect((await audit('console.login')).filter((a) => a['outcome'] === 'denied')).toHaveLength(5);
});

it("the console's login believes a forwarded client address only from a trusted proxy", async () => {
  const tries = async (visitor: Visitor, from: (index: number) => string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      const headers = { 'x-forwarded-for': from(i) };
      statuses.push((await visitor.post('/console/login', { key: `wrong-${i}` }, headers)).status);
    }
    return statuses;
  };
  const bare = new Visitor((await world.startDaemon()).url);
  expect(await tries(bare, (i) => `203.0.113.${i}`)).toEqual([401, 401, 401, 401, 401, 429]);

  const trusted = await world.startDaemon({ TRUSTED_PROXIES: '127.0.0.0/8, ::1, 10.1.0.0/16' });
  const behind = new Visitor(trusted.url);
  // The client wrote the first itself; the second is the outer proxy's peer, the third the inner one's.
  expect(await tries(behind, (i) => `192.0.2.${i}, 203.0.113.7, 10.1.2.3`)).toEqual([401, 401, 401, 401, 401, 429]);
  expect(await tries(behind, (i) => `203.0.113.${i + 8}`)).toEqual([401, 401, 401, 401, 401, 401]);
  const [row] = (await audit('console.login')).filter((a) => a['source'] === '203.0.113.7');
  expect(row).toMatchObject({ outcome: 'denied', status: 401 });
  await behind.post('/console/login', { key: 'wrong' }, { 'x-forwarded-for': 'no address\u0009at all' });
  expect((await audit('console.login')).map((a) => a['source'])).not.toContain('no address\u0009at all');
});

it('the daemon redirects a browser from / to the console', async () => {
  const seen = await visitor().get('/');
  expect([seen.status, seen.headers.get('location')]).toEqual([303, '/console']);
});

it('a console session works on every replica, and ends when its API key changes', async () => {
  const v = await ops();
  const replica = await world.startDaemon();
  const rotated = await world.startDaemon({ API_KEYS: `ops:ops:another-${OPS_KEY},viewer:read:${READ_KEY}` });
  const at = async (place: string): Promise<number> => {
    const there = new Visitor(place);
    there.cookie = v.cookie;
    return (await there.get('/console')).status;
  };
  expect(await at(replica.url)).toBe(200);
  expect(await at(rotated.url)).toBe(303);
});

it("the console's logout ends the session on every replica, even for a copy of the session cookie", async () => {
  const v = await ops();
  const replica = await world.startDaemon();
  const copies = [new Visitor(url), new Visitor(replica.url)];
  for (const copy of copies) {
    copy.cookie = v.cookie;
    expect((await copy.get('/console')).status).toBe(200);
  }
  const other = await ops();
  const out = await v.post('/console/logout', await v.form('/console', '/console/logout'));
  expect(out.headers.get('location')).toBe('/console/login');
  expect(v.cookie).toBeNull();
  expect((await v.get('/console')).status).toBe(303);
  for (const copy of copies) expect((await copy.get('/console')).status).toBe(303);
  expect((await other.get('/console')).status).toBe(200); // another login with the same key goes on
});

it('each console page forbids inline scripts, inline styles and caching', async () => {
  const v = await ops();
  const lists = 'invoices payments refunds reviews events customers deliveries find ledger audit verify settings'.split(
    ' ',
  );
  const paths = ['', ...lists.map((name) => `/${name}`)];
  for (const path of [
    ...paths,
    `/invoices/${invoiceId}`,
    `/payments/${paymentId}`,
    '/nowhere',
    '/invoices/in_none',
    '/disputes/dp_none',
  ]) {
    const { status, headers, text } = await v.get(`/console${path}`);
    expect([path, status]).toEqual([path, /no(where|ne)$/.test(path) ? 404 : 200]);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i);
    expect(text).toContain('<html lang="en">');
    expect(text.match(/<h1>/g)).toHaveLength(1);
  }
});

it('no console page shows a secret, not even the page of settings', async () => {
  const v = await ops();
  const text = (await v.get('/console/settings')).text.replaceAll('<wbr />', '');
  expect(text).toContain('STRIPE_WEBHOOK_SECRETS');
  for (const [name, value] of Object.entries(world.env)) {
    if (!/SECRET|_KEY/.test(name)) continue;
    for (const part of value.split(/[,:]/).filter((p) => p.length > 12)) expect(text).not.toContain(part);
  }
  expect(text).not.toContain(world.databaseUrl);
});

it("at a refresh the console sends only the page's live part, or 304 without a body if nothing changed", async () => {
  const v = await ops();
  const path = `/console/invoices/${invoiceId}`;
  const part = await v.get(path, { 'x-console-part': 'live' });
  expect(part.text).not.toContain('<html');
  const tag = part.headers.get('etag') ?? '';
  expect((await v.get(path, { 'x-console-part': 'live', 'if-none-match': tag })).status).toBe(304);
  expect((await visitor().get(path, { 'x-console-part': 'live' })).status).toBe(401);
});

it("browsers cache the console's static files for a year, since each file name contains a hash of the content", async () => {
  const page = (await visitor().get('/console/login')).text;
  const files = [...page.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(files.length).toBeGreaterThanOrEqual(3);
  for (const file of files) {
    const { status, headers } = await visitor().get(file);
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
  }
  expect((await visitor().get(`/console/assets/0/${files[0]?.split('/').at(-1)}`)).headers.get('cache-control')).toBe(
    'no-store',
  );
  expect((await visitor().get('/console/assets/0/..%2fassets.ts')).status).toBe(404);
});

const HOSTILE = `<script>alert(1)</script>"'\`&\u202Egnp.exe`;

it('each console page shows hostile text as plain text, without HTML or a reversed reading direction', async () => {
  const type = `payment.${HOSTILE}`;
  const sent = await world.control('POST', '/mor/payment-events', {
    type,
    data: { id: HOSTILE },
    id: `evt_${HOSTILE}`,
  });
  expect(sent.status).toBe(201);
  const seen = await world.until(
    'the event is stored',
    () => world.api<{ data: Json[] }>('GET', '/v1/events?source=mor_payments'),
    (r) => r.body.data.some((e) => String(e['event_id']).startsWith('evt_<')),
  );
  const event = seen.body.data.find((e) => String(e['event_id']).startsWith('evt_<'));
  const v = await ops();
  for (const path of ['/console', '/console/events', `/console/events/${String(event?.['id'])}`]) {
    const { status, text } = await v.get(path);
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toContain('<script>alert');
    expect(text).not.toContain('\u202E');
  }
  const list = await v.get('/console/events');
  expect(list.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&#96;&amp;[U+202E]gnp.exe');
});

it('the console escapes hostile text in a filter, an error and a search', async () => {
  const v = await ops();
  const q = encodeURIComponent(`"><script>alert(1)</script>`);
  for (const path of [
    `/invoices?customer_id=${q}`,
    `/find?q=${q}`,
    `/invoices/${q}`,
    `/events?status=${q}`,
    `/invoices?cursor=${q}`,
  ]) {
    const { status, text } = await v.get(`/console${path}`);
    expect(status).toBeLessThan(500);
    expect(text).not.toContain('<script>alert');
  }
});

it("the console's search finds invoices, payments, refunds, events and customers by their ids", async () => {
  const v = await ops();
  const payment = (await world.api('GET', `/v1/payments/${paymentId}`)).body;
  const to = async (text: string): Promise<string | null> =>
    (await v.get(`/console/find?q=${encodeURIComponent(text)}`)).headers.get('location');
  expect(await to(invoiceId)).toBe(`/console/invoices/${invoiceId}`);
  expect(await to(` ${paymentId} `)).toBe(`/console/payments/${paymentId}`);
  const charge = await v.get(`/console/find?q=${String(payment['processor_charge_id'])}`); // it is of a payment and of an invoice
  for (const path of [`/payments/${paymentId}`, `/invoices/${invoiceId}`])
    expect(charge.text).toContain(`/console${path}`);
  expect(await to(String(payment['customer_id']))).toBe(`/console/customers/${String(payment['customer_id'])}`);
  expect((await v.get('/console/find?q=nothing')).status).toBe(404);
});

// The console behind proxies that write other headers than the browser did, over plain http, and by links into it.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Json, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { fieldsOf, Visitor } from './visitor.js';

const OWN = 'https://billing.example.com';
let world: World;
let url: string;

beforeAll(async () => {
  world = await startWorld({ CONSOLE_URL: OWN, TRUSTED_PROXIES: '127.0.0.0/8, ::1' });
  url = (await world.startDaemon()).url;
});
afterAll(() => world.close());

const login = async (headers: Record<string, string>, at = url): Promise<{ status: number; text: string }> =>
  new Visitor(at).post('/console/login', { key: OPS_KEY, to: '/console' }, headers);

it("behind a proxy that rewrites Host, the console takes its own pages' forms by CONSOLE_URL or the forwarded host", async () => {
  expect((await login({ origin: OWN })).status).toBe(303);
  const forwarded = { origin: 'https://other.example.com', 'x-forwarded-host': 'other.example.com:443' };
  expect((await login(forwarded)).status).toBe(303);
  const v = new Visitor(url);
  const { text } = await v.login(OPS_KEY).then(() => v.get('/console'));
  const form = fieldsOf(text, '/console/logout');
  const foreign = await v.post('/console/logout', form, { origin: 'https://elsewhere.example' });
  expect([foreign.status, foreign.text.includes('set CONSOLE_URL')]).toEqual([403, true]);
  expect((await v.post('/console/logout', form, { origin: OWN })).status).toBe(303);
});

it.each([
  ['another site', { origin: 'https://elsewhere.example' }, true],
  ['the own host over plain http', { origin: 'http://billing.example.com' }, true],
  ['the own host at another port', { origin: `${OWN}:8443` }, true],
  ['no site at all', { origin: 'null' }, true],
  ['another site, as a newer browser says it', { origin: OWN, 'sec-fetch-site': 'cross-site' }, false],
])('behind a proxy that rewrites Host, the console refuses a login form of %s', async (_, headers, hints) => {
  const seen = await login(headers);
  expect([seen.status, seen.text.includes('set CONSOLE_URL')]).toEqual([403, hints]);
});

it('without a trusted proxy, the forwarded host does not make a form the console’s own', async () => {
  const bare = await world.startDaemon({ CONSOLE_URL: '', TRUSTED_PROXIES: '' });
  const headers = { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' };
  expect((await login(headers, bare.url)).status).toBe(403);
});

it('in production over plain http, the login says that it needs https, and makes no session the browser would drop', async () => {
  const plain = { NODE_ENV: 'production', CONSOLE_URL: '' };
  const { url: at } = await world.startDaemon(plain);
  const sessions = async (): Promise<number> => (await world.query('select 1 from console_session')).length;
  const before = await sessions();
  const seen = await login({ origin: 'http://10.0.0.5:3000', 'x-forwarded-host': '10.0.0.5:3000' }, at);
  expect([seen.status, seen.text.includes('https')]).toEqual([400, true]);
  expect(await sessions()).toBe(before);
  expect(world.logLines.filter((line) => line.includes('console.plain_http'))).toHaveLength(1);
  const behindTls = { origin: 'https://10.0.0.5:3000', 'x-forwarded-host': '10.0.0.5:3000' };
  expect((await login(behindTls, at)).status).toBe(303);
  expect((await login({}, at)).status).toBe(303); // on this machine a browser keeps the cookie
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.8:54321', '203.0.113.8'],
  ['203.0.113.9:1, 127.0.0.1:2', '203.0.113.9'],
  ['[2001:db8::7]:443', '2001:db8::7'],
  ['"[2001:db8::8]:443"', '2001:db8::8'],
  ['[2001:db8::9]', '2001:db8::9'],
  ['2001:db8::a, [::1]:80', '2001:db8::a'],
  ['::ffff:203.0.113.10', '203.0.113.10'],
  ['unknown', '127.0.0.1'],
])('the audit trail names the client of X-Forwarded-For: %s as %s', async (header, source) => {
  await new Visitor(url).post('/console/login', { key: 'wrong' }, { 'x-forwarded-for': header });
  await world.until(
    'the refused login in the audit trail',
    async () => (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=console.login')).body.data[0],
    { source },
  );
});

it.each([
  '/console/payments/pay-0190f2c4',
  '/console/payments/pay_1.2',
  `/console/customers/${encodeURIComponent("o'neil (x)/y:z@é")}`,
  '/console/payments?from=2026-01-01T00:00:00Z&q=a@b,c',
])('a visitor of %s without a session gets to it after the login', async (page) => {
  const v = new Visitor(url);
  const form = (await v.get(page)).headers.get('location') ?? '';
  const to = fieldsOf((await v.get(form)).text, '/console/login')['to'] ?? '';
  const back = await v.post('/console/login', {
    key: OPS_KEY,
    to: to.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
  });
  expect(back.headers.get('location')).toBe(page);
});

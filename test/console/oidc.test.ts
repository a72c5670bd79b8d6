// Signing in to the console at a real identity provider, a separate process, by OpenID Connect.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { type Json, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { findChromium, openBrowser } from './browser.js';
import { type Seen, Visitor } from './visitor.js';

const SECRET = 'client-secret-of-the-console-0123456789';
const STALE = 'This sign-in was used already, took too long, or began in another window';

let provider: ChildProcess;
let issuer: string;
let world: World;
let url: string;

/** A browser: keeps the cookies of every host, and follows redirects. */
class Browser {
  readonly jar = new Map<string, Map<string, string>>();

  async get(to: string): Promise<Seen> {
    const { host, pathname } = new URL(to);
    const cookies = this.jar.get(host) ?? new Map<string, string>();
    this.jar.set(host, cookies);
    // The console's session goes to its own pages alone, never where another site has just led to.
    const sent = [...cookies].filter(([name]) => name !== 'crossbill_console' || pathname !== '/console/sso/callback');
    const cookie = sent.map(([name, value]) => `${name}=${value}`).join('; ');
    const res = await fetch(to, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of res.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: res.status, headers: res.headers, text: await res.text() };
  }

  /** Follows redirects up to a matching address, without going there; without a pattern, to the last page. */
  async follow(from: string, until: RegExp = /^$/): Promise<{ at: string; seen: Seen | null }> {
    for (let at = from; ;) {
      if (until.test(at)) return { at, seen: null };
      const seen = await this.get(at);
      const next = seen.headers.get('location');
      if (next === null) return { at, seen };
      at = new URL(next, at).href;
    }
  }

  async signIn(base = url, to = '/console'): Promise<Seen> {
    const { seen } = await this.follow(`${base}/console/sso?to=${encodeURIComponent(to)}`);
    if (seen === null) throw new Error('never');
    return seen;
  }

  cookie(base = url): string | undefined {
    return this.jar.get(new URL(base).host)?.get('crossbill_console');
  }

  visitor(base = url): Visitor {
    const visitor = new Visitor(base);
    visitor.cookie = this.cookie() ?? null;
    return visitor;
  }
}

const as = (who: string): Promise<unknown> => fetch(`${issuer}/_as/${who}`);
const audit = async (action: string): Promise<Json[]> =>
  (await world.api<{ data: Json[] }>('GET', `/v1/audit?action=${action}`)).body.data;
const toCallback = /\/console\/sso\/callback\?/;

beforeAll(async () => {
  provider = spawn(process.execPath, ['test/support/fakes/oidc-provider.mjs', SECRET], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  if (provider.stdout === null) throw new Error('no output');
  [issuer] = (await once(createInterface(provider.stdout), 'line')) as [string];
  world = await startWorld({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: 'crossbill',
    OIDC_CLIENT_SECRET: SECRET,
    OIDC_ROLES: 'finance=read, billing-ops=ops',
    OIDC_EMAIL_DOMAIN: 'example.com',
  });
  url = (await world.startDaemon()).url;
});
beforeEach(() => as('ada'));
afterAll(async () => {
  await world.close();
  provider.stdin?.end();
});

it("a sign-in at the identity provider gives a person the highest role of the person's groups and opens the requested page", async () => {
  const browser = new Browser();
  expect((await browser.get(`${url}/console/login`)).text).toContain(`Sign in at ${new URL(issuer).host}`);
  const seen = await browser.signIn(url, '/console/reviews');
  expect([seen.status, seen.headers.get('refresh')]).toEqual([200, '0;url=/console/reviews']);
  const line = seen.headers.getSetCookie().find((c) => c.startsWith('crossbill_console=')) ?? '';
  for (const trait of ['HttpOnly', 'SameSite=Strict', 'Path=/console', 'Max-Age=28800']) expect(line).toContain(trait);
  const ops = await browser.visitor().get('/console/audit');
  expect(ops.status).toBe(200);
  expect(ops.text).toContain('ada@example.com <span class="dim">(ops)</span>');
  await as('kei');
  const reader = new Browser();
  await reader.signIn();
  expect((await reader.visitor().get('/console')).status).toBe(200);
  expect((await reader.visitor().get('/console/audit')).status).toBe(403);
});

it('the audit trail names the person after a sign-in at the identity provider', async () => {
  const browser = new Browser();
  await browser.signIn();
  const v = browser.visitor();
  const other = await new Visitor(url).login(OPS_KEY);
  const own = /\/console\/sessions\/[\w-]+\/end/.exec((await v.get('/console/sessions')).text)?.[0] ?? '';
  await v.post(own, await v.form('/console/sessions', own));
  expect((await audit('session.end'))[0]).toMatchObject({ actor: 'ada@example.com', role: 'ops', outcome: 'done' });
  expect((await other.get('/console')).status).toBe(303);
  const form = await v.form('/console', '/console/logout');
  expect((await v.post('/console/logout', form)).status).toBe(303);
  expect((await audit('console.logout'))[0]).toMatchObject({ actor: 'ada@example.com' });
  expect((await browser.visitor().get('/console')).status).toBe(303);
  expect((await audit('console.login')).filter((a) => a['actor'] === 'ada@example.com')[0]).toMatchObject({
    role: 'ops',
    detail: { via: 'sso' },
  });
});

it.each([
  ['comes from a provider that sends no groups', 'silent', 'Let it send the claim groups', 'silent@example.com', 403],
  ['is in too many groups to send', 'many', 'more groups than the identity provider can send', 'many@example.com', 403],
  ['is in no group with a role', 'nobody', 'none of your groups has a role here', 'nobody@example.com', 403],
  [
    'has an address of another domain',
    'mallory',
    'Only people with an address of example.com',
    'mallory@example.com.evil.test',
    401,
  ],
  ['has an address that was not verified', 'unproven', 'does not confirm your e-mail address', 'unknown', 401],
])('the console refuses the sign-in of a person who %s, and gives the reason', async (_, who, said, actor, status) => {
  await as(who);
  const browser = new Browser();
  const seen = await browser.signIn();
  expect(seen.status).toBe(403);
  expect(seen.text).toContain(said);
  expect(browser.cookie()).toBeUndefined();
  expect((await audit('console.login'))[0]).toMatchObject({ actor, status, outcome: 'denied' });
});

it("the console accepts the identity provider's response once, from the same browser, within ten minutes", async () => {
  const browser = new Browser();
  const { at: reply } = await browser.follow(`${url}/console/sso`, toCallback);
  const refused = async (browser: Browser, to: string): Promise<void> => {
    const seen = await browser.get(to);
    expect([seen.status, browser.cookie()]).toEqual([400, undefined]);
    expect(seen.text).toContain(STALE);
  };
  await refused(new Browser(), reply); // another's browser: a link leads somebody into a stranger's session
  const state = new URL(reply).searchParams.get('state') ?? '';
  await refused(
    browser,
    reply.replace(
      state,
      state.replace(/^./, (c) => (c === 'a' ? 'b' : 'a')),
    ),
  );
  await refused(browser, `${reply}&state=${state}`);
  const jar = new Map(browser.jar.get(new URL(url).host));
  const [name = '', cookie = ''] = [...jar].find(([one]) => one.startsWith('crossbill_sso_')) ?? [];
  const [body = '', signature = ''] = cookie.split('.');
  const later = { ...(JSON.parse(Buffer.from(body, 'base64url').toString()) as Json), e: Date.now() + 1e9 };
  const forged = new Browser();
  forged.jar.set(
    new URL(url).host,
    new Map([[name, `${Buffer.from(JSON.stringify(later)).toString('base64url')}.${signature}`]]),
  );
  await refused(forged, reply);
  expect((await browser.get(reply)).status).toBe(200);
  expect(browser.jar.get(new URL(url).host)?.has(name)).toBe(false);
  const again = new Browser();
  again.jar.set(new URL(url).host, jar); // the provider has used up the code too
  await refused(again, reply);
});

it('two tabs of a browser sign in at the identity provider at once, and each opens its page', async () => {
  const browser = new Browser();
  const pages = ['/console/reviews', '/console/ledger'];
  const replies: string[] = [];
  for (const page of pages)
    replies.push((await browser.follow(`${url}/console/sso?to=${encodeURIComponent(page)}`, toCallback)).at);
  for (const [i, reply] of replies.entries()) {
    const seen = await browser.get(reply);
    expect([seen.status, seen.headers.get('refresh')]).toEqual([200, `0;url=${pages[i]}`]);
  }
  expect((await browser.visitor().get('/console')).status).toBe(200);
});

it('a browser keeps the cookies of its five newest sign-ins at the identity provider', async () => {
  const browser = new Browser();
  const replies: string[] = [];
  for (let i = 0; i < 7; i++) replies.push((await browser.follow(`${url}/console/sso`, toCallback)).at);
  const kept = [...(browser.jar.get(new URL(url).host) ?? [])].filter(([name]) => name.startsWith('crossbill_sso_'));
  expect(kept).toHaveLength(5);
  expect((await browser.get(replies[0] ?? '')).status).toBe(400);
  expect((await browser.get(replies[6] ?? '')).status).toBe(200);
});

it('the console sends the identity provider the return address from the settings, not from the Host header', async () => {
  const asked = async (at: string): Promise<string | null> => {
    const headers = { host: 'evil.test', 'x-forwarded-host': 'evil.test' };
    const [reply] = (await once(get(`${at}/console/sso`, { headers }), 'response')) as [IncomingMessage];
    reply.resume();
    return new URL(reply.headers.location ?? '').searchParams.get('redirect_uri');
  };
  expect(await asked(url)).toBe(`${url}/console/sso/callback`);
  const public_ = await world.startDaemon({ CONSOLE_URL: 'https://billing.example.com' });
  expect(await asked(public_.url)).toBe('https://billing.example.com/console/sso/callback');
});

it("the console refuses the identity provider's response to another browser's sign-in", async () => {
  const [mine, theirs] = [new Browser(), new Browser()];
  const { at: reply } = await mine.follow(`${url}/console/sso`, toCallback);
  const { at: other } = await theirs.follow(`${url}/console/sso`, toCallback);
  const mixed = new URL(reply);
  mixed.searchParams.set('code', new URL(other).searchParams.get('code') ?? '');
  const seen = await mine.get(mixed.href);
  expect([seen.status, mine.cookie()]).toEqual([400, undefined]);
});

it("the console's login form reports that the identity provider refused the person", async () => {
  const browser = new Browser();
  const { at } = await browser.follow(`${url}/console/sso`, toCallback);
  const reply = new URL(at);
  reply.searchParams.delete('code');
  reply.searchParams.set('error', 'access_denied');
  const seen = await browser.get(reply.href);
  expect([seen.status, browser.cookie()]).toEqual([403, undefined]);
  expect(seen.text).toContain('did not sign you in (access_denied)');
});

it("the daemon's log shows no client secret, code or token of a sign-in", () => {
  const log = world.logLines.join('');
  for (const secret of [SECRET, 'code=', 'eyJ']) expect(log).not.toContain(secret);
});

it('a console session ended on one replica ends on all replicas, and the current settings decide its role', async () => {
  const [other, demoted, rotated] = [
    await world.startDaemon(),
    await world.startDaemon({ OIDC_ROLES: 'finance=read' }),
    await world.startDaemon({ OIDC_CLIENT_SECRET: `another-${SECRET}` }),
  ];
  const browser = new Browser();
  await browser.signIn();
  const at = async (place: string, page = '/console'): Promise<number> =>
    (await browser.visitor(place).get(page)).status;
  expect([await at(url), await at(other.url), await at(rotated.url)]).toEqual([200, 200, 303]);
  expect([await at(url, '/console/sessions'), await at(demoted.url, '/console/sessions')]).toEqual([200, 403]);
  const refused = await new Browser().signIn(rotated.url); // its provider knows only the old secret
  expect([refused.status, refused.text.includes('does not accept this console')]).toEqual([503, true]);
  const key = await new Visitor(other.url).login(OPS_KEY);
  const id = (JSON.parse(Buffer.from((browser.cookie() ?? '').split('.')[0] ?? '', 'base64url').toString()) as Json)[
    'r'
  ];
  const end = `/console/sessions/${String(id)}/end`;
  expect((await key.get('/console/sessions')).text).toContain('ada@example.com');
  const form = await key.form('/console/sessions', end);
  expect((await key.post(end, form)).status).toBe(303);
  expect([await at(url), await at(other.url)]).toEqual([303, 303]);
  expect((await key.post(end, form)).status).toBe(404);
  expect((await audit('session.end'))[0]).toMatchObject({ actor: 'ops', target: id, outcome: 'refused' });
});

it('the daemon starts while its identity provider is down, and people log in with an API key meanwhile', async () => {
  const daemon = await world.startDaemon({ OIDC_ISSUER: 'http://127.0.0.1:4' });
  const seen = await new Browser().signIn(daemon.url);
  expect(seen.status).toBe(503);
  expect(seen.text).toContain('The identity provider does not answer: sign in with an API key.');
  expect(seen.text).toContain('action="/console/login"');
  expect(world.logLines.filter((l) => l.includes('ECONNREFUSED'))).toHaveLength(1);
  const misnamed = await world.startDaemon({ OIDC_ISSUER: issuer.replace('localhost', '127.0.0.1') });
  expect((await new Browser().signIn(misnamed.url)).status).toBe(503);
  expect((await (await new Visitor(daemon.url).login(OPS_KEY)).get('/console')).status).toBe(200);
  const without = await world.startDaemon({
    OIDC_ISSUER: '',
    OIDC_CLIENT_ID: '',
    OIDC_CLIENT_SECRET: '',
    OIDC_ROLES: '',
    OIDC_EMAIL_DOMAIN: '',
  });
  expect((await new Browser().signIn(without.url)).status).toBe(404);
  expect((await new Browser().get(`${without.url}/console/login`)).text).not.toContain('Sign in at');
});

const chromium = findChromium();
(chromium === null ? it.skip : it)(
  'a real browser signs in at the identity provider and sees its session in the console',
  async () => {
    const browser = await openBrowser(chromium ?? '');
    const page = await browser.newPage();
    await page.goto(`${url}/console/ledger`);
    await page.getByRole('link', { name: 'Sign in at' }).click();
    // The provider's host is localhost and ours 127.0.0.1: two sites, as in real life, and the session's cookie is SameSite=Strict.
    await page.waitForURL(`${url}/console/ledger`);
    await page.getByRole('heading', { level: 1, name: 'Ledger' }).waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('this session').waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    await browser.close();
  },
);

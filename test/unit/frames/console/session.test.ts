// Who may come into the console, and for how long: by the settings of today, and not after the session was ended.
import { expect, it } from '@jest/globals';
import { type Request, type Response } from 'express';
import { type ApiKey } from '../../../../src/shared/config/index.js';
import { Secret } from '../../../../src/shared/config/secret.js';
import { Sessions } from '../../../../src/frames/console/session.js';
import { highestRole, isOfDomain, personOf } from '../../../../src/frames/console/sso/people.js';
import { type ConsoleSession, ConsoleSessions } from '../../../../src/frames/console/console-sessions.js';
import { ManualClock } from '../../../support/fakes/clock.js';

class OpenSessions extends ConsoleSessions {
  readonly ids = new Set<string>();
  override async begin({ id }: ConsoleSession): Promise<void> {
    this.ids.add(id);
  }
  override async end(id: string): Promise<boolean> {
    return this.ids.delete(id);
  }
  override async isOpen(id: string): Promise<boolean> {
    return this.ids.has(id);
  }
  override async list(): Promise<readonly ConsoleSession[]> {
    return [];
  }
}

const OPS: ApiKey = { name: 'ops', role: 'ops', digest: new Secret('cb_a_long_enough_key_of_ops') };
const SETTINGS = {
  ...{
    apiKeys: [OPS],
    production: true,
    oidcClientSecret: new Secret('client-secret'),
    oidcEmailDomain: 'example.com',
  },
  oidcRoles: [{ group: 'billing', role: 'read' as const }],
};
type Settings = ConstructorParameters<typeof Sessions>[0];

/** Two daemons of one database, and a browser that keeps the cookie. */
function console(first: Settings = SETTINGS, second: Settings = first) {
  const [clock, open] = [new ManualClock(), new OpenSessions()];
  const [here, there] = [new Sessions(first, clock, open), new Sessions(second, clock, open)];
  let cookie = '';
  const req = (): Request =>
    ({ headers: { cookie }, secure: true, socket: { remoteAddress: '::1' } }) as unknown as Request;
  const res = {
    cookie: (name: string, value: string) => (cookie = `${name}=${value}`),
    clearCookie: () => undefined, // a copy of the cookie may be anywhere
  } as unknown as Response;
  const change = (by: (cookie: string) => string): void => void (cookie = by(cookie));
  return { clock, here, there, req, res, change };
}

it('a console session lasts eight hours at every replica', async () => {
  const c = console();
  await c.here.start(c.req(), c.res, 'ops');
  expect(await c.there.of(c.req())).toMatchObject({ name: 'ops', role: 'ops' });
  c.clock.advance(8 * 3_600_000 - 1);
  expect(await c.there.of(c.req())).not.toBeNull();
  c.clock.advance(1);
  expect(await c.there.of(c.req())).toBeNull();
});

it('a console session ended at one replica is over at every replica, for every copy of its cookie', async () => {
  const c = console();
  await c.here.start(c.req(), c.res, 'ops');
  const session = await c.here.of(c.req());
  if (session === null) throw new Error('not logged in');
  await c.here.end(c.req(), c.res, session);
  expect(await c.here.of(c.req())).toBeNull();
  expect(await c.there.of(c.req())).toBeNull();
});

it('a console session ends when its API key, its group, its email domain or the single sign-on secret leaves the settings', async () => {
  const over: [Partial<typeof SETTINGS>, string, string[] | null][] = [
    [{ apiKeys: [] }, 'ops', null],
    [{ apiKeys: [{ ...OPS, digest: new Secret('cb_another_key_of_the_same_name') }] }, 'ops', null],
    [{ oidcRoles: [] }, 'ada@example.com', ['billing']],
    [{ oidcEmailDomain: 'example.org' }, 'ada@example.com', ['billing']],
    [{ oidcClientSecret: new Secret('another-secret') }, 'ada@example.com', ['billing']],
  ];
  for (const [changed, name, groups] of over) {
    const c = console(SETTINGS, { ...SETTINGS, ...changed });
    await c.here.start(c.req(), c.res, name, groups);
    expect([await c.here.of(c.req()), await c.there.of(c.req())]).toMatchObject([{ name }, null] as const);
  }
});

it('the console accepts no invented or changed session cookie', async () => {
  const c = console();
  await c.here.start(c.req(), c.res, 'ops');
  const changes: ((cookie: string) => string)[] = [
    (x) => x.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')),
    (x) => `${x}; ${x}`,
    (x) => x.replace(/\..*/, ''),
    (x) => `${x}.more`,
    () => '',
    () => 'crossbill_console=bm90IGpzb24.AAAA',
  ];
  for (const by of changes) {
    let before = '';
    c.change((x) => by((before = x)));
    expect(await c.here.of(c.req())).toBeNull();
    c.change(() => before);
  }
  expect(await c.here.of(c.req())).not.toBeNull();
});

it('each console session has a form token of its own', async () => {
  const c = console();
  await c.here.start(c.req(), c.res, 'ops');
  const first = await c.here.of(c.req());
  await c.here.start(c.req(), c.res, 'ops');
  const second = await c.here.of(c.req());
  expect(first?.formToken).toMatch(/^[\w-]{43}$/);
  expect(second?.formToken).not.toBe(first?.formToken);
  expect(c.here.traits(c.req())).toEqual({ httpOnly: true, sameSite: 'strict', secure: true, path: '/console' });
});

it('the console reads email, verified flag and groups from the identity provider’s claims', () => {
  const claims = { email: 'Ada@Example.com', email_verified: true, groups: ['billing', 7, 'ops'] };
  expect(personOf(claims)).toMatchObject({ email: 'ada@example.com', verified: true, groups: ['billing', 'ops'] });
  expect(personOf({ email: `ada@${'\u{1f4b8}'.repeat(130)}.com` }).email).toBeNull();
  expect(personOf({ groups: 'billing' })).toMatchObject({ email: null, verified: false, groups: ['billing'] });
  for (const nothing of [null, 'ada@example.com', [], 7]) {
    expect(personOf(nothing)).toEqual({ email: null, verified: false, groups: [], groupsSent: 'no' });
  }
});

it.each([undefined, null, false, 'false', '', 'True', 1])(
  'the console does not accept %p as a verified email address',
  (word) => {
    expect(personOf({ email: 'ada@example.com', email_verified: word })).toMatchObject({ verified: false });
  },
);

it.each(['ada', 'ada@', '@example.com', 'a da@example.com', 'ada@exam\nple.com', 'a@b@c', `${'a'.repeat(65)}@b.c`, 7])(
  'the console does not accept %p as an email address',
  (email) => {
    expect(personOf({ email, email_verified: true }).email).toBeNull();
  },
);

it('OIDC_EMAIL_DOMAIN lets in only addresses of the domain itself', () => {
  expect(isOfDomain('ada@example.com', 'example.com')).toBe(true);
  expect(isOfDomain('ada@sub.example.com', 'example.com')).toBe(false);
  expect(isOfDomain('ada@notexample.com', 'example.com')).toBe(false);
  expect(isOfDomain('ada@anywhere.org', null)).toBe(true);
});

it('a console user gets the highest role of the user’s groups, and no role without a group', () => {
  const roles = [
    { group: 'billing', role: 'read' },
    { group: 'ops', role: 'ops' },
  ] as const;
  expect(highestRole(roles, ['billing', 'ops'])).toBe('ops');
  expect(highestRole(roles, ['billing'])).toBe('read');
  expect(highestRole(roles, ['strangers'])).toBeNull();
  expect(highestRole([], ['ops'])).toBeNull();
});

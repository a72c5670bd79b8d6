// How people enter the console: its cookies, and the identity provider's answer about a person.
import fc from 'fast-check';
import { type Request, type Response } from 'express';
import { ownPath } from '#src/frames/console/login-page.js';
import { type ConsoleSession, ConsoleSessions } from '#src/frames/console/console-sessions.js';
import { highestRole, isOfDomain, personOf } from '#src/frames/console/sso/people.js';
import { SSO_COOKIE, SsoCookie } from '#src/frames/console/sso/sso-cookie.js';
import { COOKIE, Sessions } from '#src/frames/console/session.js';
import { loadConfig } from '#src/shared/config/index.js';
import { bentJson } from '../inputs/json.js';
import { bent, oddText } from '../inputs/texts.js';
import { mustBeUnpolluted } from '../ranges.js';
import { must, type Target } from '../target.js';
import { StoppedClock } from '../inputs/stopped-clock.js';

const NOW = new StoppedClock().now();

class OpenSessions extends ConsoleSessions {
  begin(): Promise<void> {
    return Promise.resolve();
  }
  end(): Promise<boolean> {
    return Promise.resolve(true);
  }
  isOpen(): Promise<boolean> {
    return Promise.resolve(true); // the worst case: the session exists, so only the signature protects
  }
  list(): Promise<readonly ConsoleSession[]> {
    return Promise.resolve([]);
  }
}

const config = loadConfig({
  STRIPE_API_KEY: 'sk_test_0123456789abcdef',
  STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
  MOR_BASE_URL: 'https://api.mor.example',
  MOR_AUTH_URL: 'https://auth.mor.example',
  MOR_CLIENT_ID: 'client',
  MOR_CLIENT_SECRET: 'mor-client-secret-0123',
  MOR_PAYMENT_WEBHOOK_SECRETS: 'payments-secret-0123',
  API_KEYS: `ada:ops:${'k'.repeat(40)},bob:read:${'b'.repeat(40)}`,
  OIDC_ISSUER: 'https://login.example',
  OIDC_CLIENT_ID: 'crossbill',
  OIDC_CLIENT_SECRET: 'oidc-secret-0123',
  OIDC_ROLES: 'finance=read,ops=ops',
  OIDC_EMAIL_DOMAIN: 'example.com',
});
const clock = new StoppedClock();
const sessions = new Sessions(config, clock, new OpenSessions());
const signIns = new SsoCookie(config, clock, sessions);

const asking = (cookie: string, query: Record<string, unknown> = {}): Request =>
  ({
    headers: { cookie },
    query,
    socket: { remoteAddress: '127.0.0.1' },
    ip: '127.0.0.1',
    secure: true,
  }) as unknown as Request;

/** Returns the cookie that `set` puts on a response, as `name=value`. */
async function cookieOf(set: (res: Response) => unknown): Promise<string> {
  let made = '';
  await set({
    cookie: (name: string, value: string) => void (made = `${name}=${value}`),
    clearCookie: () => undefined,
  } as unknown as Response);
  return made;
}

const issued: readonly string[] = await Promise.all([
  cookieOf((res) => sessions.start(asking(''), res, 'bob')),
  cookieOf((res) => sessions.start(asking(''), res, 'ann@example.com', ['finance', 'x'])),
  cookieOf((res) => signIns.begin(asking(''), res, '/console/refunds')),
]);

/** A cookie with another body and the old signature. */
const forged = fc
  .tuple(
    fc.constantFrom(...issued),
    bentJson([{ n: 'ada', i: NOW.getTime(), e: NOW.getTime() + 3_600_000, r: 'x', g: ['ops'] }]),
  )
  .map(([cookie, json]) => {
    const [name = '', value = ''] = cookie.split('=');
    return `${name}=${Buffer.from(json).toString('base64url')}.${value.split('.')[1] ?? ''}`;
  });

const cookies: Target = {
  name: 'cookies',
  what: "the console's cookies and the identity provider's answer: only our own signature opens anything",
  inputs: fc.oneof(
    bent(fc.constantFrom(...issued)),
    forged,
    fc.tuple(bent(fc.constantFrom(...issued)), forged).map((both) => both.join('; ')),
    oddText.map((text) => `${COOKIE}=${text}`),
  ),
  async check(cookie) {
    const session = await sessions.of(asking(cookie));
    // A session needs exactly one cookie of this name, made by Crossbill. The rest of the header may contain anything.
    const ours = cookie
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${COOKIE}=`));
    must(
      session === null || (ours.length === 1 && issued.includes(ours[0] ?? '')),
      'a cookie that we did not make opens a session',
    );
    must(session === null || session.role === 'read', 'a session has another role than it began with');
    const state = signIns.take(asking(cookie, { state: cookie }), {
      clearCookie: () => undefined,
    } as unknown as Response);
    must(state === null, 'a sign-in was taken up without its state');
    must(!cookie.includes(SSO_COOKIE) || session === null || ours.length === 1, 'a sign-in opens a session');
    const path = ownPath(cookie);
    must(
      /^\/console(?![^/?])/.test(path) && new URL(path, 'http://own.example').host === 'own.example',
      `sent away to ${path}`,
    );
  },
};

const claims: Target = {
  name: 'oidc-claims',
  what: 'what the identity provider says of a person',
  inputs: bentJson([{ sub: '1', email: 'Ann@Example.com', email_verified: true, groups: ['finance', 'ops'] }]),
  check(text) {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    const person = personOf(value);
    must(
      person.email === null || (/^[^\s@]+@[^\s@]+$/.test(person.email) && person.email.length <= 255),
      'a name that is no address',
    );
    // Some identity providers send the text "true" instead of the boolean.
    const said = (value as { email_verified?: unknown } | null)?.email_verified;
    must(!person.verified || said === true || said === 'true', 'verified without a word of it');
    must(
      person.groups.every((g) => typeof g === 'string'),
      'a group that is no text',
    );
    const role = highestRole(config.oidcRoles, person.groups);
    must(role === null || person.groups.some((g) => g === 'finance' || g === 'ops'), 'a role without its group');
    must(
      person.email === null || !isOfDomain(person.email, 'example.com') || person.email.endsWith('@example.com'),
      'another domain',
    );
    mustBeUnpolluted();
  },
};

export const peopleTargets: readonly Target[] = [cookies, claims];

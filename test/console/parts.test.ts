// The console's small parts: text in HTML, a body without JSON, and a session over time.
import { expect, it } from '@jest/globals';
import { type Request, type Response } from 'express';
import fc from 'fast-check';
import { type Clock } from '../../src/shared/domain/ports/clock.js';
import { type ConsoleSession, ConsoleSessions } from '../../src/frames/console/console-sessions.js';
import { type VerifyRepository } from '../../src/features/verify/verify.repository.js';
import { type VerifyRun } from '../../src/features/verify/rules/run.js';
import { Secret } from '../../src/shared/config/index.js';
import { html } from '../../src/frames/console/html.js';
import { type ConsoleAudit } from '../../src/frames/console/console-audit.js';
import { VerifyPages } from '../../src/features/verify/verify.pages.js';
import { LoginThrottle } from '../../src/frames/console/login-throttle.js';
import { maskedText } from '../../src/shared/masks/broken-body.js';
import { COOKIE, Sessions } from '../../src/frames/console/session.js';
import { duration } from '../../src/frames/console/show.js';
import { ManualClock } from '../support/fakes/clock.js';
import { anyCharacter } from '../../packages/proof/src/fuzz/inputs/character.js';

it("the console's HTML template escapes any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const made = html`<p title="${text}">${text}</p>`.toString();
      const inner = made.slice('<p title="'.length, -'</p>'.length);
      expect(inner.split('">')).toHaveLength(2);
      expect(inner.replace('">', '')).not.toMatch(/[<>"'`]|[\u202a-\u202e\u2066-\u2069\u0000\u001b]/);
    }),
  );
});

it("the console's HTML template escapes every value except the output of another template", () => {
  const posing = { toString: () => '<b>' } as unknown as string;
  expect(() => html`${posing}`).toThrow();
  expect(html`${'<b>'}${html`<i></i>`}${null}${false}${[1n, html`<u></u>`]}`.toString()).toBe(
    '&lt;b&gt;<i></i>1<u></u>',
  );
});

it('the console shows ids, types and times of a broken JSON body, but no names, addresses or secrets', () => {
  const text = maskedText(
    Buffer.from(
      '{"id":"evt_1A2b3C4d","type":"payment.succeeded","at":"2026-11-20T10:00:00Z","name":"Ada Lovelace","key":"whsec_abcdef1234", ada@example.com 4242424242424242 "cut off',
    ),
  );
  for (const shown of ['evt_1A2b3C4d', 'payment.succeeded', '2026-11-20T10:00:00Z', '"name":'])
    expect(text).toContain(shown);
  for (const hidden of ['Ada', 'Lovelace', 'whsec', 'example', '4242424242424242', 'cut'])
    expect(text).not.toContain(hidden);
});

it('in a broken JSON body, the console hides tax ids and phone numbers, but not an invoice number that looks like a card number', () => {
  const text = maskedText(
    Buffer.from('{"number":"4111-2026-0001-1118","tax_id":"DE123456789","phone_number":"+49 170 1"'),
  );
  expect(text).toContain('"4111-2026-0001-1118"');
  for (const hidden of ['DE123456789', '170']) expect(text).not.toContain(hidden);
});

it('the console shows no name, address or other word from a stored event body without JSON', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('Ada', 'Łukasz', 'Straße', '王小明', "O'Neil", 'a@b.co', '+49 170 1234567890123'), {
        minLength: 1,
      }),
      (said) => {
        const text = maskedText(Buffer.from(said.join(' ')));
        for (const word of said) expect(text).not.toContain(word);
      },
    ),
  );
});

class NoneEnded extends ConsoleSessions {
  begin(): Promise<void> {
    return Promise.resolve();
  }
  end(): Promise<boolean> {
    return Promise.resolve(true);
  }
  isOpen(): Promise<boolean> {
    return Promise.resolve(true);
  }
  list(): Promise<readonly ConsoleSession[]> {
    return Promise.resolve([]);
  }
}

const noProvider = { oidcClientSecret: null, oidcRoles: [], oidcEmailDomain: null };
const req0 = { secure: false, socket: { remoteAddress: '127.0.0.1' } } as unknown as Request;
const digest = new Secret('5e'.repeat(32));
const config = { apiKeys: [{ name: 'ops', role: 'ops' as const, digest }], production: true, ...noProvider };

it('a console session lasts at most eight hours, even on a replica with a slow clock', async () => {
  const clock = new ManualClock();
  const sessions = new Sessions(config, clock, new NoneEnded());
  let cookie = '';
  let traits: unknown;
  const res = {
    cookie: (_: string, value: string, t: unknown) => ((cookie = value), (traits = t)),
  } as unknown as Response;
  await sessions.start(req0, res, 'ops');
  expect(traits).toMatchObject({ httpOnly: true, sameSite: 'strict', secure: true, path: '/console' });
  const req = { headers: { cookie: `${COOKIE}=${cookie}` } } as unknown as Request;
  expect(await sessions.of(req)).toMatchObject({ name: 'ops', role: 'ops' });
  const slow = new ManualClock(new Date(clock.now().getTime() - 3_600_000));
  expect(await new Sessions(config, slow, new NoneEnded()).of(req)).toBeNull(); // made an hour from now: not by us
  clock.advance(8 * 3_600_000 - 1);
  expect(await sessions.of(req)).not.toBeNull();
  clock.advance(1);
  expect(await sessions.of(req)).toBeNull();
});

it('a console session always has the current role of its API key', async () => {
  const clock = new ManualClock();
  let cookie = '';
  const res = { cookie: (_: string, value: string) => (cookie = value) } as unknown as Response;
  await new Sessions(config, clock, new NoneEnded()).start(req0, res, 'ops');
  const later = new Sessions({ ...config, apiKeys: [{ name: 'ops', role: 'read', digest }] }, clock, new NoneEnded());
  const req = { headers: { cookie: `${COOKIE}=${cookie}` } } as unknown as Request;
  expect((await later.of(req))?.role).toBe('read');
});

it("the console's login delays a client address by up to a minute after many wrong keys, and later forgets the wrong keys", () => {
  const clock = new ManualClock();
  const throttle = new LoginThrottle(clock);
  const waits: number[] = [];
  for (let i = 0; i < 14; i++) {
    throttle.failed('192.0.2.1');
    waits.push(throttle.waitSec('192.0.2.1'));
  }
  expect(waits).toEqual([0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
  expect(throttle.waitSec('192.0.2.2')).toBe(0);
  clock.advance(16 * 60_000);
  throttle.failed('192.0.2.1');
  expect(throttle.waitSec('192.0.2.1')).toBe(0);
});

it('the console shows a duration in its largest fitting unit', () => {
  expect([0, 1, 59, 60, 7_300, 200_000].map(duration)).toEqual([
    '0 seconds',
    '1 second',
    '59 seconds',
    '1 minute',
    '2 hours',
    '2 days',
  ]);
});

async function pageOf(lossWindows: VerifyRun['lossWindows']): Promise<string> {
  const at = new Date('2026-11-20T12:00:00Z');
  const run = {
    id: 'ver_1',
    since: at,
    startedAt: at,
    beganAt: at,
    resumedFrom: null,
    finishedAt: at,
    outcome: 'clean',
    compared: {},
    differences: [],
    more: {},
    marksLeft: 0,
  } as const;
  const verify = {
    last: () => Promise.resolve({ ...run, lossWindows }),
    numbers: () => Promise.resolve(new Map()),
  } as unknown as VerifyRepository;
  let sent = '';
  const res = {
    setHeader: () => res,
    type: () => res,
    status: () => res,
    send: (page: string) => (sent = page),
  } as unknown as Response;
  const req = { headers: {}, query: {}, app: { get: () => null } } as unknown as Request;
  await new VerifyPages(verify, {} as Clock, {} as ConsoleAudit).newest(req, res);
  return sent;
}

it("the console's verify page reports that the webhook endpoints were closed long enough to lose events", async () => {
  const closed = { from: new Date('2026-11-19T01:00:00Z'), to: new Date('2026-11-19T09:00:00Z') };
  const events = { from: new Date('2026-11-19T01:00:00Z'), to: new Date('2026-11-19T05:57:50Z') };
  const page = await pageOf([{ closed, events }]);
  expect(page).toContain('The webhook endpoints were closed from 2026-11-19T01:00:00Z to 2026-11-19T09:00:00Z');
  expect(page).toContain('made between 2026-11-19T01:00:00Z and 2026-11-19T05:57:50Z may be lost for good.');
  expect(await pageOf([])).not.toContain('endpoints');
});

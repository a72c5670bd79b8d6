// What comes back from our own hands and may have been bent on the way: rows of the log, cookies, claims; and what is said aloud of it.
import fc from 'fast-check';
import { type Request, type Response } from 'express';
import { ownPath } from '#src/console/login-page.js';
import { type ConsoleSession, ConsoleSessions } from '#src/domain/ports/console-sessions.js';
import { Clock } from '#src/domain/ports/clock.js';
import { highestRole, isOfDomain, personOf } from '#src/console/sso/people.js';
import { SSO_COOKIE, SsoCookie } from '#src/console/sso/sso-cookie.js';
import { COOKIE, Sessions } from '#src/console/session.js';
import { loadConfig } from '#src/config/index.js';
import { emptyLane } from '#src/domain/lane/change.js';
import { type LaneState } from '#src/domain/model.js';
import { encodeJson } from '#src/mor/wire.js';
import { REQUESTS } from '#src/api/http/example-values.js';
import { type Checked } from '#src/mor/requests/check.js';
import { checkCatalogueProduct } from '#src/mor/requests/catalogue.js';
import { checkDescribeBusiness, checkInitiate, checkProductChoice } from '#src/mor/requests/onboarding.js';
import { checkPaymentLink } from '#src/mor/requests/payment-link.js';
import { checkProforma } from '#src/mor/requests/proforma.js';
import { checkTaxCalculation } from '#src/mor/requests/check-tax-calculation.js';
import { checkTaxRefund, checkTaxTransaction } from '#src/mor/requests/tax-transaction.js';
import { checkWebhookEndpoint } from '#src/mor/requests/webhook-endpoint.js';
import { describeError, textCensor, withoutSecrets } from '#src/observe/redact.js';
import { type Codec, INVOICE, jsonText, OBJECT, PAYMENT, REFUND, REVIEW, TAX } from '#src/store/codec.js';
import { fold, type LoggedRow, rowOf } from '#src/store/lane-log.js';
import { bentJson } from '../inputs/json.js';
import { bent, oddText, timeText } from '../inputs/texts.js';
import { mustBeUnpolluted } from '../ranges.js';
import { must, mustBeSame, orTyped, shown, type Target } from '../target.js';

const NOW = new Date('2026-11-22T12:00:00Z');

class StandingClock extends Clock {
  now(): Date {
    return NOW;
  }
  sleep(): Promise<void> {
    return Promise.resolve();
  }
}

type Plan = { readonly [kind: string]: readonly (readonly string[])[] };
const TABLES = {
  payments: PAYMENT,
  refunds: REFUND,
  objects: OBJECT,
  taxes: TAX,
  reviews: REVIEW,
  invoice: INVOICE,
} as const;
const seeds = fc.array(
  fc.oneof(
    fc.constant(''),
    oddText.filter((t) => t.length < 300),
    timeText,
  ),
  { minLength: 4, maxLength: 12 },
);
const plans: fc.Arbitrary<string> = fc
  .record({
    before: fc.dictionary(fc.constantFrom(...Object.keys(TABLES)), fc.array(seeds, { maxLength: 2 }), { maxKeys: 4 }),
    after: fc.dictionary(fc.constantFrom(...Object.keys(TABLES)), fc.array(seeds, { maxLength: 3 }), { maxKeys: 4 }),
    format: fc.constantFrom(1, 1, 1, 2, 99),
  })
  .map((plan) => JSON.stringify(plan));

/** A row with a value of the right kind in each column, made of texts. */
function rowFrom<T>(codec: Codec<T>, from: readonly string[], n: number): T {
  const out: Record<string, unknown> = {};
  for (const [i, [name, kind]] of Object.entries(codec.columns).entries()) {
    const text = from[i % from.length] ?? '';
    const sum = BigInt([...text].reduce((a, ch) => (a * 31 + (ch.codePointAt(0) ?? 0)) % 2 ** 40, 7));
    const key = codec.key.includes(name as keyof T & string);
    if (key) out[name] = `id_${n}`;
    else if (text === '') out[name] = null;
    else if (kind === 'text') out[name] = text.replace(/\0|\p{Surrogate}/gu, '\ufffd');
    else if (kind === 'int') out[name] = Number(sum % 1_000n);
    else if (kind === 'bigint') out[name] = sum * 1_000n - 500n;
    else if (kind === 'time') out[name] = new Date(Number(sum));
    else if (kind === 'bool') out[name] = sum % 2n === 0n;
    else if (kind === 'texts') out[name] = ['surplus'];
    else out[name] = { said: text.replace(/\0|\p{Surrogate}/gu, '\ufffd'), deep: [1, null, '__proto__'] };
  }
  return out as T;
}

function laneOf(plan: Plan): LaneState {
  const rows = <T>(name: keyof typeof TABLES): T[] =>
    (plan[name] ?? []).map((from, n) => rowFrom(TABLES[name] as unknown as Codec<T>, from, n));
  const [invoice = null] = rows<NonNullable<LaneState['invoice']>>('invoice');
  return {
    ...emptyLane('in_1'),
    invoice,
    payments: rows('payments'),
    refunds: rows('refunds'),
    objects: rows('objects'),
    taxes: rows('taxes'),
    reviews: rows('reviews'),
  };
}

const logRows: Target = {
  name: 'log-rows',
  what: 'rows of the log: what a step wrote is folded into the same state, and a newer release’s row is refused',
  inputs: plans,
  check(text) {
    const plan = JSON.parse(text) as { before: Plan; after: Plan; format: number };
    const before = laneOf(plan.before);
    const merged = laneOf({ ...plan.before, ...plan.after });
    // A step adds and changes rows; it takes none away.
    const kept = <T extends { readonly id: string }>(was: readonly T[], is: readonly T[]): T[] => [
      ...is,
      ...was.filter((x) => !is.some((y) => y.id === x.id)),
    ];
    const after: LaneState = {
      ...merged,
      payments: kept(before.payments, merged.payments),
      refunds: kept(before.refunds, merged.refunds),
      objects: kept(before.objects, merged.objects),
      taxes: kept(before.taxes, merged.taxes),
      reviews: kept(
        before.reviews,
        merged.reviews.map((r) =>
          filled(
            r,
            before.reviews.find((b) => b.id === r.id),
          ),
        ),
      ),
      invoice: merged.invoice ?? before.invoice,
    };
    const written = [
      rowOf({ before: emptyLane('in_1'), after: before, version: 1, at: NOW, atRest: false, snapshot: false }),
      rowOf({ before, after, version: 2, at: NOW, atRest: true, snapshot: false }),
      rowOf({ before: after, after, version: 3, at: NOW, atRest: true, snapshot: true }),
    ];
    const read = written.map((row): LoggedRow => ({
      ...row,
      change: JSON.parse(row.change) as LoggedRow['change'],
      bodies: null,
    }));
    const sorted = (s: LaneState): string =>
      shown(
        Object.fromEntries(
          Object.entries(s).map(([k, v]: [string, unknown]) => [
            k,
            Array.isArray(v) ? v.map((row) => canon(row)).sort() : v === null || typeof v !== 'object' ? v : canon(v),
          ]),
        ),
      );
    mustBeSame(sorted(fold('in_1', read.slice(0, 2)).state), sorted(after), 'folded from its steps');
    mustBeSame(sorted(fold('in_1', read).state), sorted(after), 'folded from its snapshot');
    const newer = read.map((row) => ({ ...row, change: { ...row.change, f: plan.format } }));
    if (plan.format > 1) {
      let refused = '';
      try {
        fold('in_1', newer);
      } catch (error) {
        refused = error instanceof Error ? error.message : '';
      }
      must(refused.includes('newer release'), "a newer release's row was read");
    }
  },
};

/** No rule takes a deadline or an answer back from a review item: what it says once it goes on saying. */
function filled<T extends object>(row: T, was: T | undefined): T {
  if (was === undefined) return row;
  const lost = Object.entries(row)
    .filter(([, value]) => value === null)
    .map(([name]) => [name, (was as Record<string, unknown>)[name]] as const);
  return { ...row, ...Object.fromEntries(lost) };
}

/** With its members in order. */
function canon(row: unknown): string {
  if (typeof row !== 'object' || row === null) return shown(row);
  return shown(Object.fromEntries(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1))));
}

class OpenSessions extends ConsoleSessions {
  begin(): Promise<void> {
    return Promise.resolve();
  }
  end(): Promise<boolean> {
    return Promise.resolve(true);
  }
  isOpen(): Promise<boolean> {
    return Promise.resolve(true); // the worst case: only the signature stands in the way
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
const clock = new StandingClock();
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

/** The cookie that a call sets. */
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

/** The body of a cookie, changed and not signed again. */
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
  what: "the console's cookies and what the identity provider says: nothing but what we signed opens anything",
  inputs: fc.oneof(
    bent(fc.constantFrom(...issued)),
    forged,
    fc.tuple(bent(fc.constantFrom(...issued)), forged).map((both) => both.join('; ')),
    oddText.map((text) => `${COOKIE}=${text}`),
  ),
  async check(cookie) {
    const session = await sessions.of(asking(cookie));
    // Exactly one cookie of the name, exactly as we made it: whatever else is in the header.
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
    must(
      !person.verified || (value as { email_verified?: unknown }).email_verified === true,
      'verified without a word of it',
    );
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

const CHECKS: readonly (readonly [name: string, example: unknown, check: (body: unknown) => Checked<object>])[] = [
  ['TaxCalculationRequest', REQUESTS['TaxCalculationRequest'], checkTaxCalculation],
  ['TaxTransactionRequest', REQUESTS['TaxTransactionRequest'], checkTaxTransaction],
  ['TaxRefundRequest', REQUESTS['TaxRefundRequest'], (body) => checkTaxRefund(body, NOW)],
  ['CatalogueProductRequest', REQUESTS['CatalogueProductRequest'], checkCatalogueProduct],
  ['WebhookEndpointRequest', { url: 'https://x.example/hooks', events: ['e_invoice.issued'] }, checkWebhookEndpoint],
  ['InitiateRequest', REQUESTS['InitiateRequest'] ?? { reference: 'm-1', regionIds: ['GB'] }, checkInitiate],
  ['ProductChoice', { product: 'mor' }, checkProductChoice],
  [
    'DescribeBusinessRequest',
    { businessDescription: 'Books', storeUrls: ['https://x.example'] },
    checkDescribeBusiness,
  ],
  [
    'PaymentLinkRequest',
    {
      merchantReference: 'in_1',
      amount: { amount: '29.90', currency: 'EUR' },
      jurisdiction: 'GB',
      returnUrl: 'https://x.example',
    },
    checkPaymentLink,
  ],
  [
    'ProformaRequest',
    {
      merchantReference: 'in_1',
      jurisdiction: 'GB',
      dueDate: '2026-12-22',
      currency: 'EUR',
      lineItems: [{ description: 'Plan', quantity: '1', unitPrice: '29.90' }],
    },
    checkProforma,
  ],
];

const requests: Target = {
  name: 'mor-requests',
  what: 'bodies that are passed on to the MoR: each is refused with its field named, or passed on as it was meant',
  inputs: fc.oneof(...CHECKS.map(([name, example]) => bentJson([example]).map((json) => `${name} ${json}`))),
  check(text) {
    const at = text.indexOf(' ');
    const check = CHECKS.find(([name]) => name === text.slice(0, at))?.[2];
    let body: unknown;
    try {
      body = JSON.parse(text.slice(at + 1));
    } catch {
      return;
    }
    const found = check?.(body);
    mustBeUnpolluted();
    if (found === undefined) return;
    if (!found.ok) {
      must(
        found.errors.length > 0 && found.errors.every(({ field, message }) => field !== '' && message !== ''),
        'refused without a field',
      );
      return;
    }
    const sent: unknown = JSON.parse(encodeJson(found.value));
    mustBeSame(ordered(sent), ordered(body), 'what would be sent');
  },
};

/** Without null members, and with keys in order: as it is meant. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, member]) => member !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)]);
}

const SECRETS = ['whsec_abcdefgh12345678', 'p@ss/w+rd=&"\\', 'k'.repeat(40), 'abcdef', 'abcdef-longer'];

const censoring: Target = {
  name: 'log-censor',
  what: 'what is logged: secrets by value, by name and by shape, in any text and in any object',
  inputs: fc
    .tuple(
      fc.array(
        fc.oneof(
          fc.constantFrom(...SECRETS, ...SECRETS.map(encodeURIComponent), 'Bearer ', 'password=', '://u:'),
          oddText,
        ),
        { maxLength: 8 },
      ),
      bentJson([{ headers: { authorization: 'Bearer x', cookie: 'c' }, client_secret: 's', inner: [{ ApiKey: 'k' }] }]),
    )
    .map((parts) => JSON.stringify(parts)),
  check(text) {
    const [pieces, json] = JSON.parse(text) as [string[], string];
    const censor = textCensor(SECRETS);
    const line = censor(pieces.join(''));
    for (const secret of SECRETS) {
      for (const form of [secret, encodeURIComponent(secret)]) must(!line.includes(form), `the log shows ${secret}`);
    }
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    const copy = jsonText(withoutSecrets({ value, error: new Error(pieces.join(''), { cause: value }) }) ?? null);
    must(copy.length < 20_000_000, 'a log line without end');
    orTyped(() => describeError(value));
    mustBeUnpolluted();
  },
};

export const insideTargets: readonly Target[] = [logRows, cookies, claims, requests, censoring];

// Quotes that `docker run --env-file` and some panels pass on: they are part of the value, and a daemon that took them would refuse every event.
import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from '../../../src/config/index.js';
import { load, minimal, problemsOf, wrong } from '../../support/minimal-settings.js';

const MARKS = [
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['“', '”'],
  ['‘', '’'],
  ['„', '“'],
  ['«', '»'],
] as const;
const KEY = 'k'.repeat(40);

describe('quotes around a setting', () => {
  it('stop the start, with the names of three settings from a file for docker run', () => {
    const file = {
      MOR_PAYMENT_WEBHOOK_SECRETS: '"example-secret-of-the-payments-door"',
      STRIPE_API_KEY: '"sk_test_example"',
      MOR_CLIENT_SECRET: "'example-client-secret'",
    };
    const problems = problemsOf(file);
    expect(problems.map(({ name }) => name).toSorted()).toEqual(Object.keys(file).toSorted());
    for (const value of Object.values(file)) expect(JSON.stringify(problems)).not.toContain(value.slice(1, -1));
  });

  it('are wrong in every setting, of any kind', () => {
    const names = Object.values(SETTINGS).map(({ name }) => name);
    for (const [begin, end] of MARKS) {
      const given = Object.fromEntries(names.map((name) => [name, `${begin}1${end}`]));
      expect([begin, wrong(given)]).toEqual([begin, expect.arrayContaining(names)]);
    }
  });

  it('are wrong around nothing too, and with blanks around them', () => {
    const given = { NOTIFY_URL: '""', PORT: "''", STRIPE_API_KEY: ' "sk_test_example" ' };
    expect(wrong(given).toSorted()).toEqual(Object.keys(given).toSorted());
  });

  it.each([
    ['STRIPE_WEBHOOK_SECRETS', 'whsec_good_one,"whsec_other_one"'],
    ['STRIPE_WEBHOOK_SECRETS', `'whsec_good_one', whsec_other_one`],
    ['MOR_PAYMENT_WEBHOOK_SECRETS', 'first-secret,"second-secret"'],
    ['MOR_EVENT_WEBHOOK_SECRETS', '“first-secret”,second-secret'],
    [
      'NOTIFY_SECRETS',
      `"whsec_${Buffer.alloc(32).toString('base64')}",whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    ],
    ['API_KEYS', `backend:signup:"${KEY}"`],
    ['API_KEYS', `"backend:signup:${KEY}",anna:ops:${'o'.repeat(40)}`],
    ['API_KEYS', `"backend":signup:${KEY}`],
    ['TRUSTED_PROXIES', '"10.0.0.7",10.0.0.8'],
    ['ENROLMENT', 'metadata:billed_by="mor"'],
    ['RETRY_SCHEDULE', 'soft="3d,5d" end=nothing'],
  ])('are refused in %s around an entry of a list: %s', (name, value) => {
    const relay = {
      NOTIFY_URL: 'https://shop.example/hooks',
      MOR_RELAY_URL: 'https://mor.example/in',
      MOR_RELAY_SECRET: 'relay-secret',
    };
    expect(wrong({ ...relay, [name]: value })).toContain(name);
  });

  it('are wrong around a group of OIDC_ROLES', () => {
    const provider = {
      OIDC_ISSUER: 'https://idp.example.com',
      OIDC_CLIENT_ID: 'crossbill',
      OIDC_CLIENT_SECRET: 'canary-oidc',
    };
    expect(wrong({ ...provider, OIDC_ROLES: '"finance"=read' })).toEqual(['OIDC_ROLES']);
    expect(wrong({ ...provider, OIDC_ROLES: 'finance=read' })).toEqual([]);
  });

  it('do no harm within a value, or at one end of it', () => {
    for (const secret of [`a"b"c-secret`, `"a-secret`, `a-secret'`, `"a-secret'`]) {
      expect([secret, wrong({ MOR_CLIENT_SECRET: secret })]).toEqual([secret, []]);
      expect(load({ MOR_CLIENT_SECRET: secret }).morClientSecret.reveal()).toBe(secret);
    }
    expect(wrong(minimal)).toEqual([]);
  });
});

describe('a secret of no sender', () => {
  it('stops the start if it has invisible characters', () => {
    for (const name of ['MOR_CLIENT_SECRET', 'STRIPE_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS', 'STRIPE_API_KEY'])
      for (const unseen of ['\u200b', '\u00ad', '\u200f', '\ufeff', '\u0000', '\u007f'])
        expect([name, wrong({ [name]: `example-${unseen}secret` })]).toEqual([name, [name]]);
  });

  it('stops the start if it is a key of Stripe with a character outside of headers', () => {
    expect(wrong({ STRIPE_API_KEY: 'sk_test_exämple' })).toEqual(['STRIPE_API_KEY']);
  });
});

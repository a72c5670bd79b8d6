// The kinds of settings: quotes around values, invisible characters, and the address and secrets of the receiver.
import { expect, it } from '@jest/globals';
import { isForbiddenAddress, isPrivateAddress } from '../../../../src/shared/config/addresses.js';
import { baseOf } from '../../../../src/shared/config/kinds.js';
import { SETTINGS } from '../../../../src/shared/config/index.js';
import { refusedAddress } from '../../../../src/features/notifications/receiver.js';
import { newSecret } from '../../../support/fakes/notify-receiver.js';
import { load, minimal, problemsOf, wrong } from '../../../support/builders/minimal-settings.js';

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

it('the daemon refuses to start with settings in quotes (docker keeps the quotes of an env file), and names these settings', () => {
  const file = {
    MOR_PAYMENT_WEBHOOK_SECRETS: '"example-secret-of-the-payments-endpoint"',
    STRIPE_API_KEY: '"sk_test_example"',
    MOR_CLIENT_SECRET: "'example-client-secret'",
  };
  const problems = problemsOf(file);
  expect(problems.map(({ name }) => name).toSorted()).toEqual(Object.keys(file).toSorted());
  for (const value of Object.values(file)) expect(JSON.stringify(problems)).not.toContain(value.slice(1, -1));
});

it('the daemon refuses quotes around a setting of any kind', () => {
  const names = Object.values(SETTINGS).map(({ name }) => name);
  for (const [begin, end] of MARKS) {
    const given = Object.fromEntries(names.map((name) => [name, `${begin}1${end}`]));
    expect([begin, wrong(given)]).toEqual([begin, expect.arrayContaining(names)]);
  }
});

it('the daemon refuses a setting with only quotes, and a quoted setting with blanks around the quotes', () => {
  const given = { NOTIFY_URL: '""', PORT: "''", STRIPE_API_KEY: ' "sk_test_example" ' };
  expect(wrong(given).toSorted()).toEqual(Object.keys(given).toSorted());
});

it.each([
  ['STRIPE_WEBHOOK_SECRETS', 'whsec_good_one,"whsec_other_one"'],
  ['STRIPE_WEBHOOK_SECRETS', `'whsec_good_one', whsec_other_one`],
  ['MOR_PAYMENT_WEBHOOK_SECRETS', 'first-secret,"second-secret"'],
  ['MOR_EVENT_WEBHOOK_SECRETS', '“first-secret”,second-secret'],
  ['NOTIFY_SECRETS', `"whsec_${Buffer.alloc(32).toString('base64')}",whsec_${Buffer.alloc(32, 1).toString('base64')}`],
  ['API_KEYS', `backend:signup:"${KEY}"`],
  ['API_KEYS', `"backend:signup:${KEY}",anna:ops:${'o'.repeat(40)}`],
  ['API_KEYS', `"backend":signup:${KEY}`],
  ['TRUSTED_PROXIES', '"10.0.0.7",10.0.0.8'],
  ['ENROLMENT', 'metadata:billed_by="mor"'],
  ['RETRY_SCHEDULE', 'soft="3d,5d" end=nothing'],
])('the daemon refuses quotes around an entry of the setting %s: %s', (name, value) => {
  const relay = {
    NOTIFY_URL: 'https://shop.example/hooks',
    MOR_RELAY_URL: 'https://mor.example/in',
    MOR_RELAY_SECRET: 'relay-secret',
  };
  expect(wrong({ ...relay, [name]: value })).toContain(name);
});

it('the daemon refuses quotes around a group of OIDC_ROLES', () => {
  const provider = {
    OIDC_ISSUER: 'https://idp.example.com',
    OIDC_CLIENT_ID: 'crossbill',
    OIDC_CLIENT_SECRET: 'canary-oidc',
  };
  expect(wrong({ ...provider, OIDC_ROLES: '"finance"=read' })).toEqual(['OIDC_ROLES']);
  expect(wrong({ ...provider, OIDC_ROLES: 'finance=read' })).toEqual([]);
});

it('the daemon accepts a quote inside a secret, or at one end only', () => {
  for (const secret of [`a"b"c-secret`, `"a-secret`, `a-secret'`, `"a-secret'`]) {
    expect([secret, wrong({ MOR_CLIENT_SECRET: secret })]).toEqual([secret, []]);
    expect(load({ MOR_CLIENT_SECRET: secret }).morClientSecret.reveal()).toBe(secret);
  }
  expect(wrong(minimal)).toEqual([]);
});

it('the daemon refuses a secret with invisible characters', () => {
  for (const name of ['MOR_CLIENT_SECRET', 'STRIPE_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS', 'STRIPE_API_KEY'])
    for (const unseen of ['\u200b', '\u00ad', '\u200f', '\ufeff', '\u0000', '\u007f'])
      expect([name, wrong({ [name]: `example-${unseen}secret` })]).toEqual([name, [name]]);
});

it('the daemon refuses a Stripe key with a character not allowed in HTTP headers', () => {
  expect(wrong({ STRIPE_API_KEY: 'sk_test_exämple' })).toEqual(['STRIPE_API_KEY']);
});

const problem = (text: string): string | null => {
  const parsed = SETTINGS.notifyUrl.parse(text);
  return parsed.ok ? null : parsed.problem;
};

it.each([
  'https://shop.example/hooks',
  'https://hooks.slack.com/services/T0/B0/xyz?x=1',
  'https://203.0.113.7/hook',
  'http://127.0.0.1:8080/hook',
  'http://localhost:8080/hook',
  'http://[::1]:8080/',
  'http://10.1.2.3/hook',
  'http://172.16.0.9/hook',
  'http://192.168.1.1/hook',
  'http://[fd12::7]/hook',
  'http://backend:3000/hook',
  'http://backend.internal/hook',
])('the daemon accepts the NOTIFY_URL %s', (url) => {
  expect(problem(url)).toBeNull();
});

it.each(['http://shop.example/hook', 'http://203.0.113.7/hook', 'http://172.32.0.1/hook', 'http://8.8.8.8'])(
  'the daemon refuses plain http to the public internet in the NOTIFY_URL %s',
  (url) => {
    expect(problem(url)).toContain('must be https');
    expect(problem(url)).not.toContain('hook,');
  },
);

it.each([
  'http://169.254.169.254/latest',
  'https://169.254.169.254/latest',
  'https://[fe80::1]/',
  'http://[fd00:ec2::254]/latest',
  'https://100.100.100.200/',
  'https://0.0.0.0/',
  'https://[::]/',
  'https://[::ffff:169.254.169.254]/',
  'https://224.0.0.1/',
])(
  'the daemon refuses a NOTIFY_URL with the address of a cloud metadata service or an unroutable address: %s',
  (url) => {
    expect(problem(url)).toContain('link-local');
  },
);

it.each(['ftp://shop.example/', 'shop.example', 'https://user:pass@shop.example/', 'https://2852039166/', ''])(
  'the daemon refuses the malformed NOTIFY_URL %s',
  (url) => {
    expect(problem(url)).not.toBeNull();
  },
);

it('Crossbill sends no notification to a name resolved to a link-local address or a metadata service', () => {
  for (const address of ['169.254.169.254', 'fe80::1', 'fd00:ec2::254', '100.100.100.200', '::ffff:169.254.1.1']) {
    expect(isForbiddenAddress(address)).toBe(true);
    for (const plain of [true, false]) expect(refusedAddress(address, plain)).toContain('metadata');
  }
});

it('Crossbill sends notifications over plain http only to private addresses, and over https also to public addresses', () => {
  expect(refusedAddress('203.0.113.7', true)).toContain('use https');
  expect(refusedAddress('203.0.113.7', false)).toBeNull();
  for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fd12::1', '::ffff:10.0.0.1']) {
    expect([address, isPrivateAddress(address), refusedAddress(address, true)]).toEqual([address, true, null]);
  }
});

const parse = (text: string) => SETTINGS.notifySecrets.parse(text);

it('NOTIFY_SECRETS accepts secrets of whsec_ and 24 to 64 bytes in base64', () => {
  const parsed = parse(`${newSecret(1)}, ${newSecret(2)}`);
  expect(parsed.ok && parsed.value.map((s) => s.reveal())).toEqual([newSecret(1), newSecret(2)]);
});

it.each([
  'whsec_AAAA',
  'secret',
  `whsec_${Buffer.alloc(23, 1).toString('base64')}`,
  `${newSecret(1)},abc`,
  'whsec_a b',
])('the daemon refuses the NOTIFY_SECRETS %s without repeating them', (text) => {
  const parsed = parse(text);
  expect(parsed.ok).toBe(false);
  expect(!parsed.ok && parsed.problem).toContain('openssl rand -base64 32');
  expect(!parsed.ok && parsed.problem).not.toContain(text);
});

it.each([
  'https://auth.example.com/oauth2/token',
  'https://auth.example.com/oauth2/token/',
  'https://a.example/x/oauth2/token',
])('MOR_AUTH_URL refuses the whole address of the token, %s, and the path is named', (url) => {
  expect(baseOf('/oauth2/token').parse(url)).toMatchObject({
    ok: false,
    problem: expect.stringContaining('/oauth2/token'),
  });
});

it('MOR_AUTH_URL takes the beginning of the address, with a path too', () => {
  for (const url of ['https://auth.example.com', 'https://auth.example.com/tenant/oauth2/tokens'])
    expect(baseOf('/oauth2/token').parse(url)).toEqual({ ok: true, value: url });
});

// Settings: the start of the daemon with them, and the problems that stop it, without a value.
import { expect, it } from '@jest/globals';
import { ConfigError, loadDatabaseConfig, redactedConfig, secretValues } from '../../../../src/shared/config/index.js';
import { KeyRing } from '../../../../src/frames/api/access/key-ring.js';
import { load, minimal, sha256, wrong } from '../../../support/builders/minimal-settings.js';

it('the daemon starts with eight required settings, and all other settings have their documented defaults', () => {
  const config = load();
  expect(config).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databasePoolSize: 10,
    stripeApiBase: null,
    stripeMaxRps: 20,
    stripeCustomPaymentMethodType: null,
    billingMarkMode: 'payment_record',
    billingDraftPolicy: 'wait',
    morBaseUrl: 'http://127.0.0.1:4020',
    morPartnerClientId: null,
    morPsp: 'cardpsp',
    morRelayUrl: null,
    recoveryLinkJurisdiction: null,
    recoveryLinkReturnUrl: null,
    recoveryLinkExpiresSec: 604_800,
    signupChargeCheck: 'psp_reference',
    webhookToleranceSec: 300,
    webhookBodyLimitBytes: 1_048_576,
    renewalAlarmAfterHours: 24,
    bankDebitAlarmAfterDays: 10,
    workerConcurrency: 32,
    logLevel: 'info',
    production: false,
    morEventWebhookSecrets: [],
  });
  expect(config.database).toMatchObject({ kind: 'embedded' });
  expect(config.stripeApiKey.reveal()).toBe('sk_test_canary1');
  expect(config.apiKeys.map(({ name, role }) => `${name}:${role}`)).toEqual(['backend:signup', 'anna:ops']);
});

it('the daemon does not start with missing settings, and reports all missing settings together', () => {
  expect(wrong(Object.fromEntries(Object.keys(minimal).map((name) => [name, undefined])))).toEqual([
    'STRIPE_API_KEY',
    'STRIPE_WEBHOOK_SECRETS',
    'MOR_BASE_URL',
    'MOR_AUTH_URL',
    'MOR_CLIENT_ID',
    'MOR_CLIENT_SECRET',
    'MOR_PAYMENT_WEBHOOK_SECRETS',
    'API_KEYS',
  ]);
});

it('the daemon reports all wrong settings together, with the code config.invalid', () => {
  const bad = {
    PORT: '70000',
    LOG_LEVEL: 'loud',
    MOR_BASE_URL: 'ftp://x',
    API_KEYS: 'a:b:c',
    MOR_RELAY_SECRET: 'relay-secret',
  };
  expect(wrong(bad)).toEqual(['PORT', 'LOG_LEVEL', 'MOR_BASE_URL', 'API_KEYS', 'MOR_RELAY_URL']);
  try {
    load(bad);
  } catch (error) {
    expect(error).toMatchObject({ code: 'config.invalid', retry: 'by-a-person' });
    expect((error as Error).message).toContain('5 settings are wrong');
  }
});

it('the daemon refuses a signing secret that is empty, blank or a placeholder', () => {
  for (const name of ['STRIPE_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS', 'MOR_EVENT_WEBHOOK_SECRETS']) {
    for (const value of [
      '',
      ' ',
      '\t',
      'good-secret,',
      ',good-secret',
      'good-secret,,other-secret',
      'two words here',
      '<secret>',
    ]) {
      expect([name, value, wrong({ [name]: value })]).toEqual([name, value, [name]]);
    }
  }
});

it('the daemon accepts a short signing secret in a test, and refuses a short signing secret in production', () => {
  const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://u:canary5@db:5432/crossbill' };
  for (const name of ['STRIPE_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS', 'MOR_EVENT_WEBHOOK_SECRETS']) {
    for (const value of ['whsec_1', 'good-secret,short', 'secret']) {
      expect([name, value, wrong({ [name]: value })]).toEqual([name, value, []]);
      expect([name, value, wrong({ ...production, [name]: value })]).toEqual([name, value, [name]]);
    }
  }
});

it('a webhook endpoint can have several secrets for rotation, and a repeated secret counts once', () => {
  const config = load({ STRIPE_WEBHOOK_SECRETS: 'whsec_new_one, whsec_old_one,whsec_new_one' });
  expect(config.stripeWebhookSecrets.map((secret) => secret.reveal())).toEqual(['whsec_new_one', 'whsec_old_one']);
});

it('the daemon treats an empty optional setting as unset, and refuses a setting of blanks alone', () => {
  expect(load({ PORT: '', STRIPE_API_BASE: '', DATABASE_URL: '' })).toMatchObject({ port: 3000, stripeApiBase: null });
  expect(wrong({ PORT: '  ', MOR_CLIENT_ID: '' })).toEqual(['PORT', 'MOR_CLIENT_ID']);
});

it('the daemon refuses a publishable key of Stripe as STRIPE_API_KEY', () => {
  expect(wrong({ STRIPE_API_KEY: 'pk_live_123456789' })).toEqual(['STRIPE_API_KEY']);
});

it('the daemon refuses API_KEYS with a short key, an unknown role, or a repeated name or key', () => {
  const key = 'k'.repeat(32);
  for (const value of [
    `a:ops:${'k'.repeat(31)}`,
    `a:admin:${key}`,
    `a:${key}`,
    `:ops:${key}`,
    `a:ops:${key}:x`,
    `a:ops:${key},a:read:${'l'.repeat(32)}`,
    `a:ops:${key},b:read:${key}`,
    `a:ops:${key},`,
    `a:ops:${'k'.repeat(20)} ${'k'.repeat(20)}`,
  ]) {
    expect([value, wrong({ API_KEYS: value })]).toEqual([value, ['API_KEYS']]);
  }
  expect(load({ API_KEYS: ` a:read:${key} , b:ops:${'l'.repeat(64)} ` }).apiKeys.map(({ role }) => role)).toEqual([
    'read',
    'ops',
  ]);
});

it('API_KEYS accepts the hash of a key, and a key and its hash count as the same key', () => {
  const key = 'k'.repeat(32);
  const hash = sha256(key);
  for (const value of [
    `a:ops:sha256:${hash.slice(1)}`,
    `a:ops:sha256:${hash}0`,
    `a:ops:sha256:${'g'.repeat(64)}`,
    `a:ops:sha256:${sha256('')}`,
    `a:ops:sha256:`,
    `a:ops:md5:${hash}`,
    `a:ops:sha256:${hash}:x`,
    `a:ops:sha256:${hash},b:read:${key}`,
    `a:ops:${key},b:read:sha256:${hash.toUpperCase()}`,
  ]) {
    expect([value, wrong({ API_KEYS: value })]).toEqual([value, ['API_KEYS']]);
  }
  const given = (text: string): KeyRing => new KeyRing(load({ API_KEYS: `ada:ops:${text}` }));
  for (const ring of [given(key), given(`sha256:${hash}`), given(`sha256:${hash.toUpperCase()}`)]) {
    expect(ring.identify(key)).toEqual({ name: 'ada', role: 'ops' });
    expect(ring.identify(hash)).toBeNull(); // the hash is no key
    expect(ring.identify(`sha256:${hash}`)).toBeNull();
  }
  expect(load({ API_KEYS: `ada:ops:${key}` }).apiKeys[0]?.digest.reveal()).toBe(hash);
  expect(secretValues(load({ API_KEYS: `ada:ops:${key}` })).join()).not.toContain(key);
});

it('TRUSTED_PROXIES accepts addresses and ranges, and never the whole internet', () => {
  const trusted = (text: string): readonly string[] => load({ TRUSTED_PROXIES: text }).trustedProxies;
  expect(load().trustedProxies).toEqual([]);
  expect(trusted('')).toEqual([]);
  const all = ['10.0.0.7', '192.168.0.0/16', 'fd00::/8', '2001:db8::1'];
  expect(trusted(all.join(' , '))).toEqual(all);
  for (const text of ['0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/8/8', 'loopback', 'proxy.example', '10.0.0.1,']) {
    expect([text, wrong({ TRUSTED_PROXIES: text })]).toEqual([text, ['TRUSTED_PROXIES']]);
  }
});

it('WEBHOOK_BODY_LIMIT accepts a size in bytes, kb or mb', () => {
  const limit = (text: string): number => load({ WEBHOOK_BODY_LIMIT: text }).webhookBodyLimitBytes;
  expect([limit('1mb'), limit('512KB'), limit('2048'), limit('4096b')]).toEqual([1_048_576, 524_288, 2048, 4096]);
  for (const text of ['0', '1', '65mb', '1gb', '-1', '1.5mb', '1e6', 'mb', '1 mb']) {
    expect([text, wrong({ WEBHOOK_BODY_LIMIT: text })]).toEqual([text, ['WEBHOOK_BODY_LIMIT']]);
  }
});

it('the daemon accepts only digits in a number setting', () => {
  for (const text of ['1e3', '0x10', '-1', '+5', '3.0', '٣', 'NaN', '99999999999999999999']) {
    expect([text, wrong({ WEBHOOK_TOLERANCE_SEC: text })]).toEqual([text, ['WEBHOOK_TOLERANCE_SEC']]);
  }
});

it('the daemon refuses a URL with a password, a fragment or an unknown scheme', () => {
  for (const url of [
    'mor.example',
    'ftp://mor.example',
    'https://u:p@mor.example',
    'https://mor.example/#x',
    'https://',
    'javascript:1',
  ]) {
    expect([url, wrong({ MOR_BASE_URL: url })]).toEqual([url, ['MOR_BASE_URL']]);
  }
  expect(wrong({ STRIPE_API_BASE: 'http://127.0.0.1:4010/v1' })).toEqual(['STRIPE_API_BASE']);
  for (const url of [
    'http://localhost:4020',
    'http://[::1]:4020',
    'http://mor_sandbox:4020/base/',
    'https://api.mor.example',
  ]) {
    expect([url, wrong({ MOR_BASE_URL: url })]).toEqual([url, []]);
  }
});

it('the daemon refuses a relay URL or partner id without its secret, and a secret without its URL or id', () => {
  expect(wrong({ MOR_RELAY_URL: 'https://mor.example/in' })).toEqual(['MOR_RELAY_SECRET']);
  expect(wrong({ MOR_RELAY_SECRET: 'relay-secret' })).toEqual(['MOR_RELAY_URL']);
  expect(wrong({ MOR_PARTNER_CLIENT_ID: 'p' })).toEqual(['MOR_PARTNER_CLIENT_SECRET']);
  expect(wrong({ MOR_PARTNER_CLIENT_SECRET: 'partner-secret' })).toEqual(['MOR_PARTNER_CLIENT_ID']);
  const both = { MOR_RELAY_URL: 'https://mor.example/in', MOR_RELAY_SECRET: 'relay-secret' };
  expect(wrong(both)).toEqual([]);
  for (const events of ['created', 'finalized', 'retries'])
    expect(wrong({ ...both, MOR_RELAY_EVENTS: events })).toEqual([]);
  expect(wrong({ ...both, MOR_RELAY_EVENTS: 'Finalized' })).toEqual(['MOR_RELAY_EVENTS']);
  expect(wrong({ MOR_RELAY_EVENTS: 'finalized' })).toEqual(['MOR_RELAY_URL']);
});
const provider = {
  OIDC_ISSUER: 'https://login.example.com/realms/staff',
  OIDC_CLIENT_ID: 'crossbill',
  OIDC_CLIENT_SECRET: 'canary-oidc-secret',
  OIDC_ROLES: 'finance=read, cn=billing=ops',
};

it('single sign-on needs issuer, client, secret and roles together, and never shows the secret', () => {
  const config = load(provider);
  expect(config.oidcRoles).toEqual([
    { group: 'finance', role: 'read' },
    { group: 'cn=billing', role: 'ops' },
  ]);
  expect(secretValues(config)).toContain('canary-oidc-secret');
  const shown = redactedConfig(config);
  expect(shown.find(({ name }) => name === 'OIDC_ROLES')?.value).toBe('finance=read, cn=billing=ops');
  expect(shown.find(({ name }) => name === 'OIDC_CLIENT_SECRET')?.value).toBe('[secret]');
  for (const name of Object.keys(provider)) expect(wrong({ ...provider, [name]: undefined })).toEqual([name]);
  expect(wrong({ OIDC_EMAIL_DOMAIN: 'example.com' })).toEqual(Object.keys(provider));
});

it('single sign-on in production needs CONSOLE_URL', () => {
  const production = { ...provider, NODE_ENV: 'production', DATABASE_URL: 'postgres://u:canary5@db:5432/crossbill' };
  expect(wrong(production)).toEqual(['CONSOLE_URL']);
  expect(load({ ...production, CONSOLE_URL: 'https://billing.example.com/' }).consoleUrl).toBe(
    'https://billing.example.com',
  );
  expect(load(provider).consoleUrl).toBeNull();
});

it.each([
  ['OIDC_ISSUER', ['http://login.example.com', 'http://10.0.0.1', 'https://login.example.com/?tenant=1', 'login']],
  ['OIDC_ROLES', ['finance', 'finance=admin', '=ops', 'a=ops,a=read', 'a=ops,']],
  ['OIDC_EMAIL_DOMAIN', ['@example.com', 'ada@example.com', 'a b']],
  ['CONSOLE_URL', ['http://billing.example.com', 'https://billing.example.com/console', 'billing.example.com']],
])('the daemon refuses a malformed or insecure value of the single sign-on setting %s', (name, values) => {
  for (const value of values) expect([value, wrong({ ...provider, [name]: value })]).toEqual([value, [name]]);
  for (const local of ['http://localhost:8080', 'http://127.0.0.1:9/realm', 'http://[::1]:9'])
    expect(wrong({ ...provider, OIDC_ISSUER: local })).toEqual([]);
});

const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://u:canary5@db:5432/crossbill' };

it('the daemon needs DATABASE_URL in production, and an empty value counts as missing', () => {
  expect(wrong({ NODE_ENV: 'production' })).toEqual(['DATABASE_URL']);
  expect(wrong({ NODE_ENV: 'production', DATABASE_URL: '' })).toEqual(['DATABASE_URL']);
  expect(wrong({ NODE_ENV: 'production', DATABASE_URL: 'mysql://x' })).toEqual(['DATABASE_URL']);
  expect(load(production)).toMatchObject({ production: true, database: { kind: 'url' } });
});

it('in production, the daemon accepts plain http only for private hosts', () => {
  for (const host of ['mor.example', '8.8.8.8', '172.32.0.1', '[2001:db8::1]', '127.0.0.1.example']) {
    expect([host, wrong({ ...production, MOR_BASE_URL: `http://${host}` })]).toEqual([host, ['MOR_BASE_URL']]);
  }
  for (const host of ['sandbox', '10.1.2.3', '172.16.0.9', '[::1]', '[fd00::1]', 'mor.svc.internal']) {
    expect([host, wrong({ ...production, MOR_BASE_URL: `http://${host}` })]).toEqual([host, []]);
  }
  const relay = { MOR_RELAY_SECRET: 'relay-secret-0123456789abcdef' };
  expect(wrong({ ...production, ...relay, MOR_RELAY_URL: 'http://mor.example/in?token=abc' })).toEqual([
    'MOR_RELAY_URL',
  ]);
  expect(wrong({ ...production, ...relay, MOR_RELAY_URL: 'http://sandbox/in' })).toEqual([]);
});

it('each `crossbill` command for the database alone, such as `crossbill migrate`, starts without the other settings', () => {
  expect(loadDatabaseConfig(production)).toMatchObject({
    production: true,
    databasePoolSize: 10,
    database: { kind: 'url' },
  });
  expect(() => loadDatabaseConfig({ NODE_ENV: 'production' })).toThrow(ConfigError);
  expect(loadDatabaseConfig({ CROSSBILL_DATA_DIR: '/data' }).database).toEqual({ kind: 'embedded', dir: '/data' });
});

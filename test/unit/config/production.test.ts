// The settings in production, and what is shown of them.
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ConfigError, loadDatabaseConfig, redactedConfig, secretValues, SETTINGS } from '../../../src/config/index.js';
import { load, problemsOf, sha256, wrong } from '../../support/minimal-settings.js';

describe('in production', () => {
  const production = { NODE_ENV: 'production', DATABASE_URL: 'postgres://u:canary5@db:5432/crossbill' };

  it('the daemon needs a database URL, and an empty one is none', () => {
    expect(wrong({ NODE_ENV: 'production' })).toEqual(['DATABASE_URL']);
    expect(wrong({ NODE_ENV: 'production', DATABASE_URL: '' })).toEqual(['DATABASE_URL']);
    expect(wrong({ NODE_ENV: 'production', DATABASE_URL: 'mysql://x' })).toEqual(['DATABASE_URL']);
    expect(load(production)).toMatchObject({ production: true, database: { kind: 'url' } });
  });

  it('plain http is for private hosts', () => {
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

  it('commands for the database start without the other settings', () => {
    expect(loadDatabaseConfig(production)).toMatchObject({
      production: true,
      databasePoolSize: 10,
      database: { kind: 'url' },
    });
    expect(() => loadDatabaseConfig({ NODE_ENV: 'production' })).toThrow(ConfigError);
    expect(loadDatabaseConfig({ CROSSBILL_DATA_DIR: '/data' }).database).toEqual({ kind: 'embedded', dir: '/data' });
  });
});
describe('the shown settings', () => {
  const full = load({
    DATABASE_URL: 'postgres://u:canary5%21@db:5432/crossbill?password=canary6',
    MOR_EVENT_WEBHOOK_SECRETS: 'canary7-event,canary8-event',
    MOR_RELAY_URL: 'https://mor.example/in?token=canary12-relay',
    MOR_RELAY_SECRET: 'canary9-relay',
    CROSSBILL_SHADOW: 'true',
    MOR_PARTNER_CLIENT_ID: 'p',
    MOR_PARTNER_CLIENT_SECRET: 'canary10-partner',
  });

  it('never contain a secret, in any form of print', () => {
    const shown = [
      JSON.stringify(full),
      inspect(full, { depth: 9, showHidden: true }),
      JSON.stringify(redactedConfig(full)),
      String(full.stripeApiKey),
    ];
    for (const text of shown) expect(text).not.toMatch(/canary|a{32}|b{40}/);
  });

  it('name every setting once, with its current value', () => {
    const shown = redactedConfig(full);
    expect(shown.map(({ name }) => name)).toEqual(Object.values(SETTINGS).map(({ name }) => name));
    const value = (name: string): string | undefined => shown.find((setting) => setting.name === name)?.value;
    expect(value('DATABASE_URL')).toBe('postgres://db:5432/crossbill');
    expect(value('MOR_RELAY_URL')).toBe('https://mor.example/in?[secret]');
    expect(value('PORT')).toBe('3000');
    expect(value('CROSSBILL_SHADOW')).toBe('true');
    expect(value('MOR_EVENT_WEBHOOK_SECRETS')).toBe('[2 secrets]');
    expect(value('STRIPE_API_KEY')).toBe('[secret]');
    expect(value('API_KEYS')).toBe('backend:signup, anna:ops');
  });

  it('come with every secret for the censor of the log, also the database password alone', () => {
    const values = secretValues(full);
    for (const value of [...'1 2 3 4 7 8 9 10 12'.split(' ')])
      expect(values.some((text) => text.includes(`canary${value}`))).toBe(true);
    expect(values).toEqual(expect.arrayContaining(['canary5%21', 'canary5!', 'canary6', sha256('a'.repeat(32))]));
  });

  it('are frozen', () => {
    for (const part of [full, full.database, full.apiKeys, full.apiKeys[0], full.morEventWebhookSecrets])
      expect(Object.isFrozen(part)).toBe(true);
  });

  it('come with problems that never repeat a value', () => {
    const names = Object.values(SETTINGS).map(({ name }) => name);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.stringMatching(/^[!-~ ]{12,60}$/), (name, value) => {
        for (const { problem } of problemsOf({ [name]: value })) expect(problem).not.toContain(value);
      }),
      { numRuns: 500 },
    );
  });
});

// The settings as the console and the command line show them.
import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { redactedConfig, secretValues, SETTINGS } from '../../../../src/shared/config/index.js';
import { load, problemsOf, sha256 } from '../../../support/builders/minimal-settings.js';

const full = load({
  DATABASE_URL: 'postgres://u:canary5%21@db:5432/crossbill?password=canary6',
  MOR_EVENT_WEBHOOK_SECRETS: 'canary7-event,canary8-event',
  MOR_RELAY_URL: 'https://mor.example/in?token=canary12-relay',
  MOR_RELAY_SECRET: 'canary9-relay',
  CROSSBILL_SHADOW: 'true',
  MOR_PARTNER_CLIENT_ID: 'p',
  MOR_PARTNER_CLIENT_SECRET: 'canary10-partner',
});

it('Crossbill shows the operator no secret among the settings, in any printed form', () => {
  const shown = [
    JSON.stringify(full),
    inspect(full, { depth: 9, showHidden: true }),
    JSON.stringify(redactedConfig(full)),
    String(full.stripeApiKey),
  ];
  for (const text of shown) expect(text).not.toMatch(/canary|a{32}|b{40}/);
});

it('Crossbill shows the operator every setting once, with its current value', () => {
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

it("the log's filter knows every secret in the settings, even the database password", () => {
  const values = secretValues(full);
  for (const value of [...'1 2 3 4 7 8 9 10 12'.split(' ')])
    expect(values.some((text) => text.includes(`canary${value}`))).toBe(true);
  expect(values).toEqual(expect.arrayContaining(['canary5%21', 'canary5!', 'canary6', sha256('a'.repeat(32))]));
});

it('no code can change the loaded settings', () => {
  for (const part of [full, full.database, full.apiKeys, full.apiKeys[0], full.morEventWebhookSecrets])
    expect(Object.isFrozen(part)).toBe(true);
});

it('the message about a wrong setting never repeats the setting’s value', () => {
  const names = Object.values(SETTINGS).map(({ name }) => name);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.stringMatching(/^[!-~ ]{12,60}$/), (name, value) => {
      for (const { problem } of problemsOf({ [name]: value })) expect(problem).not.toContain(value);
    }),
    { numRuns: 500 },
  );
});

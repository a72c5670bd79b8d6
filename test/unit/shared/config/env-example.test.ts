// The example file is what the settings table says, and cannot start a daemon before somebody has filled it in.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { expect, it } from '@jest/globals';
import { renderEnvExample } from '../../../../src/shared/config/env-example.js';
import { ConfigError, loadConfig, SETTING_GROUPS, SETTINGS } from '../../../../src/shared/config/index.js';

const text = readFileSync(new URL('../../../../.env.example', import.meta.url), 'utf8');

it('the file .env.example equals the text generated from the settings table', () => {
  // After a change of the table: npm run build && node -e "import('./dist/shared/config/env-example.js').then((m) => process.stdout.write(m.renderEnvExample()))" > .env.example
  expect(text).toBe(renderEnvExample());
});

it('the file .env.example names every setting once', () => {
  const names = [...text.matchAll(/^#?([A-Z][A-Z_]+)=/gm)].map((match) => match[1]);
  expect(names.splice(-2)).toEqual(['POSTGRES_PASSWORD', 'POSTGRES_APP_PASSWORD']); // docker compose's, not ours
  expect(names).toEqual(SETTING_GROUPS.flatMap(({ settings }) => settings.map(({ name }) => name)));
  expect([...names].sort()).toEqual(
    Object.values(SETTINGS)
      .map(({ name }) => name)
      .sort(),
  );
});

it('the daemon does not start with the unchanged file .env.example, because its keys and secrets are not filled in', () => {
  const loading = (): unknown => loadConfig(parseEnv(text));
  expect(loading).toThrow(ConfigError);
  try {
    loading();
  } catch (error) {
    expect((error as ConfigError).problems.map(({ name }) => name)).toEqual([
      'STRIPE_API_KEY',
      'STRIPE_WEBHOOK_SECRETS',
      'MOR_BASE_URL',
      'MOR_AUTH_URL',
      'MOR_CLIENT_ID',
      'MOR_CLIENT_SECRET',
      'MOR_PAYMENT_WEBHOOK_SECRETS',
      'API_KEYS',
    ]);
  }
});

it('every setting has a description and a type, and no secret has a default', () => {
  for (const setting of Object.values(SETTINGS)) {
    expect(setting.description).toMatch(/^[A-Z].*\.$/s);
    expect(setting.type.length).toBeGreaterThan(3);
    if (setting.secret) expect(setting.default).toBeNull(); // no secret has a default
  }
});

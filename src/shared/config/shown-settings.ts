// The settings for the console, `crossbill config` and bug reports. Secrets appear by name, without values.
import { type Config } from './config.js';
import { shownDatabaseUrl } from './database-url.js';
import { type ApiKey } from './kinds.js';
import { Secret } from './secret.js';
import { SETTINGS } from './settings.js';

/** A setting for display. Its `value` is safe to print. */
export type ShownSetting = { readonly name: string; readonly value: string; readonly description: string };

const NOT_SET = 'not set';

/** Every setting with its current value, in the order of the settings reference. */
export function redactedConfig(config: Config): readonly ShownSetting[] {
  const values: Readonly<Record<string, unknown>> = {
    ...config,
    databaseUrl: config.database.kind === 'url' ? withoutPassword(config.database.url) : NOT_SET,
    morRelayUrl: config.morRelayUrl === null ? NOT_SET : withoutQuery(config.morRelayUrl),
    dataDir: config.database.kind === 'embedded' ? config.database.dir : 'not used',
    trustedProxies: config.trustedProxies.join(', ') || NOT_SET,
    oidcRoles: config.oidcRoles.map(({ group, role }) => `${group}=${role}`).join(', ') || NOT_SET,
    apiKeys: config.apiKeys.map(({ name, role }: ApiKey) => `${name}:${role}`).join(', '),
  };
  return Object.entries(SETTINGS).map(([key, { name, description }]) => ({
    name,
    description,
    value: shown(values[key]),
  }));
}

function shown(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0 ? NOT_SET : `[${value.length} secret${value.length === 1 ? '' : 's'}]`;
  if (value instanceof Secret) return value.toString();
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : NOT_SET;
}

/** Host and database of a connection URL, without user, password and options. */
function withoutPassword(url: Secret): string {
  return shownDatabaseUrl(url.reveal()) ?? url.toString();
}

/** The address without its query, because the query may be a secret. */
function withoutQuery(address: Secret): string {
  const { origin, pathname, search } = new URL(address.reveal());
  return `${origin}${pathname}${search === '' ? '' : '?[secret]'}`;
}

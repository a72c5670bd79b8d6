// Turns the environment into one frozen, typed object, and checks it as a whole. Other files do not read settings from
// the environment.
import { resolve } from 'node:path';
import { ConfigError, type SettingProblem } from './config-error.js';
import { passwordsIn } from './database-url.js';
import { IN_QUOTES, isPrivateHost, isQuoted, tooWeak } from './kinds.js';
import { type Proxies, proxiesOf, proxyPasswords } from './proxy.js';
import { scheduleProblem } from './retry-schedule.js';
import { Secret } from './secret.js';
import { bad, type Parsed, type Setting } from './setting.js';
import { SETTINGS } from './settings.js';

type Settings = typeof SETTINGS;
type SettingKey = keyof Settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Values = { readonly [K in SettingKey]: ValueOf<Settings[K]> };

/**
 * The chosen database: a PostgreSQL server elsewhere, or the embedded server with its files in `dir` (an absolute
 * path).
 */
export type DatabaseChoice =
  { readonly kind: 'url'; readonly url: Secret } | { readonly kind: 'embedded'; readonly dir: string };

/** All settings of the daemon, from the settings table. An optional setting without a value is null. */
export type Config = Omit<Values, 'databaseUrl' | 'dataDir'> & {
  /** True if `NODE_ENV` is production. */
  readonly production: boolean;
  /** The database, from `DATABASE_URL`, `CROSSBILL_DATA_DIR` and `NODE_ENV`. */
  readonly database: DatabaseChoice;
  /** The proxies, from HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
  readonly proxies: Proxies;
};

/** True if Crossbill makes notifications: there is a receiver, and no other integration is in charge. */
export function notifies({ notifyUrl, sendsNothing }: Pick<Config, 'notifyUrl' | 'sendsNothing'>): boolean {
  return notifyUrl !== null && !sendsNothing;
}

/** The settings for commands with only a database, such as `crossbill migrate`. */
export type DatabaseConfig = Pick<Config, 'database' | 'databasePoolSize' | 'production' | 'logLevel'>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads all settings.
 * @throws ConfigError with all wrong settings at once, without their values
 */
export function loadConfig(env: Environment): Config {
  const { values, problems } = readSettings(env, Object.keys(SETTINGS) as SettingKey[]);
  const { proxies, problems: ofProxies } = proxiesOf(env);
  problems.push(...crossChecks(env, values), ...ofProxies);
  if (problems.length > 0) throw new ConfigError(problems);
  // By now every setting was parsed without a problem, so the values are complete.
  const { databaseUrl, dataDir, ...rest } = values as Values;
  return deepFreeze({ ...rest, proxies, ...databaseOf(rest.nodeEnv, databaseUrl, dataDir) });
}

/**
 * Loads the settings of the database.
 * @throws ConfigError like `loadConfig`
 */
export function loadDatabaseConfig(env: Environment): DatabaseConfig {
  const keys = ['nodeEnv', 'logLevel', 'dataDir', 'databaseUrl', 'databasePoolSize'] as const;
  const { values, problems } = readSettings(env, keys);
  problems.push(...databaseChecks(values));
  if (problems.length > 0) throw new ConfigError(problems);
  const { nodeEnv, databaseUrl, dataDir, ...rest } = values as Pick<Values, (typeof keys)[number]>;
  return deepFreeze({ ...rest, ...databaseOf(nodeEnv, databaseUrl, dataDir) });
}

/**
 * All secrets, to mask them in the log: the secret settings, the passwords in addresses, and the query of the relay's
 * address.
 */
export function secretValues(config: Config): readonly string[] {
  const { proxies, morRelayUrl, ...rest } = config;
  const { database } = config;
  const relayQuery = morRelayUrl === null ? '' : new URL(morRelayUrl.reveal()).search.slice(1);
  return [
    ...secretsIn(rest),
    ...(database.kind === 'url' ? passwordsIn(database.url.reveal()) : []),
    ...proxyPasswords(proxies),
    ...(relayQuery === '' ? [] : [relayQuery]),
  ];
}

/** Finds every Secret in a value, at any depth. */
function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) return [value.reveal()];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

function readSettings(env: Environment, keys: readonly SettingKey[]) {
  const values: Partial<Record<SettingKey, unknown>> = {};
  const problems: SettingProblem[] = [];
  for (const key of keys) {
    const setting: Setting<unknown> = SETTINGS[key];
    const text = textOf(env, setting);
    if (text === undefined && setting.required) {
      problems.push({ name: setting.name, problem: 'is not set and has no default' });
      continue;
    }
    const parsed: Parsed<unknown> = text === undefined ? { ok: true, value: setting.unset } : parse(setting, text);
    if (parsed.ok) values[key] = parsed.value;
    else problems.push({ name: setting.name, problem: parsed.problem });
  }
  return { values: values as Partial<Values>, problems };
}

function parse(setting: Setting<unknown>, text: string): Parsed<unknown> {
  if (text.trim() === '') return bad('is set but blank');
  return isQuoted(text.trim()) ? bad(IN_QUOTES) : setting.parse(text);
}

/**
 * The text of a variable. Undefined: the variable is not set. Blanks around a value are ignored, but blanks around a
 * secret are a mistake.
 */
function textOf(env: Environment, setting: Setting<unknown>): string | undefined {
  const text = env[setting.name];
  if (text === undefined || (text === '' && setting.emptyIsUnset)) return undefined;
  return setting.secret ? text : text.trim() || ' ';
}

/** The secrets a merchant chooses. Outside production they may be short, for rehearsals. */
const CHOSEN_SECRETS = [
  'stripeApiKey',
  'stripeWebhookSecrets',
  'morPaymentWebhookSecrets',
  'morEventWebhookSecrets',
  'morRelaySecret',
] as const;

/**
 * Checks combinations of settings: two settings may be right alone and wrong together. A wrong setting is already
 * reported and has no value here.
 */
function crossChecks(env: Environment, values: Partial<Values>): SettingProblem[] {
  const problems = databaseChecks(values);
  const isSet = ({ name }: Setting<unknown>): boolean => (env[name] ?? '') !== '';
  const report = ({ name }: Setting<unknown>, problem: string): void => void problems.push({ name, problem });
  const { notifyUrl, notifySecrets, notifyFormat, nodeEnv, retrySchedule: schedule } = values;
  const pairs = [
    [SETTINGS.morRelayUrl, SETTINGS.morRelaySecret],
    [SETTINGS.morPartnerClientId, SETTINGS.morPartnerClientSecret],
    [SETTINGS.recoveryLinkJurisdiction, SETTINGS.recoveryLinkReturnUrl],
  ] as const;
  for (const [first, second] of pairs) {
    if (isSet(first) && env[second.name] === undefined) report(second, `is needed with ${first.name}`);
    if (isSet(second) && !isSet(first)) report(first, `is needed with ${second.name}`);
  }
  if (isSet(SETTINGS.morRelayEvents) && !isSet(SETTINGS.morRelayUrl))
    report(SETTINGS.morRelayUrl, `is needed with ${SETTINGS.morRelayEvents.name}`);
  if (notifyUrl === null && (notifySecrets ?? []).length > 0)
    report(SETTINGS.notifyUrl, `is needed with ${SETTINGS.notifySecrets.name}`);
  if (notifyUrl && notifySecrets?.length === 0 && notifyFormat === 'standard')
    report(SETTINGS.notifySecrets, `is needed with ${SETTINGS.notifyUrl.name}, unless NOTIFY_FORMAT is slack`);
  if (schedule && values.morRelayUrl !== undefined && values.recoveryLinkReturnUrl !== undefined) {
    const has = { relay: values.morRelayUrl !== null, links: values.recoveryLinkReturnUrl !== null };
    const problem = scheduleProblem(schedule, { ...has, production: nodeEnv === 'production' });
    if (problem !== null) report(SETTINGS.retrySchedule, problem);
  }
  // Sign-in through an identity provider needs all these settings or none: the first three prove who a person is, and
  // the last gives the person a role.
  const signIn = [SETTINGS.oidcIssuer, SETTINGS.oidcClientId, SETTINGS.oidcClientSecret, SETTINGS.oidcRoles];
  const given = [...signIn, SETTINGS.oidcEmailDomain].find(isSet);
  const needed = [...signIn, ...(nodeEnv === 'production' ? [SETTINGS.consoleUrl] : [])];
  for (const one of given === undefined ? [] : needed)
    if (!isSet(one)) report(one, `is needed with ${given?.name ?? ''}`);
  if (nodeEnv !== 'production') return problems;
  for (const key of ['stripeApiBase', 'morBaseUrl', 'morAuthUrl', 'morRelayUrl'] as const) {
    const [url] = secretsOrTexts(values[key]);
    if (url?.startsWith('http:') === true && !isPrivateHost(url))
      report(SETTINGS[key], 'must be https in production, except for a private host');
  }
  for (const key of CHOSEN_SECRETS) {
    const problem = secretsOrTexts(values[key])
      .map(tooWeak)
      .find((weak) => weak !== null);
    if (problem !== undefined) report(SETTINGS[key], `${problem}: production needs a real secret`);
  }
  return problems;
}

const secretsOrTexts = (value: unknown): readonly string[] => (typeof value === 'string' ? [value] : secretsIn(value));

/** Checks the database settings. `databaseUrl` null: not set. Undefined: the URL is wrong and already reported. */
function databaseChecks({ nodeEnv, databaseUrl }: Partial<Values>): SettingProblem[] {
  const missing = nodeEnv === 'production' && databaseUrl === null;
  return missing ? [{ name: SETTINGS.databaseUrl.name, problem: 'is needed in production' }] : [];
}

function databaseOf(
  nodeEnv: Values['nodeEnv'],
  url: Secret | null,
  dataDir: string,
): Pick<Config, 'database' | 'production'> {
  return {
    production: nodeEnv === 'production',
    database: url === null ? { kind: 'embedded', dir: resolve(dataDir) } : { kind: 'url', url },
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner as object);
  }
  return Object.freeze(value);
}

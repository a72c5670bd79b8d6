// The environment becomes one frozen, typed object, checked as a whole: nobody else reads environment variables.
import { resolve } from 'node:path';
import { ConfigError, type SettingProblem } from './config-error.js';
import { passwordsIn } from './database-url.js';
import { IN_QUOTES, isPrivateHost, isQuoted, type Parsed, tooWeak } from './parsers.js';
import { type Proxies, proxiesOf, proxyPasswords } from './proxy.js';
import { scheduleProblem } from './retry-settings.js';
import { Secret } from './secret.js';
import { type Setting } from './setting.js';
import { SETTINGS } from './settings.js';

type Settings = typeof SETTINGS;
type SettingKey = keyof Settings;
type ValueOf<S> = S extends Setting<infer T> ? T : never;
type Values = { readonly [K in SettingKey]: ValueOf<Settings[K]> };

/** Which PostgreSQL to use: one that runs elsewhere, or one of our own with its files in `dir` (an absolute path). */
export type DatabaseChoice =
  { readonly kind: 'url'; readonly url: Secret } | { readonly kind: 'embedded'; readonly dir: string };

/** All settings of the daemon. Names, units and defaults are those of the settings table; optional ones that are not set are null. */
export type Config = Omit<Values, 'databaseUrl' | 'dataDir'> & {
  /** `NODE_ENV` is production. */
  readonly production: boolean;
  /** From `DATABASE_URL`, `CROSSBILL_DATA_DIR` and `NODE_ENV`. */
  readonly database: DatabaseChoice;
  /** Not settings of ours: the variables that each host behind a proxy has. */
  readonly proxies: Proxies;
};

/** What is needed to reach the database and nothing else, for commands such as `crossbill migrate`. */
export type DatabaseConfig = Pick<Config, 'database' | 'databasePoolSize' | 'production' | 'logLevel'>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks every setting.
 * @throws ConfigError naming all wrong settings at once, without their values
 */
export function loadConfig(env: Environment): Config {
  const { values, problems } = readSettings(env, Object.keys(SETTINGS) as SettingKey[]);
  const { proxies, problems: ofProxies } = proxiesOf(env);
  problems.push(...crossChecks(env, values), ...ofProxies);
  if (problems.length > 0) throw new ConfigError(problems);
  // Every key was parsed by its own row, and no problem is left: the values are complete.
  const { databaseUrl, dataDir, ...rest } = values as Values;
  return deepFreeze({ ...rest, proxies, ...databaseOf(rest.nodeEnv, databaseUrl, dataDir) });
}

/**
 * Reads and checks the settings of the database alone.
 * @throws ConfigError as `loadConfig` does
 */
export function loadDatabaseConfig(env: Environment): DatabaseConfig {
  const keys = ['nodeEnv', 'logLevel', 'dataDir', 'databaseUrl', 'databasePoolSize'] as const;
  const { values, problems } = readSettings(env, keys);
  problems.push(...databaseChecks(values));
  if (problems.length > 0) throw new ConfigError(problems);
  const checked = values as Pick<Values, (typeof keys)[number]>;
  return deepFreeze({
    databasePoolSize: checked.databasePoolSize,
    logLevel: checked.logLevel,
    ...databaseOf(checked.nodeEnv, checked.databaseUrl, checked.dataDir),
  });
}

/**
 * The values of all secrets, for the one use of keeping them out of the log. Includes the password of the database URL by itself,
 * and what the relay's address says after its question mark, where a token may stand.
 */
export function secretValues(config: Config): readonly string[] {
  const values = [
    config.stripeApiKey,
    ...config.stripeWebhookSecrets,
    config.morClientSecret,
    ...(config.morPartnerClientSecret === null ? [] : [config.morPartnerClientSecret]),
    ...config.morPaymentWebhookSecrets,
    ...config.morEventWebhookSecrets,
    ...(config.morRelaySecret === null ? [] : [config.morRelaySecret]),
    ...(config.notifyUrl === null ? [] : [config.notifyUrl]),
    ...config.notifySecrets,
    ...(config.oidcClientSecret === null ? [] : [config.oidcClientSecret]),
    ...config.apiKeys.map(({ digest }) => digest), // the keys themselves are nowhere
    ...(config.database.kind === 'url' ? [config.database.url] : []),
  ].map((secret) => secret.reveal());
  const relayQuery = config.morRelayUrl === null ? '' : new URL(config.morRelayUrl.reveal()).search.slice(1);
  return [
    ...values,
    ...(config.database.kind === 'url' ? passwordsIn(config.database.url.reveal()) : []),
    ...proxyPasswords(config.proxies),
    ...(relayQuery === '' ? [] : [relayQuery]),
  ];
}

function readSettings(env: Environment, keys: readonly SettingKey[]) {
  const values: Partial<Record<SettingKey, unknown>> = {};
  const problems: SettingProblem[] = [];
  for (const key of keys) {
    const setting: Setting<unknown> = SETTINGS[key];
    const text = textOf(env, setting);
    if (text === undefined) {
      if (setting.required) problems.push({ name: setting.name, problem: 'is not set and has no default' });
      else values[key] = setting.unset;
      continue;
    }
    const parsed = parse(setting, text);
    if (parsed.ok) values[key] = parsed.value;
    else problems.push({ name: setting.name, problem: parsed.problem });
  }
  return { values: values as Partial<Values>, problems };
}

function parse(setting: Setting<unknown>, text: string): Parsed<unknown> {
  if (text.trim() === '') return { ok: false, problem: 'is set but blank' };
  return isQuoted(text.trim()) ? { ok: false, problem: IN_QUOTES } : setting.parse(text);
}

/** The text of a setting; undefined when it is not set. Blanks around it do no harm, except in a secret, where they are a mistake. */
function textOf(env: Environment, setting: Setting<unknown>): string | undefined {
  const text = env[setting.name];
  if (text === undefined || (text === '' && setting.emptyIsUnset)) return undefined;
  return setting.secret ? text : text.trim() || ' ';
}

/** Chosen by or for the merchant. Outside production nobody is hurt by a short one, and rehearsals use such. */
const SECRETS = [
  'stripeApiKey',
  'stripeWebhookSecrets',
  'morPaymentWebhookSecrets',
  'morEventWebhookSecrets',
  'morRelaySecret',
] as const;

/** Settings that are right each by itself and wrong together. A setting that is already wrong is not reported again. */
function crossChecks(env: Environment, values: Partial<Values>): SettingProblem[] {
  const problems = databaseChecks(values);
  const pairs = [
    [SETTINGS.morRelayUrl.name, SETTINGS.morRelaySecret.name],
    [SETTINGS.morPartnerClientId.name, SETTINGS.morPartnerClientSecret.name],
    [SETTINGS.recoveryLinkJurisdiction.name, SETTINGS.recoveryLinkReturnUrl.name],
  ] as const;
  for (const [first, second] of pairs) {
    const isSet = (name: string): boolean => (env[name] ?? '') !== '';
    if (isSet(first) && env[second] === undefined) problems.push({ name: second, problem: `is needed with ${first}` });
    if (isSet(second) && !isSet(first)) problems.push({ name: first, problem: `is needed with ${second}` });
  }
  problems.push(...notifyChecks(values), ...retryChecks(values), ...signInChecks(env, values));
  if (values.nodeEnv === 'production') {
    for (const key of ['stripeApiBase', 'morBaseUrl', 'morAuthUrl', 'morRelayUrl'] as const) {
      const value = values[key];
      const url = value instanceof Secret ? value.reveal() : value;
      if (typeof url === 'string' && url.startsWith('http:') && !isPrivateHost(url)) {
        problems.push({ name: SETTINGS[key].name, problem: 'must be https in production, except for a private host' });
      }
    }
    for (const key of SECRETS) {
      const secrets = [values[key] ?? []].flat();
      const problem = secrets.map(tooWeak).find((weak) => weak !== null);
      if (problem !== undefined) problems.push({ name: SETTINGS[key].name, problem: `${problem}, in production` });
    }
  }
  return problems;
}

/** Wrong settings have no value at all and were reported already. */
function notifyChecks({ notifyUrl: url, notifySecrets, notifyFormat }: Partial<Values>): SettingProblem[] {
  if (url === undefined || notifySecrets === undefined) return [];
  const [{ name: urlName }, { name: secretsName }] = [SETTINGS.notifyUrl, SETTINGS.notifySecrets];
  if (url === null)
    return notifySecrets.length > 0 ? [{ name: urlName, problem: `is needed with ${secretsName}` }] : [];
  if (notifyFormat !== 'standard' || notifySecrets.length > 0) return [];
  return [{ name: secretsName, problem: `is needed with ${urlName}, unless NOTIFY_FORMAT is slack` }];
}

/** All of them or none: whoever signs in must be proven, and must have a role. */
function signInChecks(env: Environment, { nodeEnv }: Partial<Values>): SettingProblem[] {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  const needed = [SETTINGS.oidcIssuer, SETTINGS.oidcClientId, SETTINGS.oidcClientSecret, SETTINGS.oidcRoles];
  const given = [...needed, SETTINGS.oidcEmailDomain].find(({ name }) => isSet(name));
  if (given === undefined) return [];
  return [...needed, ...(nodeEnv === 'production' ? [SETTINGS.consoleUrl] : [])]
    .filter(({ name }) => !isSet(name))
    .map(({ name }) => ({ name, problem: `is needed with ${given.name}` }));
}

/** Its steps need a way to be carried out. */
function retryChecks({ retrySchedule: schedule, nodeEnv, ...v }: Partial<Values>): SettingProblem[] {
  // Wrong settings have no value at all and were reported already.
  if (!schedule || v.morRelayUrl === undefined || v.recoveryLinkReturnUrl === undefined) return [];
  const relay = v.morRelayUrl !== null;
  const links = v.recoveryLinkReturnUrl !== null;
  const problem = scheduleProblem(schedule, { relay, links, production: nodeEnv === 'production' });
  return problem === null ? [] : [{ name: SETTINGS.retrySchedule.name, problem }];
}

function databaseChecks(values: Partial<Values>): SettingProblem[] {
  // Null is "not set"; a URL that is wrong has no value at all and was reported already.
  const missing = values.nodeEnv === 'production' && values.databaseUrl === null;
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

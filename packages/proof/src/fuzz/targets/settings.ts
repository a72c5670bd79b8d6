// The operator's input: the environment, connection URLs, schedules, addresses, and arguments of the command line.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { ExpressAdapter, type NestExpressApplication } from '@nestjs/platform-express';
import { runCli } from '#src/frames/cli/program.js';
import {
  ConfigError,
  loadConfig,
  redactedConfig,
  secretValues,
  SETTINGS,
  withDatabase,
} from '#src/shared/config/index.js';
import {
  hostOf,
  namesSeveralHosts,
  parseDatabaseUrl,
  passwordsIn,
  shownDatabaseUrl,
} from '#src/shared/config/database-url.js';
import { textCensor } from '#src/shared/masks/secrets.js';
import { bent, oddText } from '../inputs/texts.js';
import { must, mustBeSame, type Target } from '../target.js';

const BASE: Readonly<Record<string, string>> = {
  STRIPE_API_KEY: 'sk_test_0123456789abcdef',
  STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
  MOR_BASE_URL: 'https://api.mor.example',
  MOR_AUTH_URL: 'https://auth.mor.example',
  MOR_CLIENT_ID: 'client',
  MOR_CLIENT_SECRET: 'mor-client-secret-0123',
  MOR_PAYMENT_WEBHOOK_SECRETS: 'payments-secret-0123',
  API_KEYS: `ada:ops:${'k'.repeat(40)}`,
};

/** Valid values of each setting. The target makes invalid values from them. */
const RIGHT: Readonly<Record<string, readonly string[]>> = {
  PORT: ['0', '3000', '65535'],
  HOST: ['127.0.0.1', '::1', 'backend.internal'],
  DATABASE_URL: [
    'postgres://u:p%40ss@db.internal:5432/crossbill?sslmode=verify-full',
    'postgres://u@/crossbill?host=/run/postgresql',
  ],
  API_KEYS: [`ada:ops:${'k'.repeat(40)},shop:signup:${'s'.repeat(32)}`, `ada:ops:sha256:${'0a'.repeat(32)}`],
  TRUSTED_PROXIES: ['10.0.0.0/8, fd00::/8', '192.168.1.1', '::1/128'],
  RETRY_SCHEDULE: ['soft=3d,5d,7d hard=link authentication=link end=uncollectible', 'soft=none', 'default', 'off'],
  ENROLMENT: ['all', 'linked', 'metadata:billed_by=mor'],
  NOTIFY_URL: ['https://shop.example/hooks', 'http://10.0.0.1/x', 'http://backend.internal/'],
  NOTIFY_SECRETS: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  WEBHOOK_BODY_LIMIT: ['1mb', '512kb', '1024'],
  WEBHOOK_TOLERANCE_SEC: ['300'],
  OIDC_ISSUER: ['https://login.example/realms/x', 'http://localhost:8080'],
  OIDC_ROLES: ['finance=read, a=b=ops'],
  CONSOLE_URL: ['https://billing.example', 'http://127.0.0.1:3000'],
  MOR_BASE_URL: ['https://api.mor.example/base/', 'http://[::1]:4020'],
  MOR_RELAY_URL: ['https://mor.example/stripe?x=1'],
  STRIPE_API_BASE: ['http://127.0.0.1:4010'],
  STRIPE_WEBHOOK_SECRETS: ['whsec_0123456789abcdef,whsec_fedcba9876543210'],
  STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: ['cpmt_1Ab'],
  RECOVERY_LINK_RETURN_URL: ['https://shop.example/thanks'],
  RECOVERY_LINK_JURISDICTION: ['GB'],
};

const names = Object.values(SETTINGS).map(({ name }) => name);
const oneSetting = fc
  .constantFrom(...names)
  .chain((name) =>
    bent(fc.constantFrom(...(RIGHT[name] ?? ['1', 'true', 'text', '']))).map((text) => [name, text] as const),
  );
const environments = fc
  .tuple(fc.array(oneSetting, { minLength: 1, maxLength: 4 }), fc.constantFrom('production', 'development'))
  .map(([some, mode]) => JSON.stringify({ ...BASE, NODE_ENV: mode, ...Object.fromEntries(some) }));

/** The refused address ranges of the RFCs, a second time: the check must not depend on the list of the settings. */
const metadata = new BlockList();
for (const [address, bits] of [
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['0.0.0.0', 8],
  ['224.0.0.0', 4],
  ['ff00::', 8],
] as const)
  metadata.addSubnet(address, bits, isIPv6(address) ? 'ipv6' : 'ipv4');

const settings: Target = {
  name: 'settings',
  what: 'the environment: every setting, alone and together',
  inputs: environments,
  check(text) {
    const env = JSON.parse(text) as Record<string, string>;
    let config;
    try {
      config = loadConfig(env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      must(
        error.problems.length > 0 && error.problems.every(({ name }) => names.includes(name)),
        'a problem of no setting',
      );
      for (const { name, problem } of error.problems) {
        const value = env[name] ?? '';
        // The error may have a fixed example, and the example may contain the value. Any wrong value gives that error.
        must(
          value.length < 8 || !problem.includes(value) || problem === problemOf(name),
          `the report repeats the value of ${name}`,
        );
      }
      return;
    }
    const secrets = secretValues(config);
    const censor = textCensor(secrets);
    const page = redactedConfig(config)
      .map(({ value }) => value)
      .join('\n');
    for (const secret of secrets) {
      // A connection URL with only host and database contains no secret, so the page may show it.
      const isShown = shownDatabaseUrl(secret) === secret;
      must(secret.length < 8 || isShown || !page.includes(secret), 'the page of settings shows a secret');
      must(secret.length < 8 || !censor(`x ${secret} y`).includes(secret), 'the log would show a secret');
    }
    must(!JSON.stringify(config).includes('secret-0123'), 'the settings as JSON show a secret');
    for (const [name, value] of Object.entries(config))
      must(typeof value !== 'number' || Number.isSafeInteger(value), `${name} is no whole number`);
    must(config.port >= 0 && config.port <= 65_535, 'a port that there is not');
    must(new Set(config.apiKeys.map(({ name }) => name)).size === config.apiKeys.length, 'two keys of one name');
    // A start must not fail on an accepted value: Express parses the trusted proxies a second time.
    const app = new ExpressAdapter().getInstance<NestExpressApplication>();
    app.set('trust proxy', [...config.trustedProxies]);
    if (config.notifyUrl !== null) {
      const host = new URL(config.notifyUrl.reveal()).hostname.replace(/^\[|\]$/g, '');
      const version = isIP(host);
      must(
        version === 0 || !metadata.check(host, version === 6 ? 'ipv6' : 'ipv4'),
        `notifications would go to ${host}`,
      );
    }
    if (config.database.kind === 'url') checkUrl(config.database.url.reveal());
  },
};

/** Gives the setting named `wrong` a control character, and returns its error. Only a free text accepts the value. */
function problemOf(wrong: string): string {
  const setting = Object.values(SETTINGS).find(({ name }) => name === wrong);
  const parsed = setting?.parse('\u0001');
  return parsed === undefined || parsed.ok ? '' : parsed.problem;
}

function checkUrl(text: string): void {
  const without = parseDatabaseUrl(text);
  must(without !== null && !namesSeveralHosts(text), 'accepted, and not a URL of one host');
  without.password = '';
  without.searchParams.delete('password');
  mustBeSame(shownDatabaseUrl(without.href), shownDatabaseUrl(text), 'what is shown without the password');
  const other = withDatabase(text, 'other db');
  must(parseDatabaseUrl(other)?.pathname === '/other%20db', `another database was not named: ${other}`);
}

const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019._~-'), minLength: 1, maxLength: 12 });
const anyPart = fc.string({ unit: fc.constantFrom(...'abc019@:/?#%&= ü"\\\''), maxLength: 12 });

const databaseUrls: Target = {
  name: 'database-url',
  what: 'connection URLs, made of their parts: the parser finds each part again',
  inputs: fc
    .record({
      user: anyPart.filter((u) => u !== ''),
      password: anyPart,
      host: fc.oneof(
        word.map((w) => w.toLowerCase().replace(/[^a-z0-9]/g, 'h')),
        fc.constant('[::1]'),
        fc.constant(''),
      ),
      port: fc.integer({ min: 1, max: 65_535 }),
      database: word,
      socket: fc.boolean(),
    })
    .map((parts) => JSON.stringify(parts)),
  check(text) {
    const { user, password, host, port, database, socket } = JSON.parse(text) as Record<
      'user' | 'password' | 'host' | 'database',
      string
    > & { port: number; socket: boolean };
    const at = socket || host === '' || /^\d+$/.test(host) ? '' : `${host}:${port}`;
    const query = at === '' ? '?host=/run/postgresql' : '?sslmode=require';
    const url = `postgres://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${at}/${database}${query}`;
    const parsed = parseDatabaseUrl(url);
    must(parsed !== null, 'a right URL was refused');
    must(decodeURIComponent(parsed.username) === user, 'another user');
    must(decodeURIComponent(parsed.password) === password, 'another password');
    must(hostOf(parsed) === (at === '' ? '' : host), 'another host');
    must(password === '' || passwordsIn(url).includes(password), 'the password would not be kept out of the log');
    const config = loadConfig({ ...BASE, DATABASE_URL: url });
    mustBeSame(config.database.kind === 'url' && config.database.url.reveal(), url, 'the URL');
    checkUrl(url);
  },
};

type Step = string;
const steps: fc.Arbitrary<readonly Step[]> = fc
  .tuple(
    fc.array(
      fc
        .tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom('s', 'm', 'h', 'd'))
        .filter(([n, unit]) => unit !== 'd' || n <= 30)
        .map(([n, unit]) => `${n}${unit}`),
      { maxLength: 4 },
    ),
    fc.boolean(),
  )
  .map(([charges, link]) => (link ? [...charges, 'link'] : charges));
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const schedules: Target = {
  name: 'retry-schedule',
  what: 'RETRY_SCHEDULE: reading a written schedule keeps its meaning',
  inputs: fc
    .record({
      soft: steps,
      hard: steps,
      authentication: steps,
      end: fc.constantFrom('nothing', 'uncollectible', 'cancel'),
    })
    .map((s) => JSON.stringify(s)),
  check(text) {
    const meant = JSON.parse(text) as Record<'soft' | 'hard' | 'authentication', Step[]> & { end: string };
    const kinds = ['soft', 'hard', 'authentication'] as const;
    const written = `${kinds.map((kind) => `${kind}=${meant[kind].join(',') || 'none'}`).join(' ')} end=${meant.end}`;
    const parsed = SETTINGS.retrySchedule.parse(written);
    must(parsed.ok && parsed.value !== null, `refused: ${written}`);
    for (const kind of kinds) {
      const expected = meant[kind].map((step) =>
        step === 'link'
          ? { do: 'link' }
          : { do: 'charge', afterMs: Number(step.slice(0, -1)) * UNIT_MS[step.at(-1) as keyof typeof UNIT_MS] },
      );
      mustBeSame(parsed.value[kind], expected, kind);
    }
    must(parsed.value.end === meant.end, 'another end');
  },
};

const commands = [
  'status',
  'events list',
  'events show evt_1',
  'retry evt_1',
  'explain in_1',
  'refund pay_1 --amount 12.50',
  'verify --since 30d',
  'export ledger --month 2026-11',
  'trial-balance --month 2026-11',
  'reviews list --limit 5',
  'notifications list',
  'erase cus_1 --yes',
  'invoices --status paid',
  'payments',
  'migrate',
  'onboard list',
  'returned pay_1',
  'import customers file.csv',
  'doctor',
  'rebuild',
  'webhooks list',
  'completion bash',
  'shadow',
];
const argument = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '--json',
      '--help',
      '--limit',
      '--since',
      '--amount',
      '--status',
      '--month',
      '--env-file',
      '--column',
      '--yes',
      '--',
      '-',
      '--env-file=/nowhere',
      '30d',
      '2026-11',
      '12.50',
    ),
  },
  { weight: 3, arbitrary: oddText.filter((text) => !text.includes('\0')) },
);
const USAGE_CODES = [0, 1, 2, 4, 78];

const commandLine: Target = {
  name: 'command-line',
  what: "the command line's arguments, without a database to reach",
  inputs: fc
    .tuple(fc.constantFrom(...commands), fc.array(fc.tuple(fc.nat(5), argument), { maxLength: 4 }))
    .map(([command, added]) =>
      JSON.stringify(
        added.reduce(
          (words: string[], [at, text]) => words.toSpliced(at % (words.length + 1), 0, text),
          command.split(' '),
        ),
      ),
    ),
  async check(text) {
    const argv = JSON.parse(text) as string[];
    let said = '';
    const code = await runCli(argv, {
      // Without settings no command reaches Stripe or the MoR.
      env: { NODE_ENV: 'production' },
      cwd: tmpdir(),
      user: 'fuzz',
      out: (t) => {
        said += t;
        return Promise.resolve();
      },
      err: (t) => void (said += t),
      isTerminal: false,
      colours: false,
      columns: null,
      ask: () => Promise.resolve(''),
      signal: AbortSignal.abort(),
    });
    must(USAGE_CODES.includes(code), `exit code ${code}`);
    must(said !== '', `ended with ${code} without a word`);
    must(
      !/\b(TypeError|RangeError|ReferenceError|SyntaxError)\b|\n {4}at /.test(said.replaceAll(argv.join(' '), '')),
      `an error of ours came through: ${said.slice(0, 300)}`,
    );
  },
};

export const settingTargets: readonly Target[] = [settings, databaseUrls, schedules, commandLine];

// The settings table: the one source for parsing the environment, the example file, the console and the settings reference.
import { doors } from './door-settings.js';
import { mor } from './mor-settings.js';
import { notifications } from './notify-settings.js';
import { signIn } from './oidc-settings.js';
import { failedRenewals } from './retry-settings.js';
import {
  choice,
  databaseUrl,
  flag,
  httpUrl,
  integer,
  listenHost,
  matching,
  signingSecrets,
  stripeKey,
} from './parsers.js';
import { optional, required, withDefault, type Setting } from './setting.js';

const url = 'http or https URL';
const someText = matching(/^\S(.*\S)?$/s, 'some text');

const daemon = {
  nodeEnv: withDefault(
    {
      name: 'NODE_ENV',
      type: 'development, test or production',
      description:
        'In production a DATABASE_URL is required, nothing is embedded, and plain http is refused for hosts on the public internet.',
    },
    'development',
    choice(['development', 'test', 'production']),
  ),
  port: withDefault(
    { name: 'PORT', type: 'port, 0 to 65535', description: 'The port to listen on. 0 takes any free one.' },
    '3000',
    integer(0, 65_535),
  ),
  host: withDefault(
    {
      name: 'HOST',
      type: 'host name or IP address',
      description: 'The address to listen on. The container image sets 0.0.0.0.',
    },
    '127.0.0.1',
    listenHost,
  ),
  logLevel: withDefault(
    {
      name: 'LOG_LEVEL',
      type: 'fatal, error, warn, info, debug, trace or silent',
      description: 'The least important log line that is written.',
    },
    'info',
    choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
  shadow: withDefault(
    {
      name: 'CROSSBILL_SHADOW',
      type: 'true or false',
      description:
        'True: decide and report beside an existing integration, and change nothing at Stripe or the MoR. Give it a database of its own.',
    },
    'false',
    flag,
  ),
  dataDir: withDefault(
    {
      name: 'CROSSBILL_DATA_DIR',
      type: 'directory',
      description: 'Where the embedded PostgreSQL keeps its files when no DATABASE_URL is set. Created when missing.',
    },
    '.crossbill',
    someText,
  ),
  workerConcurrency: withDefault(
    {
      name: 'WORKER_CONCURRENCY',
      type: 'integer, 1 to 1000',
      description:
        'How many lanes (invoices) one process works on at once. Most of that time is spent waiting for Stripe and the MoR.',
    },
    '32',
    integer(1, 1000),
  ),
};

const database = {
  databaseUrl: optional(
    {
      name: 'DATABASE_URL',
      type: 'postgres:// or postgresql:// URL',
      secret: true,
      emptyIsUnset: true,
      example: 'postgres://crossbill:<password>@127.0.0.1:5432/crossbill',
      description: 'PostgreSQL 14 or later. Without it, outside production, an embedded PostgreSQL is started.',
    },
    databaseUrl,
  ),
  databasePoolSize: withDefault(
    {
      name: 'DATABASE_POOL_SIZE',
      type: 'connections, 1 to 500',
      description: 'The most connections one process opens.',
    },
    '10',
    integer(1, 500),
  ),
};

const stripe = {
  stripeApiKey: required(
    {
      name: 'STRIPE_API_KEY',
      type: 'secret',
      secret: true,
      example: '<sk_… or rk_…>',
      description: "The secret or restricted key of the merchant's Stripe account.",
    },
    stripeKey,
  ),
  stripeWebhookSecrets: required(
    {
      name: 'STRIPE_WEBHOOK_SECRETS',
      type: 'secrets, comma-separated',
      secret: true,
      example: '<whsec_…>',
      description: 'The signing secrets of the webhook endpoint at /webhooks/stripe. Any one may match, for rotation.',
    },
    signingSecrets,
  ),
  stripeApiBase: optional(
    {
      name: 'STRIPE_API_BASE',
      type: `${url} without a path`,
      example: 'http://127.0.0.1:4010',
      description: "Another address for Stripe's API, for the sandbox. Default: Stripe itself.",
    },
    httpUrl('origin'),
  ),
  stripeMaxRps: withDefault(
    {
      name: 'STRIPE_MAX_RPS',
      type: 'requests per second, 1 to 10000',
      description:
        'The budget of requests to Stripe, shared by all replicas on one database. One endpoint gets a quarter of it, at least 25.',
    },
    '20',
    integer(1, 10_000),
  ),
  stripeCustomPaymentMethodType: optional(
    {
      name: 'STRIPE_CUSTOM_PAYMENT_METHOD_TYPE',
      type: 'cpmt_… id',
      example: 'cpmt_…',
      description:
        'The custom payment method type, made in the Stripe Dashboard, under which payment records are reported.',
    },
    matching(/^cpmt_[A-Za-z0-9_]+$/, 'an id that begins with cpmt_'),
  ),
  billingMarkMode: withDefault(
    {
      name: 'BILLING_MARK_MODE',
      type: 'payment_record or out_of_band',
      description: 'How an invoice is marked paid. It is never switched silently.',
    },
    'payment_record',
    choice(['payment_record', 'out_of_band']),
  ),
  billingDraftPolicy: withDefault(
    {
      name: 'BILLING_DRAFT_POLICY',
      type: 'wait or finalize',
      description:
        'What to do when money arrives while the invoice is a draft: wait until Stripe finalizes it, or finalize it at once.',
    },
    'wait',
    choice(['wait', 'finalize']),
  ),
};

/** Every setting, by its name in the settings object. */
export const SETTINGS = {
  ...daemon,
  ...database,
  ...stripe,
  ...mor,
  ...failedRenewals,
  ...notifications,
  ...signIn,
  ...doors,
};

/** The same settings in the order and under the headings of the reference and the example file. */
export const SETTING_GROUPS: readonly { readonly title: string; readonly settings: readonly Setting<unknown>[] }[] = [
  { title: 'The process', settings: Object.values(daemon) },
  { title: 'The database', settings: Object.values(database) },
  { title: 'Stripe', settings: Object.values(stripe) },
  { title: 'The Merchant of Record', settings: Object.values(mor) },
  { title: 'Failed renewals', settings: Object.values(failedRenewals) },
  { title: 'Telling your backend', settings: Object.values(notifications) },
  { title: 'Signing in to the console', settings: Object.values(signIn) },
  { title: 'Doors and rules', settings: Object.values(doors) },
];

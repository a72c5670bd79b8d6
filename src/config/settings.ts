// The settings table: the one source for parsing the environment, the example file, the console and the settings reference.
import { enrolment } from './enrolment-setting.js';
import { notifications } from './notify-settings.js';
import { failedRenewals } from './retry-settings.js';
import { trustedProxies } from './proxy-settings.js';
import {
  apiKeys,
  byteSize,
  choice,
  databaseUrl,
  flag,
  httpUrl,
  integer,
  listenHost,
  matching,
  mismatchStatus,
  secret,
  signingSecret,
  signingSecrets,
  stripeKey,
} from './parsers.js';
import { optional, optionalList, required, type Setting, withDefault } from './setting.js';

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
  otlpEndpoint: optional(
    {
      name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      type: url,
      example: 'http://127.0.0.1:4318',
      description:
        'An OpenTelemetry collector that takes traces over OTLP/HTTP; /v1/traces is appended. Default: no traces.',
    },
    httpUrl('base'),
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

const mor = {
  morBaseUrl: required(
    {
      name: 'MOR_BASE_URL',
      type: url,
      example: 'http://127.0.0.1:4020',
      description: "The host of the MoR's API, to which paths such as /api/payments are appended.",
    },
    httpUrl('base'),
  ),
  morAuthUrl: required(
    {
      name: 'MOR_AUTH_URL',
      type: url,
      example: 'http://127.0.0.1:4020',
      description: "The documents' auth_url, to which /oauth2/token is appended.",
    },
    httpUrl('base'),
  ),
  morClientId: required(
    {
      name: 'MOR_CLIENT_ID',
      type: 'text',
      example: '<client id>',
      description: "The merchant's client id at the MoR.",
    },
    matching(/^[^\s<>]+$/, 'the client id, without blanks'),
  ),
  morClientSecret: required(
    {
      name: 'MOR_CLIENT_SECRET',
      type: 'secret',
      secret: true,
      example: '<client secret>',
      description: "The merchant's client secret at the MoR.",
    },
    secret(),
  ),
  morPartnerClientId: optional(
    {
      name: 'MOR_PARTNER_CLIENT_ID',
      type: 'text',
      example: '<partner client id>',
      description: 'The partner credentials, which enable onboarding. Set both or neither.',
    },
    matching(/^[^\s<>]+$/, 'the client id, without blanks'),
  ),
  morPartnerClientSecret: optional(
    {
      name: 'MOR_PARTNER_CLIENT_SECRET',
      type: 'secret',
      secret: true,
      example: '<partner client secret>',
      description: 'The secret that belongs to MOR_PARTNER_CLIENT_ID.',
    },
    secret(),
  ),
  morPsp: withDefault(
    {
      name: 'MOR_PSP',
      type: 'lower-case letters, digits, "_" and "-"',
      description: 'The processor segment of the payment routes; it also names the field merchant_customer.<psp>_id.',
    },
    'cardpsp',
    matching(/^[a-z0-9][a-z0-9_-]{0,39}$/, '1 to 40 lower-case letters, digits, "_" or "-"'),
  ),
  morProduct: withDefault(
    {
      name: 'MOR_PRODUCT',
      type: 'mor or tor',
      description: 'With tor, tax transactions and tax refunds are committed by Crossbill.',
    },
    'mor',
    choice(['mor', 'tor']),
  ),
  morPaymentWebhookSecrets: required(
    {
      name: 'MOR_PAYMENT_WEBHOOK_SECRETS',
      type: 'secrets, comma-separated',
      secret: true,
      example: '<secret>',
      description: 'The secrets that check Mor-Signature, for /webhooks/mor/payments. Any one may match, for rotation.',
    },
    signingSecrets,
  ),
  morEventWebhookSecrets: optionalList(
    {
      name: 'MOR_EVENT_WEBHOOK_SECRETS',
      type: 'secrets, comma-separated',
      secret: true,
      example: '<secret>',
      description:
        'The secrets that check Service-Signature, for /webhooks/mor/events. Any one may match. Without one, that door refuses everything with WEBHOOK_MISMATCH_STATUS.',
    },
    signingSecrets,
  ),
  morRelayUrl: optional(
    {
      name: 'MOR_RELAY_URL',
      type: url,
      example: 'https://mor.example/stripe',
      description:
        'Where authentic invoice.created events are sent on to, for merchants who cannot add a second Stripe endpoint. Set it with MOR_RELAY_SECRET or leave both out.',
    },
    httpUrl('endpoint'),
  ),
  morRelaySecret: optional(
    {
      name: 'MOR_RELAY_SECRET',
      type: 'secret',
      secret: true,
      example: '<whsec_…>',
      description: 'The secret that signs what is relayed.',
    },
    signingSecret,
  ),
};

const doors = {
  apiKeys: required(
    {
      name: 'API_KEYS',
      type: 'name:role:key, comma-separated',
      secret: true,
      example: '<name:ops:key>',
      description:
        'The bearer keys of the API and the console. The role is read, signup or ops, and each includes the one before. A key has at least 32 characters: openssl rand -hex 24 makes one.',
    },
    apiKeys,
  ),
  trustedProxies,
  signupChargeCheck: withDefault(
    {
      name: 'SIGNUP_CHARGE_CHECK',
      type: 'psp_reference or off',
      description: 'How a charge id that came from a browser is proven before an invoice is marked paid with it.',
    },
    'psp_reference',
    choice(['psp_reference', 'off']),
  ),
  webhookToleranceSec: withDefault(
    {
      name: 'WEBHOOK_TOLERANCE_SEC',
      type: 'seconds, 1 to 86400',
      description: 'How far the time in a signature may lie from ours, on either side.',
    },
    '300',
    integer(1, 86_400),
  ),
  webhookBodyLimitBytes: withDefault(
    {
      name: 'WEBHOOK_BODY_LIMIT',
      type: 'size, 1kb to 64mb',
      description: 'The largest webhook body that is read; a larger one is answered 413. 1kb is 1,024 bytes.',
    },
    '1mb',
    byteSize,
  ),
  webhookMismatchStatus: withDefault(
    {
      name: 'WEBHOOK_MISMATCH_STATUS',
      type: '401 or 503',
      description:
        'The answer to a signature that no secret made. Set 503 while secrets are rotated, so that the sender tries again instead of giving up.',
    },
    '401',
    mismatchStatus,
  ),
  enrolment,
  renewalAlarmAfterHours: withDefault(
    {
      name: 'RENEWAL_ALARM_AFTER_HOURS',
      type: 'hours, 1 to 8760',
      description: 'An expected renewal with no verdict after this time becomes a review item.',
    },
    '24',
    integer(1, 8760),
  ),
  bankDebitAlarmAfterDays: withDefault(
    {
      name: 'BANK_DEBIT_ALARM_AFTER_DAYS',
      type: 'days, 1 to 60',
      description:
        'How long a bank debit may take. A signup by debit is looked up at the MoR for that long, and the renewals of a customer who is known to pay by debit become a review item only then.',
    },
    '10',
    integer(1, 60),
  ),
};

/** Every setting, by its name in the settings object. */
export const SETTINGS = { ...daemon, ...database, ...stripe, ...mor, ...failedRenewals, ...notifications, ...doors };

/** The same settings in the order and under the headings of the reference and the example file. */
export const SETTING_GROUPS: readonly { readonly title: string; readonly settings: readonly Setting<unknown>[] }[] = [
  { title: 'The process', settings: Object.values(daemon) },
  { title: 'The database', settings: Object.values(database) },
  { title: 'Stripe', settings: Object.values(stripe) },
  { title: 'The Merchant of Record', settings: Object.values(mor) },
  { title: 'Failed renewals', settings: Object.values(failedRenewals) },
  { title: 'Telling your backend', settings: Object.values(notifications) },
  { title: 'Doors and rules', settings: Object.values(doors) },
];

// The settings table. The parser, the example file, the console and the settings reference all read it.
import { enrolmentRule } from './enrolment-kind.js';
import {
  addressRanges,
  apiKeys,
  byteSize,
  choice,
  consoleOrigin,
  databaseUrl,
  emailDomain,
  flag,
  groupRoles,
  baseOf,
  httpUrl,
  integer,
  issuer,
  listenHost,
  matching,
  notifySecrets,
  receiverUrl,
  relayUrl,
  secret,
  signingSecrets,
  stripeKey,
} from './kinds.js';
import { retrySchedule } from './retry-schedule.js';
import { optional, optionalList, required, type Setting, withDefault } from './setting.js';

const clientId = matching('text', /^[^\s<>]+$/, 'the client id, without blanks');

const daemon = {
  nodeEnv: withDefault(
    'NODE_ENV',
    choice(['development', 'test', 'production']),
    'development',
    'Production needs a DATABASE_URL, starts no embedded PostgreSQL, and refuses plain http for hosts on the public internet.',
  ),
  port: withDefault('PORT', integer(0, 65_535, 'port'), '3000', 'The port to listen on. 0 takes any free one.'),
  host: withDefault('HOST', listenHost, '127.0.0.1', 'The address to listen on. The container image sets 0.0.0.0.'),
  logLevel: withDefault(
    'LOG_LEVEL',
    choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'The lowest level in the log.',
  ),
  sendsNothing: withDefault(
    'CROSSBILL_SHADOW',
    flag,
    'false',
    'True: Crossbill decides and reports next to an existing integration, and changes nothing at Stripe or the MoR. Shadow mode needs its own database.',
  ),
  dataDir: withDefault(
    'CROSSBILL_DATA_DIR',
    matching('directory', /^\S(.*\S)?$/s, 'some text'),
    '.crossbill',
    'The folder of the embedded PostgreSQL, for use without DATABASE_URL. Crossbill creates it.',
  ),
  workerConcurrency: withDefault(
    'WORKER_CONCURRENCY',
    integer(1, 1000, 'integer'),
    '32',
    'How many lanes (invoices) one process works on at once. Most lanes wait for Stripe or the MoR.',
  ),
};

const database = {
  databaseUrl: optional(
    'DATABASE_URL',
    databaseUrl,
    'PostgreSQL 14 or later. Without it, outside production, Crossbill starts an embedded PostgreSQL.',
    { example: 'postgres://crossbill:<password>@127.0.0.1:5432/crossbill', emptyIsUnset: true },
  ),
  databasePoolSize: withDefault(
    'DATABASE_POOL_SIZE',
    integer(1, 500, 'connections'),
    '10',
    'The most database connections of one process. 1 counts as 2.',
  ),
};

const stripe = {
  stripeApiKey: required(
    'STRIPE_API_KEY',
    stripeKey,
    "The secret or restricted key of the merchant's Stripe account.",
    { example: '<sk_… or rk_…>' },
  ),
  stripeWebhookSecrets: required(
    'STRIPE_WEBHOOK_SECRETS',
    signingSecrets,
    'The signing secrets of /webhooks/stripe. One match is enough: rotate with two.',
    { example: '<whsec_…>' },
  ),
  stripeApiBase: optional(
    'STRIPE_API_BASE',
    httpUrl('origin'),
    "Another address for Stripe's API, for the sandbox. Default: Stripe itself.",
    { example: 'http://127.0.0.1:4010' },
  ),
  stripeMaxRps: withDefault(
    'STRIPE_MAX_RPS',
    integer(1, 10_000, 'requests per second'),
    '20',
    'The most requests a second to Stripe, of all replicas on one database. One endpoint of Stripe gets a quarter of them, at least 25.',
  ),
  stripeCustomPaymentMethodType: optional(
    'STRIPE_CUSTOM_PAYMENT_METHOD_TYPE',
    matching('cpmt_… id', /^cpmt_[A-Za-z0-9_]+$/, 'an id that begins with cpmt_'),
    'The custom payment method type of payment records, from the Stripe Dashboard.',
    { example: 'cpmt_…' },
  ),
  billingMarkMode: withDefault(
    'BILLING_MARK_MODE',
    choice(['payment_record', 'out_of_band']),
    'payment_record',
    'How Crossbill marks an invoice paid on Stripe. Crossbill never switches silently.',
  ),
  billingDraftPolicy: withDefault(
    'BILLING_DRAFT_POLICY',
    choice(['wait', 'finalize']),
    'wait',
    'If the MoR charged a draft, Crossbill waits until Stripe finalizes it, or finalizes it at once.',
  ),
};

const mor = {
  morBaseUrl: required(
    'MOR_BASE_URL',
    httpUrl('base'),
    "The host of the MoR's API. Crossbill appends paths such as /api/payments.",
    { example: '<https://…>' },
  ),
  morAuthUrl: required(
    'MOR_AUTH_URL',
    baseOf('/oauth2/token'),
    "The MoR's auth_url. Crossbill appends /oauth2/token.",
    {
      example: '<https://…>',
    },
  ),
  morClientId: required('MOR_CLIENT_ID', clientId, "The merchant's client id at the MoR.", { example: '<client id>' }),
  morClientSecret: required('MOR_CLIENT_SECRET', secret, "The merchant's client secret at the MoR.", {
    example: '<client secret>',
  }),
  morPartnerClientId: optional(
    'MOR_PARTNER_CLIENT_ID',
    clientId,
    "The partner's client id, for onboarding. Set it and MOR_PARTNER_CLIENT_SECRET, or neither.",
    { example: '<partner client id>' },
  ),
  morPartnerClientSecret: optional('MOR_PARTNER_CLIENT_SECRET', secret, 'The secret of MOR_PARTNER_CLIENT_ID.', {
    example: '<partner client secret>',
  }),
  morPortalUrl: optional(
    'MOR_PORTAL_URL',
    matching(
      'https URL with {id}',
      /^https:\/\/[a-z0-9.-]+(:\d+)?\/[^\s{}]*\{id\}[^\s{}]*$/i,
      'an https URL with {id} in the place of the dispute’s id',
    ),
    "The page of a dispute in the MoR's portal, with {id} in the place of its id: the console's link to send evidence, if the MoR's event has none.",
    { example: 'https://portal.mor.example/disputes/{id}' },
  ),
  morPsp: withDefault(
    'MOR_PSP',
    matching(
      'lower-case letters, digits, "_" and "-"',
      /^[a-z0-9][a-z0-9_-]{0,39}$/,
      '1 to 40 lower-case letters, digits, "_" or "-"',
    ),
    'cardpsp',
    "The processor's name in the MoR's payment paths and in the field merchant_customer.<psp>_id.",
  ),
  morSetupCustomer: withDefault(
    'MOR_SETUP_CUSTOMER',
    choice(['send', 'omit']),
    'send',
    'With send Crossbill names the customer of a setup intent in merchant_customer. Use omit only if the MoR refuses this field: then only the MoR knows the owner of a saved payment method.',
  ),
  morPaymentWebhookSecrets: required(
    'MOR_PAYMENT_WEBHOOK_SECRETS',
    signingSecrets,
    'The secrets for Mor-Signature at /webhooks/mor/payments. One match is enough: rotate with two.',
    { example: '<secret>' },
  ),
  morEventWebhookSecrets: optionalList(
    'MOR_EVENT_WEBHOOK_SECRETS',
    signingSecrets,
    'The secrets for Service-Signature at /webhooks/mor/events. One match is enough. Without a secret, this endpoint refuses every delivery with 503.',
    { example: '<secret>' },
  ),
  morRelayUrl: optional(
    'MOR_RELAY_URL',
    relayUrl,
    'Crossbill relays authentic invoice.created events to this address, if you cannot add a second endpoint at Stripe. Charges of RETRY_SCHEDULE need it too. Set it with MOR_RELAY_SECRET, or leave both out.',
    { example: 'https://mor.example/stripe' },
  ),
  morRelaySecret: optional('MOR_RELAY_SECRET', secret, 'The signing secret of relayed events.', {
    example: '<whsec_…>',
  }),
  morRelayEvents: withDefault(
    'MOR_RELAY_EVENTS',
    choice(['created', 'finalized', 'retries']),
    'created',
    "The events for MOR_RELAY_URL. created: each invoice.created of Stripe at once, for fixed prices. finalized: one invoice.created of Crossbill's own for each final invoice, for usage, prorations and invoices filled by hand, since the amount of a draft may still grow. retries: no first charge, only retries, for a MoR with a Stripe endpoint of its own.",
  ),
};

const failedRenewals = {
  retrySchedule: withDefault(
    'RETRY_SCHEDULE',
    retrySchedule,
    'off',
    'The steps after a failed renewal, by kind of decline. 3d: the MoR charges again after 3 days, over MOR_RELAY_URL; without MOR_RELAY_URL Crossbill makes a payment link then. link: Crossbill makes a payment link at once. end: after the last step Crossbill does nothing, marks the invoice uncollectible, or cancels the subscription (cancel). default: soft=3d,5d,7d hard=link authentication=link end=nothing. A missing entry has its default.',
  ),
  recoveryLinkJurisdiction: optional(
    'RECOVERY_LINK_JURISDICTION',
    matching('country code (ISO 3166-1 alpha-2)', /^[A-Z]{2}$/, 'a country code of two capital letters'),
    "With RECOVERY_LINK_RETURN_URL: Crossbill makes a payment link for a failed renewal, or if the customer must authenticate: at once, or by RETRY_SCHEDULE. The link is for the customer's country on the Stripe invoice, or for this country if Stripe names none or the MoR does not collect there. Left out: links on request only.",
    { example: 'GB' },
  ),
  recoveryLinkReturnUrl: optional(
    'RECOVERY_LINK_RETURN_URL',
    httpUrl('endpoint'),
    'The customer goes to this page after paying by such a link. The visit proves no payment.',
    { example: 'https://shop.example/thanks' },
  ),
  recoveryLinkExpiresSec: withDefault(
    'RECOVERY_LINK_EXPIRES_SEC',
    integer(60, 31_536_000, 'seconds'),
    '604800',
    'How long such a link can be paid. The default is a week.',
  ),
};

const notifications = {
  notifyUrl: optional(
    'NOTIFY_URL',
    receiverUrl,
    'The receiver of notifications: invoices paid and left open, refunds, reviews and more. Left out: Crossbill writes and sends none.',
    { example: 'https://shop.example/hooks/crossbill', emptyIsUnset: true },
  ),
  notifySecrets: optionalList(
    'NOTIFY_SECRETS',
    notifySecrets,
    'The signing secrets of notifications, by the Standard Webhooks scheme, the current secret first. Crossbill signs with every secret, so your receiver can change to a new one at any time.',
    { example: '<whsec_…>' },
  ),
  notifyFormat: withDefault(
    'NOTIFY_FORMAT',
    choice(['standard', 'slack']),
    'standard',
    'Signed JSON for programs (standard), or one line of text for an incoming webhook of Slack (slack).',
  ),
};

const signIn = {
  oidcIssuer: optional(
    'OIDC_ISSUER',
    issuer,
    'The identity provider (OpenID Connect) for the console; API keys keep working. Its redirect URI is CONSOLE_URL with the path /console/sso/callback. Left out: API keys only.',
    { example: 'https://login.example.com/realms/staff' },
  ),
  oidcClientId: optional(
    'OIDC_CLIENT_ID',
    matching('text', /^[\x21-\x7e]{1,255}$/, '1 to 255 characters without blanks'),
    'The client id of the console at the identity provider.',
    { example: 'crossbill' },
  ),
  oidcClientSecret: optional(
    'OIDC_CLIENT_SECRET',
    secret,
    'The secret of OIDC_CLIENT_ID. A new secret ends all sessions from the identity provider.',
    { example: '<client secret>', emptyIsUnset: true },
  ),
  oidcRoles: optionalList(
    'OIDC_ROLES',
    groupRoles,
    'The role of each group at the provider (the claim groups): read, signup or ops. The highest role of a person counts; a person without a role cannot sign in.',
    { example: 'finance=read, billing-ops=ops' },
  ),
  oidcEmailDomain: optional(
    'OIDC_EMAIL_DOMAIN',
    emailDomain,
    'Only people with a verified e-mail address of this domain can sign in. Left out: any domain.',
    { example: 'example.com' },
  ),
  consoleUrl: optional(
    'CONSOLE_URL',
    consoleOrigin,
    'The address of the console in browsers: scheme, host and port. The identity provider sends people back there. The console takes forms of this address as its own, and links in Slack begin with it. Crossbill never takes this address from a request. Needed with OIDC_ISSUER in production; elsewhere the default is http://127.0.0.1 with the port of the daemon.',
    { example: 'https://billing.example.com' },
  ),
};

const endpoints = {
  apiKeys: required(
    'API_KEYS',
    apiKeys,
    'The bearer keys of the API and the console. The role is read, signup or ops, and each includes the one before. A key has at least 32 characters: openssl rand -hex 24 makes one. In its place you may write sha256: and the hash of the key in hex, as printf %s "$KEY" | sha256sum prints it: then only the caller has the key.',
    { example: '<name:ops:key>' },
  ),
  trustedProxies: optionalList(
    'TRUSTED_PROXIES',
    addressRanges,
    'The reverse proxies in front of the daemon. Crossbill believes their X-Forwarded-For and X-Forwarded-Proto: the client is the last address before them. The console slows this client down after wrong keys, and the audit trail names it. Left out: the client is the connected address.',
    { example: '10.0.0.0/8, fd00::/8' },
  ),
  signupChargeCheck: withDefault(
    'SIGNUP_CHARGE_CHECK',
    choice(['psp_reference', 'off']),
    'psp_reference',
    'The check of a charge id from a browser: Crossbill asks the MoR (psp_reference) or nobody (off).',
  ),
  webhookToleranceSec: withDefault(
    'WEBHOOK_TOLERANCE_SEC',
    integer(1, 86_400, 'seconds'),
    '300',
    "The allowed difference between the time in a signature and this machine's clock, either way.",
  ),
  webhookBodyLimitBytes: withDefault(
    'WEBHOOK_BODY_LIMIT',
    byteSize,
    '1mb',
    'The largest webhook body. A larger one gets 413 at the endpoint of Stripe, 503 at those of the MoR. 1kb is 1,024 bytes.',
  ),
  enrolment: withDefault(
    'ENROLMENT',
    enrolmentRule,
    'all',
    'The MoR collects the invoices of all customers (all), of customers with a link to the MoR by a signup, by hand or by an import (linked), or of customers with this metadata at Stripe, on the subscription or the customer. A payment event of the MoR enrols its customer too. Crossbill records other invoices and leaves them alone: no alarm, no relay, no difference.',
  ),
  renewalAlarmAfterHours: withDefault(
    'RENEWAL_ALARM_AFTER_HOURS',
    integer(1, 8760, 'hours'),
    '24',
    'Without a verdict of the MoR for this time, an expected renewal becomes a review item.',
  ),
  bankDebitAlarmAfterDays: withDefault(
    'BANK_DEBIT_ALARM_AFTER_DAYS',
    integer(1, 60, 'days'),
    '10',
    'How long Crossbill waits for bank debits: for this time it looks up the debit of a signup, and a renewal by debit becomes a review item only after this time.',
  ),
};

/** All settings, by their names in the settings object. */
export const SETTINGS = {
  ...daemon,
  ...database,
  ...stripe,
  ...mor,
  ...failedRenewals,
  ...notifications,
  ...signIn,
  ...endpoints,
};

/** The settings in the order and under the headings of the reference and the example file. */
export const SETTING_GROUPS: readonly { readonly title: string; readonly settings: readonly Setting<unknown>[] }[] = [
  { title: 'The process', settings: Object.values(daemon) },
  { title: 'The database', settings: Object.values(database) },
  { title: 'Stripe', settings: Object.values(stripe) },
  { title: 'The Merchant of Record', settings: Object.values(mor) },
  { title: 'Failed renewals', settings: Object.values(failedRenewals) },
  { title: 'Notifications to your backend', settings: Object.values(notifications) },
  { title: 'Signing in to the console', settings: Object.values(signIn) },
  { title: 'Webhook endpoints and rules', settings: Object.values(endpoints) },
];

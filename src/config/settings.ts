// The settings table: the one source for parsing the environment, the example file, the console and the settings reference.
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
    'In production a DATABASE_URL is required, nothing is embedded, and plain http is refused for hosts on the public internet.',
  ),
  port: withDefault('PORT', integer(0, 65_535, 'port'), '3000', 'The port to listen on. 0 takes any free one.'),
  host: withDefault('HOST', listenHost, '127.0.0.1', 'The address to listen on. The container image sets 0.0.0.0.'),
  logLevel: withDefault(
    'LOG_LEVEL',
    choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    'info',
    'The least important log line that is written.',
  ),
  shadow: withDefault(
    'CROSSBILL_SHADOW',
    flag,
    'false',
    'True: decide and report beside an existing integration, and change nothing at Stripe or the MoR. Give it a database of its own.',
  ),
  dataDir: withDefault(
    'CROSSBILL_DATA_DIR',
    matching('directory', /^\S(.*\S)?$/s, 'some text'),
    '.crossbill',
    'Where the embedded PostgreSQL keeps its files when no DATABASE_URL is set. Created when missing.',
  ),
  workerConcurrency: withDefault(
    'WORKER_CONCURRENCY',
    integer(1, 1000, 'integer'),
    '32',
    'How many lanes (invoices) one process works on at once. Most of that time is spent waiting for Stripe and the MoR.',
  ),
};

const database = {
  databaseUrl: optional(
    'DATABASE_URL',
    databaseUrl,
    'PostgreSQL 14 or later. Without it, outside production, an embedded PostgreSQL is started.',
    { example: 'postgres://crossbill:<password>@127.0.0.1:5432/crossbill', emptyIsUnset: true },
  ),
  databasePoolSize: withDefault(
    'DATABASE_POOL_SIZE',
    integer(1, 500, 'connections'),
    '10',
    'The most connections one process opens.',
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
    'The signing secrets of the webhook endpoint at /webhooks/stripe. Any one may match, for rotation.',
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
    'The budget of requests to Stripe, shared by all replicas on one database. One endpoint gets a quarter of it, at least 25.',
  ),
  stripeCustomPaymentMethodType: optional(
    'STRIPE_CUSTOM_PAYMENT_METHOD_TYPE',
    matching('cpmt_… id', /^cpmt_[A-Za-z0-9_]+$/, 'an id that begins with cpmt_'),
    'The custom payment method type, made in the Stripe Dashboard, under which payment records are reported.',
    { example: 'cpmt_…' },
  ),
  billingMarkMode: withDefault(
    'BILLING_MARK_MODE',
    choice(['payment_record', 'out_of_band']),
    'payment_record',
    'How an invoice is marked paid. It is never switched silently.',
  ),
  billingDraftPolicy: withDefault(
    'BILLING_DRAFT_POLICY',
    choice(['wait', 'finalize']),
    'wait',
    'What to do when money arrives while the invoice is a draft: wait until Stripe finalizes it, or finalize it at once.',
  ),
};

const mor = {
  morBaseUrl: required(
    'MOR_BASE_URL',
    httpUrl('base'),
    "The host of the MoR's API, to which paths such as /api/payments are appended.",
    { example: 'http://127.0.0.1:4020' },
  ),
  morAuthUrl: required(
    'MOR_AUTH_URL',
    httpUrl('base'),
    "The documents' auth_url, to which /oauth2/token is appended.",
    { example: 'http://127.0.0.1:4020' },
  ),
  morClientId: required('MOR_CLIENT_ID', clientId, "The merchant's client id at the MoR.", { example: '<client id>' }),
  morClientSecret: required('MOR_CLIENT_SECRET', secret, "The merchant's client secret at the MoR.", {
    example: '<client secret>',
  }),
  morPartnerClientId: optional(
    'MOR_PARTNER_CLIENT_ID',
    clientId,
    'The partner credentials, which enable onboarding. Set both or neither.',
    { example: '<partner client id>' },
  ),
  morPartnerClientSecret: optional(
    'MOR_PARTNER_CLIENT_SECRET',
    secret,
    'The secret that belongs to MOR_PARTNER_CLIENT_ID.',
    { example: '<partner client secret>' },
  ),
  morPsp: withDefault(
    'MOR_PSP',
    matching(
      'lower-case letters, digits, "_" and "-"',
      /^[a-z0-9][a-z0-9_-]{0,39}$/,
      '1 to 40 lower-case letters, digits, "_" or "-"',
    ),
    'cardpsp',
    'The processor segment of the payment routes; it also names the field merchant_customer.<psp>_id.',
  ),
  morSetupCustomer: withDefault(
    'MOR_SETUP_CUSTOMER',
    choice(['send', 'omit']),
    'send',
    'Whether a setup intent names its customer in merchant_customer. Use omit only for a MoR with no place for this field: then only the MoR knows whose payment method it saved.',
  ),
  morPaymentWebhookSecrets: required(
    'MOR_PAYMENT_WEBHOOK_SECRETS',
    signingSecrets,
    'The secrets that check Mor-Signature, for /webhooks/mor/payments. Any one may match, for rotation.',
    { example: '<secret>' },
  ),
  morEventWebhookSecrets: optionalList(
    'MOR_EVENT_WEBHOOK_SECRETS',
    signingSecrets,
    'The secrets that check Service-Signature, for /webhooks/mor/events. Any one may match. Without one, this endpoint refuses every delivery with 503.',
    { example: '<secret>' },
  ),
  morRelayUrl: optional(
    'MOR_RELAY_URL',
    relayUrl,
    'Where authentic invoice.created events are sent on to, for merchants who cannot add a second Stripe endpoint. Set it with MOR_RELAY_SECRET or leave both out.',
    { example: 'https://mor.example/stripe' },
  ),
  morRelaySecret: optional('MOR_RELAY_SECRET', secret, 'The secret that signs what is relayed.', {
    example: '<whsec_…>',
  }),
};

const failedRenewals = {
  retrySchedule: withDefault(
    'RETRY_SCHEDULE',
    retrySchedule,
    'off',
    'What follows a failed renewal, by kind of decline: waits before the MoR is asked to charge again (over MOR_RELAY_URL; without it each makes a payment link), and link for a payment link at once. end says what becomes of the invoice after the last step: nothing, uncollectible, or cancel (the subscription). default is soft=3d,5d,7d hard=link authentication=link end=nothing, and so is what is left out.',
  ),
  recoveryLinkJurisdiction: optional(
    'RECOVERY_LINK_JURISDICTION',
    matching('country code (ISO 3166-1 alpha-2)', /^[A-Z]{2}$/, 'a country code of two capital letters'),
    'With RECOVERY_LINK_RETURN_URL: Crossbill makes a payment link for a renewal that failed or needs authentication: at once, or when RETRY_SCHEDULE says so. It asks for the link in the country of the customer, as Stripe has it on the invoice; this one is used where that is not known, or where the MoR does not collect. Left out, links are made on request only.',
    { example: 'GB' },
  ),
  recoveryLinkReturnUrl: optional(
    'RECOVERY_LINK_RETURN_URL',
    httpUrl('endpoint'),
    'Where the customer goes after paying such a link. It proves no payment.',
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
    'Where Crossbill sends notifications of what happened: invoices paid and left open, refunds, reviews and more. Left out, none is written or sent.',
    { example: 'https://shop.example/hooks/crossbill', emptyIsUnset: true },
  ),
  notifySecrets: optionalList(
    'NOTIFY_SECRETS',
    notifySecrets,
    'What signs them, by the Standard Webhooks scheme. The first is the current one; each further one adds a signature of its own, so that a receiver may change over at any time.',
    { example: '<whsec_…>' },
  ),
  notifyFormat: withDefault(
    'NOTIFY_FORMAT',
    choice(['standard', 'slack']),
    'standard',
    'How they are written. standard: JSON for programs, signed. slack: one line of text for people, for an incoming webhook of Slack.',
  ),
};

const signIn = {
  oidcIssuer: optional(
    'OIDC_ISSUER',
    issuer,
    'The identity provider (OpenID Connect) at which people sign in to the console; API keys keep working. Its redirect URI is CONSOLE_URL with the path /console/sso/callback. Left out: API keys only.',
    { example: 'https://login.example.com/realms/staff' },
  ),
  oidcClientId: optional(
    'OIDC_CLIENT_ID',
    matching('text', /^[\x21-\x7e]{1,255}$/, '1 to 255 characters without blanks'),
    'The client that was registered for the console at the identity provider.',
    { example: 'crossbill' },
  ),
  oidcClientSecret: optional(
    'OIDC_CLIENT_SECRET',
    secret,
    'Its secret. Changing it ends the sessions that began at the identity provider.',
    { example: '<client secret>', emptyIsUnset: true },
  ),
  oidcRoles: optionalList(
    'OIDC_ROLES',
    groupRoles,
    "Which of the provider's groups (the claim groups) have which role: read, signup or ops. The highest one counts; whoever is in none of them is not let in.",
    { example: 'finance=read, billing-ops=ops' },
  ),
  oidcEmailDomain: optional(
    'OIDC_EMAIL_DOMAIN',
    emailDomain,
    'Only people with a verified e-mail address of this domain are let in. Left out: of any domain.',
    { example: 'example.com' },
  ),
  consoleUrl: optional(
    'CONSOLE_URL',
    consoleOrigin,
    'Scheme, host and port at which browsers reach the console. The identity provider sends people back there: it is never taken from what a request says of its host. Needed with OIDC_ISSUER in production; elsewhere left out it is http://127.0.0.1 with the port on which the daemon listens.',
    { example: 'https://billing.example.com' },
  ),
};

const doors = {
  apiKeys: required(
    'API_KEYS',
    apiKeys,
    'The bearer keys of the API and the console. The role is read, signup or ops, and each includes the one before. A key has at least 32 characters: openssl rand -hex 24 makes one. In its place may stand sha256: and the hash of the key in hex, as printf %s "$KEY" | sha256sum prints it: then the key itself is only with its caller.',
    { example: '<name:ops:key>' },
  ),
  trustedProxies: optionalList(
    'TRUSTED_PROXIES',
    addressRanges,
    'The reverse proxies in front of the daemon, whose X-Forwarded-For and X-Forwarded-Proto are believed: the client is the last address before them. It is who is slowed down at the console after wrong keys, and the source in the audit trail. Left out, that is whoever is connected.',
    { example: '10.0.0.0/8, fd00::/8' },
  ),
  signupChargeCheck: withDefault(
    'SIGNUP_CHARGE_CHECK',
    choice(['psp_reference', 'off']),
    'psp_reference',
    'How a charge id that came from a browser is proven before an invoice is marked paid with it.',
  ),
  webhookToleranceSec: withDefault(
    'WEBHOOK_TOLERANCE_SEC',
    integer(1, 86_400, 'seconds'),
    '300',
    'How far the time in a signature may lie from ours, on either side.',
  ),
  webhookBodyLimitBytes: withDefault(
    'WEBHOOK_BODY_LIMIT',
    byteSize,
    '1mb',
    'The largest webhook body. A larger one is refused: 413 at the endpoint of Stripe, 503 at those of the MoR. 1kb is 1,024 bytes.',
  ),
  enrolment: withDefault(
    'ENROLMENT',
    enrolmentRule,
    'all',
    'Whose invoices the MoR collects: those of every customer, of customers with a link to the MoR (by a signup, by hand or by an import), or those with this metadata on the subscription or the customer at Stripe. A payment event of the MoR enrols its customer too. Crossbill records other invoices and leaves them alone: no alarm, no relay, no difference.',
  ),
  renewalAlarmAfterHours: withDefault(
    'RENEWAL_ALARM_AFTER_HOURS',
    integer(1, 8760, 'hours'),
    '24',
    'An expected renewal with no verdict after this time becomes a review item.',
  ),
  bankDebitAlarmAfterDays: withDefault(
    'BANK_DEBIT_ALARM_AFTER_DAYS',
    integer(1, 60, 'days'),
    '10',
    'How long a bank debit may take. A signup by debit is looked up at the MoR for that long, and the renewals of a customer who is known to pay by debit become a review item only then.',
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

/** The same in the order and under the headings of the reference and the example file. */
export const SETTING_GROUPS: readonly { readonly title: string; readonly settings: readonly Setting<unknown>[] }[] = [
  { title: 'The process', settings: Object.values(daemon) },
  { title: 'The database', settings: Object.values(database) },
  { title: 'Stripe', settings: Object.values(stripe) },
  { title: 'The Merchant of Record', settings: Object.values(mor) },
  { title: 'Failed renewals', settings: Object.values(failedRenewals) },
  { title: 'Telling your backend', settings: Object.values(notifications) },
  { title: 'Signing in to the console', settings: Object.values(signIn) },
  { title: 'Webhook endpoints and rules', settings: Object.values(doors) },
];

// The settings of the Merchant of Record: where it is, who we are there, and which secrets sign what it sends.
import { choice, httpUrl, matching, type Parser, secret, signingSecret, signingSecrets } from './parsers.js';
import { Secret } from './secret.js';
import { optional, optionalList, required, withDefault } from './setting.js';

const url = 'http or https URL';
const endpoint = httpUrl('endpoint');

/** A token may stand in its query, so it is kept as a secret. */
const relayAddress: Parser<Secret> = (text) => {
  const parsed = endpoint(text);
  return parsed.ok ? { ok: true, value: new Secret(parsed.value) } : parsed;
};

export const mor = {
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
  morSetupCustomer: withDefault(
    {
      name: 'MOR_SETUP_CUSTOMER',
      type: 'send or omit',
      description:
        'Whether a setup intent names its customer in merchant_customer. Use omit only for a MoR with no place for this field: then only the MoR knows whose payment method it saved.',
    },
    'send',
    choice(['send', 'omit']),
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
        'The secrets that check Service-Signature, for /webhooks/mor/events. Any one may match. Without one, this endpoint refuses every delivery with 503.',
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
    relayAddress,
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

// The settings of the doors: who may come in, what is read, and how long a verdict is awaited.
import { enrolment } from './enrolment-setting.js';
import { trustedProxies } from './proxy-settings.js';
import { apiKeys, byteSize, choice, integer } from './parsers.js';
import { required, withDefault } from './setting.js';

export const doors = {
  apiKeys: required(
    {
      name: 'API_KEYS',
      type: 'name:role:key or name:role:sha256:hash, comma-separated',
      secret: true,
      example: '<name:ops:key>',
      description:
        'The bearer keys of the API and the console. The role is read, signup or ops, and each includes the one before. A key has at least 32 characters: openssl rand -hex 24 makes one. In its place may stand sha256: and the hash of the key in hex, as printf %s "$KEY" | sha256sum prints it: then the key itself is only with its caller.',
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
      description:
        'The largest webhook body. A larger one is refused: 413 at the endpoint of Stripe, 503 at those of the MoR. 1kb is 1,024 bytes.',
    },
    '1mb',
    byteSize,
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

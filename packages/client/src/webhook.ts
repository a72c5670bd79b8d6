// Verifies notifications by Standard Webhooks (https://www.standardwebhooks.com).
import { createHmac, timingSafeEqual } from 'node:crypto';
import { type Notification } from './generated/operations.js';

/** Standard Webhooks' limit: a stranger may have recorded an older delivery, and sent it again. */
const TOLERANCE_SECONDS = 300;

/** Headers in the form of Node's `http`, Express or `fetch`. */
export type ReceivedHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The reason to distrust a delivery. */
export type NotVerifiedCode =
  'header_missing' | 'timestamp_outside_tolerance' | 'signature_mismatch' | 'unreadable_body';

/** The delivery did not pass the check: `code` says why. Respond 400 and ignore the delivery. */
export class NotVerifiedError extends Error {
  override readonly name = 'NotVerifiedError';

  constructor(
    readonly code: NotVerifiedCode,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Returns the notification of a delivery. Throws `NotVerifiedError` unless the signature proves Crossbill sent it.
 * @param body the received bytes or their text; the signature does not match JSON parsed and written again
 * @param secret the value of NOTIFY_SECRETS, `whsec_…`; during a rotation the old and the new one
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: ReceivedHeaders,
  secret: string | readonly string[],
): Notification {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const given = headerOf(headers, 'webhook-signature');
  const age = Date.now() / 1000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp) || Math.abs(age) > TOLERANCE_SECONDS) {
    throw new NotVerifiedError('timestamp_outside_tolerance', 'It was sent too long ago, or this clock is wrong.');
  }
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const signatures = given.split(' ').flatMap((part) => (part.startsWith('v1,') ? [part.slice(3)] : []));
  const secrets = typeof secret === 'string' ? [secret] : secret;
  const right = secrets.some((one) => {
    const key = Buffer.from(one.replace(/^whsec_/, ''), 'base64');
    if (key.length === 0) throw new TypeError('secret must be whsec_… of NOTIFY_SECRETS');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
    return signatures.some((signature) => same(Buffer.from(signature, 'base64'), expected));
  });
  if (!right) throw new NotVerifiedError('signature_mismatch', 'No secret makes this signature for this body.');
  try {
    return JSON.parse(text) as Notification;
  } catch {
    throw new NotVerifiedError('unreadable_body', 'The body is no JSON.');
  }
}

function same(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

function headerOf(headers: ReceivedHeaders, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : (headers as Record<string, unknown>)[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new NotVerifiedError('header_missing', `The header ${name} is missing.`);
}

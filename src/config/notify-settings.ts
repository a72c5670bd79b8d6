// The settings of the notifications to the merchant's backend.
import { isForbiddenAddress } from './addresses.js';
import { choice, httpUrl, isPrivateHost, type Parsed, type Parser } from './parsers.js';
import { Secret } from './secret.js';
import { optional, optionalList, withDefault } from './setting.js';

const endpoint = httpUrl('endpoint');

/** Kept as a secret: who knows the address of a Slack channel may write into it. */
const receiverUrl: Parser<Secret> = (text) => {
  const parsed = endpoint(text);
  if (!parsed.ok) return parsed;
  const { hostname, protocol } = new URL(parsed.value);
  if (isForbiddenAddress(hostname.replace(/^\[|\]$/g, '')))
    return { ok: false, problem: 'must not be a link-local, metadata, unspecified or multicast address' };
  if (protocol === 'http:' && !isPrivateHost(parsed.value))
    return {
      ok: false,
      problem:
        'must be https: plain http is for this machine and the private network only (10.…, 192.168.…, a name such as backend or backend.internal)',
    };
  return { ok: true, value: new Secret(parsed.value) };
};

// Standard Webhooks, "Symmetric": 24 to 64 random bytes in base64, after `whsec_`.
const [LEAST_BYTES, MOST_BYTES] = [24, 64];

const secrets: Parser<readonly Secret[]> = (text) => {
  const items = text.split(',').map((item) => item.trim());
  for (const [index, item] of items.entries()) {
    const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(item) ?? [];
    const bytes = base64.length % 4 === 0 ? Buffer.from(base64, 'base64').length : 0;
    if (bytes < LEAST_BYTES || bytes > MOST_BYTES) {
      const problem = `must be whsec_ and ${LEAST_BYTES} to ${MOST_BYTES} bytes in base64: echo "whsec_$(openssl rand -base64 32)" makes one`;
      return {
        ok: false,
        problem: items.length === 1 ? problem : `entry ${index + 1} ${problem}`,
      } satisfies Parsed<never>;
    }
  }
  return { ok: true, value: [...new Set(items)].map((item) => new Secret(item)) };
};

export const notifications = {
  notifyUrl: optional(
    {
      name: 'NOTIFY_URL',
      type: 'https URL, or http within the private network',
      secret: true,
      emptyIsUnset: true,
      example: 'https://shop.example/hooks/crossbill',
      description:
        'Where Crossbill sends notifications of what happened: invoices paid and left open, refunds, reviews and more. Left out, none is written or sent.',
    },
    receiverUrl,
  ),
  notifySecrets: optionalList(
    {
      name: 'NOTIFY_SECRETS',
      type: 'whsec_… secrets, comma-separated',
      secret: true,
      example: '<whsec_…>',
      description:
        'What signs them, by the Standard Webhooks scheme. The first is the current one; each further one adds a signature of its own, so that a receiver may change over at any time.',
    },
    secrets,
  ),
  notifyFormat: withDefault(
    {
      name: 'NOTIFY_FORMAT',
      type: 'standard or slack',
      description:
        'How they are written. standard: JSON for programs, signed. slack: one line of text for people, for an incoming webhook of Slack.',
    },
    'standard',
    choice(['standard', 'slack']),
  ),
};

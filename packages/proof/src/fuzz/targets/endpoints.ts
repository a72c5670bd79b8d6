// The input of the webhook endpoints: the signature header and the three kinds of body.
import { parseSignatureHeader, SignatureCheck } from '@crossbill/mor/signature.js';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { MAX_DEPTH, parseBody } from '#src/shared/domain/events/json-body.js';
import { idsIn } from '#src/shared/domain/events/mor-service-event.js';
import { sameEvent } from '#src/shared/domain/events/same-event.js';
import { amountIn, dashboardIn, deadlineIn } from '#src/shared/domain/events/payload-fields.js';
import { eventParser } from '#src/core/events/event-parser.js';
import { masked, rawBody } from '#src/shared/masks/event-body.js';
import { type Endpoint, endpointAt, endpoints, toDelivery } from '#src/frames/intake/deliveries.js';
import { jsonText } from '#src/frames/store/codec.js';
import { wire } from '../inputs/examples.js';
import { bentJson } from '../inputs/json.js';
import { bent, oddText } from '../inputs/texts.js';
import { isStorable, mustBeInRange, mustBeUnpolluted } from '../ranges.js';
import { must, mustBeSame, shown, type Target } from '../target.js';

const SECRET = 'whsec_fuzz_0123456789';
const BODY = Buffer.from('{"id":"evt_1"}');
const NOW = new Date('2026-11-22T12:00:00Z');
const nowSec = NOW.getTime() / 1000;
const macOf = (text: string): string => createHmac('sha256', SECRET).update(`${text}.`).update(BODY).digest('hex');

const headers: fc.Arbitrary<string> = bent(
  fc
    .array(
      fc.oneof(
        fc.constantFrom(nowSec, nowSec - 300, nowSec - 301, nowSec + 301, 0).map((t) => `t=${t}`),
        fc.constantFrom(nowSec, nowSec - 301).map((t) => `v1=${macOf(String(t))}`),
        fc.constantFrom(nowSec).map((t) => `v1=${macOf(String(t)).toUpperCase()}`),
        fc.constantFrom(
          `v1=${'0'.repeat(64)}`,
          `v1=${'0'.repeat(63)}`,
          'v0=abc',
          'v1=',
          't=',
          '=',
          ' v0=abc',
          '  v0=abc',
          `t=0${nowSec}`,
          `t=${nowSec} `,
          'T=1',
        ),
        oddText.map((text) => `v1=${text}`),
        oddText.map((text) => `t=${text}`),
      ),
      { maxLength: 20 },
    )
    .map((entries) => entries.join(',')),
);

const check = new SignatureCheck([SECRET, 'another-secret-0123'], 300);

/** The expected result of the check, by the rules of Documents 2 and 3 and of Stripe, found without the parser. */
function expected(header: string): string {
  const parts = header.split(',').map((part, at) => (at > 0 ? part.replace(/^ /, '') : part));
  const entries = parts.map(
    (entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)] as const,
  );
  const shaped = header.length <= 4096 && parts.every((part) => /^[\x21-\x7e]+$/.test(part) && part.indexOf('=') > 0);
  const times = entries.filter(([name]) => name === 't').map(([, value]) => value);
  const macs = entries.filter(([name]) => name === 'v1').map(([, value]) => value.toLowerCase());
  const [t = ''] = times;
  const fine = shaped && times.length === 1 && /^\d+$/.test(t) && macs.length >= 1 && macs.length <= 16;
  // A MAC of a wrong length is well formed and matches no secret.
  if (!fine || !macs.every((mac) => /^([0-9a-f]{2})+$/.test(mac))) return 'malformed';
  if (!macs.includes(macOf(t))) return 'mismatch';
  return Math.abs(nowSec - Number(t)) <= 300 ? 'ok' : 'stale';
}

const signature: Target = {
  name: 'signature',
  what: 'the signature headers of the three endpoints',
  inputs: headers,
  check(header) {
    mustBeSame(check.check(header, BODY, NOW), expected(header), 'the verdict');
    const parsed = parseSignatureHeader(header);
    if (parsed === null) return;
    const printed = [`t=${parsed.timestamp}`, ...parsed.macs.map((mac) => `v1=${mac.toString('hex')}`)].join(',');
    mustBeSame(parseSignatureHeader(printed), parsed, 'what was read, printed and read again');
  },
};

/** Parses a delivery as the webhook endpoint does. */
function checkBody(endpoint: Endpoint, text: string): void {
  const body = Buffer.from(text);
  const whole = parseBody(body);
  const delivered = eventParser.delivered(endpoint.source, body);
  const { parsed } = delivered;
  const delivery = toDelivery(delivered, body, NOW);
  must(delivery.body === body, 'the bytes that are kept are not those that came');
  for (const name of ['eventId', 'type', 'lane', 'reason'] as const) {
    const value = delivery[name];
    must(value === null || isStorable(value), `${name} cannot be stored`);
  }
  must(
    delivery.eventId !== '' && delivery.eventId.length <= 255 && delivery.type.length <= 255,
    'an id of no fitting length',
  );
  must(delivery.status === 'parked' || whole.ok, 'what is no JSON object was not parked');
  must(
    (delivery.status === 'received') === (delivery.reason === null),
    'what is not taken has a reason, what is taken none',
  );
  mustBeUnpolluted();
  if (!whole.ok) return;
  must(
    sameEvent(body, Buffer.from(JSON.stringify(whole.value, null, 1))),
    'the same event with other blanks counts as another one',
  );
  const data = masked(whole.value);
  must(typeof data === 'object', 'what is shown of it is nothing');
  must(shown(rawBody(body)) !== '', 'the command line shows nothing of it');
  if (parsed.usability !== 'usable') return;
  mustBeInRange(parsed.event, ['data', 'metadata']); // the store makes these two safe with jsonText
  must(
    !/\\u0000|\\ud[89a-f]/i.test(jsonText(JSON.parse(shown(parsed.event))).replaceAll('\\\\', '')),
    'the event holds what jsonb refuses',
  );
  // JSON.stringify removes blanks and changes escapes. The parser must still return the same event.
  const again = eventParser.delivered(endpoint.source, Buffer.from(JSON.stringify(whole.value)));
  mustBeSame(again.parsed, parsed, 'the event, written again');
}

/** Searches the data of an event for the facts that people need. */
function checkSearch(text: string): void {
  const body = parseBody(Buffer.from(text));
  if (!body.ok) return;
  mustBeInRange([amountIn(body.value), deadlineIn(body.value), idsIn(body.value)]);
  const link = dashboardIn(body.value);
  must(link === null || /^https:\/\//.test(link), 'a link that is not https would be shown');
}

const examples = { stripe: wire('stripe'), mor_payments: wire('mor-events'), mor_events: wire('mor-events') };

const bodies = endpoints.map((endpoint): Target => ({
  name: `body-${endpoint.source.replace('_', '-')}`,
  what: `bodies at ${endpoint.path}: the parsed event, its row in the inbox, and the page's view of them`,
  inputs: bentJson(examples[endpoint.source].map(({ value }) => value)),
  check(text) {
    checkBody(endpoint, text);
    if (endpoint.source === 'mor_events') checkSearch(text);
  },
}));

const jsonBytes: Target = {
  name: 'json-bytes',
  what: 'possible JSON bytes in UTF-8: encoding, depth, repeated names',
  inputs: fc.oneof(
    bentJson([{ id: 'evt_1', data: { object: { id: 'in_1', amount: 100 } } }]),
    fc.uint8Array({ maxLength: 64 }).map((bytes) => `bytes:${Buffer.from(bytes).toString('hex')}`),
    fc.integer({ min: 1, max: 4_000 }).map((n) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`),
  ),
  check(text) {
    const body = text.startsWith('bytes:') ? Buffer.from(text.slice(6), 'hex') : Buffer.from(text);
    const parsed = parseBody(body);
    if (!parsed.ok) return must(parsed.reason.length < 100, 'a reason that repeats the body');
    mustBeSame(JSON.parse(body.toString('utf8')), parsed.value, 'what JSON.parse says');
    must(depthOf(parsed.value) <= MAX_DEPTH, 'deeper than is taken');
  },
};

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const paths: Target = {
  name: 'endpoint-path',
  what: 'request targets that may be an endpoint',
  inputs: bent(
    fc.constantFrom(
      '/webhooks/stripe',
      '/webhooks/mor/payments',
      'http://x/webhooks/mor/events?a=b#c',
      '/WEBHOOKS/Stripe///',
    ),
  ),
  check(target) {
    const endpoint = endpointAt(target);
    if (endpoint === null) return;
    must(endpointAt(endpoint.path) === endpoint, 'an endpoint is not at its own path');
    const path = target
      .replace(/^https?:\/\/[^/?#]+/i, '')
      .replace(/[?#].*$/s, '')
      .replace(/\/+$/, '');
    must(path.toLowerCase() === endpoint.path, `${target} was taken for ${endpoint.path}`);
  },
};

export const endpointTargets: readonly Target[] = [signature, ...bodies, jsonBytes, paths];

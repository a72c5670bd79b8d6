// The replies of Stripe and the MoR: the parser of each endpoint, and a whole reply from the socket on, with any status
// and headers.
import { parseRefund, parseWebhookEndpointList } from '@crossbill/mor';
import { type Exchange, type Line } from '@crossbill/mor/http-line.js';
import { parseReply, Unreadable } from '@crossbill/mor/read.js';
import fc from 'fast-check';
import { Secret } from '#src/shared/config/index.js';
import { RequestBudget } from '#src/shared/domain/ports/request-budget.js';
import { RETRY_AFTER_LONGEST_MS } from '#src/shared/policy.js';
import { type CallOutcome } from '#src/shared/domain/ports/call.js';
import { morClient } from '#src/frames/mor/options.js';
import { billedInvoiceOf } from '#src/frames/stripe/parse-billed-invoice.js';
import { parseSubscription } from '#src/frames/stripe/parse-charging.js';
import { parseInvoicePayment, shownInvoiceOf } from '#src/frames/stripe/parse-invoice.js';
import {
  parseAccount,
  parseBalanceEntry,
  parseCreditNote,
  parseCustomer,
  parseEvent,
  parsePaymentRecord,
  parseWebhookEndpoint,
} from '#src/frames/stripe/parse-objects.js';
import { HttpReply } from '#src/frames/stripe/http-client.js';
import { StripeClient } from '#src/frames/stripe/stripe-client.js';
import { StoppedClock } from '../inputs/stopped-clock.js';
import { STRIPE_OBJECTS } from '../inputs/stripe-objects.js';
import { wire } from '../inputs/examples.js';
import { bentJson } from '../inputs/json.js';
import { MOR_PARSERS } from '@crossbill/mor/parsers.js';
import { oddText } from '../inputs/texts.js';
import { mustBeInRange, mustBeUnpolluted } from '../ranges.js';
import { must, mustBeSame, orTyped, type Target } from '../target.js';

/** The parsers do not change these members. The store makes them safe with jsonText, and stores no links. */
const AS_THEY_CAME = ['customer', 'evidence', 'source'];

const STRIPE: readonly ((value: unknown) => unknown)[] = [
  shownInvoiceOf,
  billedInvoiceOf,
  parseInvoicePayment,
  parsePaymentRecord,
  parseCreditNote,
  parseBalanceEntry,
  parseCustomer,
  parseWebhookEndpoint,
  parseAccount,
  parseSubscription,
  parseEvent,
];

type Parsing = { readonly name: string; readonly json: string };
const parsing = (text: string): Parsing => {
  const at = text.indexOf(' ');
  return { name: text.slice(0, at), json: text.slice(at + 1) };
};

/** Null: the text is no JSON. The HTTP client refuses such a reply before any parser. */
function valueOf(json: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch {
    return null;
  }
}

const morReplies: Target = {
  name: 'mor-answers',
  what: `the MoR's answers of ${Object.keys(MOR_PARSERS).length} endpoints`,
  inputs: fc.oneof(...wire('mor').map(({ name, value }) => bentJson([value]).map((json) => `${name} ${json}`))),
  check(text) {
    const { name, json } = parsing(text);
    const found = parseReply(json);
    const parse = MOR_PARSERS[name];
    if (!found.readable || parse === undefined) return;
    const parsed = orTyped(() => parse(found.value), Unreadable);
    mustBeInRange(parsed, AS_THEY_CAME);
    mustBeSame(
      orTyped(() => parse(found.value), Unreadable),
      parsed,
      'parsed a second time',
    );
    orTyped(() => parseWebhookEndpointList(found.value), Unreadable);
    mustBeUnpolluted();
  },
};

const stripeReplies: Target = {
  name: 'stripe-answers',
  what: "reading Stripe's objects: invoices, payments, records, credit notes, events and the rest",
  inputs: bentJson(STRIPE_OBJECTS),
  check(json) {
    const found = valueOf(json);
    if (found === null) return;
    for (const parse of STRIPE) mustBeInRange(parse(found.value), ['metadata', 'customerMetadata', 'body']);
    mustBeUnpolluted();
  },
};

class NoBudget extends RequestBudget {
  take(): Promise<void> {
    return Promise.resolve();
  }
  throttled(): void {
    // nobody waits
  }
}

/** One HTTP reply, as it comes from a socket. */
type Wire = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string };

const SECRET = 'canary-secret-of-the-mor-4711';
const TOKEN = 'canary-bearer-token-4711';
const STRIPE_KEY = 'sk_test_canary4711canary4711';

const said = fc.constantFrom(
  'no',
  SECRET,
  `you sent ${SECRET}`,
  `Bearer ${TOKEN}`,
  STRIPE_KEY,
  'pi_1_secret_abcdef0123',
  'two\nlines\u202e',
  'x'.repeat(9_000),
);
const errorBodies = bentJson([
  { code: 'invalid_request', message: `no ${SECRET}`, errors: [{ field: 'amount', message: `Bearer ${TOKEN}` }] },
  { error: { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message: `no ${STRIPE_KEY}` } },
  { error: 'invalid_client' },
]);
const headers = fc.dictionary(
  fc.constantFrom(
    'retry-after',
    'x-request-id',
    'request-id',
    'idempotent-replayed',
    'stripe-should-retry',
    'stripe-rate-limited-reason',
  ),
  fc.oneof(
    fc.constantFrom(
      '0',
      '1',
      '120',
      '-1',
      '1e3',
      '99999999999',
      '0.5',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      'Sun, 99 Foo 0000 99:99:99 GMT',
      'true',
      'req_1',
      'req_\u0085\u00a0',
      'r'.repeat(300),
    ),
    oddText.filter((text) => /^[\x20-\x7e\x80-\xff]*$/.test(text)),
  ), // texts that a header can carry
  { maxKeys: 4 },
);
const replies = (right: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .record({
      status: fc.oneof(
        fc.constantFrom(
          200,
          200,
          201,
          202,
          204,
          301,
          303,
          400,
          401,
          403,
          404,
          408,
          409,
          413,
          422,
          424,
          429,
          500,
          502,
          503,
        ),
        fc.integer({ min: 100, max: 999 }),
      ),
      headers,
      body: fc.oneof(
        right,
        errorBodies,
        said.map((text) => JSON.stringify({ code: 'echo', message: text })),
        oddText,
      ),
    })
    .map((reply) => JSON.stringify(reply));

/** Checks a failed call: its text must be safe to log, and its `Retry-After` must not ask for an absurd wait. */
function mustBeSayable(outcome: CallOutcome<unknown>, ...secrets: readonly string[]): void {
  if (outcome.ok) return;
  const text = [
    outcome.code,
    outcome.message,
    outcome.requestId,
    ...outcome.errors.flatMap((e) => [e.field, e.message]),
  ].join('|');
  for (const secret of [...secrets, '_secret_abcdef']) must(!text.includes(secret), `a failure repeats ${secret}`);
  must(!/[\p{Cc}\u2028\u2029\u202e]/u.test(text), 'a failure has more than one line, or turns its text round');
  must(outcome.message.length < 2_500, `a failure of ${outcome.message.length} characters`);
  const { retryAfterMs: wait } = outcome;
  must(
    wait === null || (Number.isSafeInteger(wait) && wait >= 0 && wait <= Math.max(RETRY_AFTER_LONGEST_MS, 86_400_000)),
    `a wait of ${wait} ms`,
  );
}

const morCalls: Target = {
  name: 'mor-calls',
  what: "a whole call of the MoR: token, status, Retry-After, error bodies and the answer's own",
  inputs: replies(
    bentJson([
      ...wire('mor')
        .filter(({ name }) => name === 'refund')
        .map(({ value }) => value),
      { access_token: TOKEN, expires_in: 3600 },
    ]),
  ),
  async check(text) {
    const { status, headers: given, body } = JSON.parse(text) as Wire;
    const reply: Exchange = { answered: true, status, header: (name) => given[name] ?? null, text: body };
    const token: Exchange = {
      answered: true,
      status: 200,
      header: () => null,
      text: JSON.stringify({ access_token: TOKEN, expires_in: 3600 }),
    };
    for (const asToken of [false, true]) {
      const line: Line = {
        exchange: ({ path }) =>
          Promise.resolve(
            (path === '/oauth2/token') === asToken ? reply : asToken ? { ...reply, status: 200, text: '{}' } : token,
          ),
        close: () => Promise.resolve(),
      };
      const merchant = { clientId: 'client', clientSecret: new Secret(SECRET) };
      const { transport } = morClient(
        {
          baseUrl: 'http://x',
          authUrl: 'http://x',
          psp: 'cardpsp',
          setupCustomer: 'send',
          merchant,
          partner: null,
          relay: null,
          line,
        },
        new StoppedClock(),
      );
      const outcome = await transport.call(
        { method: 'POST', path: '/api/payments/pay_1/refunds', body: '{}' },
        { name: 'refund.create', accept: (a) => parseRefund(a.body) },
      );
      mustBeSayable(outcome, TOKEN, SECRET, STRIPE_KEY);
      if (outcome.ok) mustBeInRange(outcome.value);
      else if (!asToken && status < 300)
        must(outcome.kind === 'unknown', `an unreadable 2xx of a change is ${outcome.kind}`);
    }
  },
};

const stripeCalls: Target = {
  name: 'stripe-calls',
  what: 'a whole call of Stripe under the real package: status, headers, error bodies, lists and their pages',
  inputs: replies(
    bentJson([
      ...STRIPE_OBJECTS,
      { object: 'list', data: [{ id: 'in_1', object: 'invoice' }, { id: 'in_2' }], has_more: true },
    ]),
  ),
  async check(text) {
    const { status, headers: given, body } = JSON.parse(text) as Wire;
    let asked = 0;
    const client = new StripeClient(
      {
        apiKey: STRIPE_KEY,
        apiBase: null,
        customPaymentMethodType: null,
        transport: {
          getClientName: () => 'fuzz',
          // A damaged page may announce further pages for ever. A 404 for the fourth request ends them.
          makeRequest: () =>
            Promise.resolve(new HttpReply(asked++ < 3 ? status : 404, { ...given }, Buffer.from(body))),
          close: () => undefined,
        },
      },
      new NoBudget(),
    );
    const post = await client.request(
      'invoices.pay',
      { method: 'POST', path: '/v1/invoices/in_1/pay', body: '' },
      'key',
    );
    mustBeSayable(post, STRIPE_KEY);
    if (!post.ok && status < 300) must(post.kind === 'unknown', `an unreadable 2xx of a change is ${post.kind}`);
    mustBeSayable(await client.read('invoices.retrieve', '/v1/invoices/in_1'), STRIPE_KEY);
    mustBeSayable(await client.pages('invoices.list', '/v1/invoices?limit=100'), STRIPE_KEY);
  },
};

export const peerTargets: readonly Target[] = [morReplies, stripeReplies, morCalls, stripeCalls];

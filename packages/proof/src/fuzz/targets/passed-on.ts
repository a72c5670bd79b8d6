// What is passed on: requests to the MoR, as they were meant, and log lines, without what is secret.
import fc from 'fast-check';
import { encodeJson } from '#src/mor/wire.js';
import { REQUESTS } from '#src/api/http/example-values.js';
import { type Checked } from '#src/mor/requests/check.js';
import { checkCatalogueProduct } from '#src/mor/requests/catalogue.js';
import { checkDescribeBusiness, checkInitiate, checkProductChoice } from '#src/mor/requests/onboarding.js';
import { checkPaymentLink } from '#src/mor/requests/payment-link.js';
import { checkProforma } from '#src/mor/requests/proforma.js';
import { checkTaxCalculation } from '#src/mor/requests/check-tax-calculation.js';
import { checkTaxRefund, checkTaxTransaction } from '#src/mor/requests/tax-transaction.js';
import { checkWebhookEndpoint } from '#src/mor/requests/webhook-endpoint.js';
import { describeError, textCensor, withoutSecrets } from '#src/observe/redact.js';
import { jsonText } from '#src/store/codec.js';
import { bentJson } from '../inputs/json.js';
import { oddText } from '../inputs/texts.js';
import { mustBeUnpolluted } from '../ranges.js';
import { must, mustBeSame, orTyped, type Target } from '../target.js';

const NOW = new Date('2026-11-22T12:00:00Z');

const CHECKS: readonly (readonly [name: string, example: unknown, check: (body: unknown) => Checked<object>])[] = [
  ['TaxCalculationRequest', REQUESTS['TaxCalculationRequest'], checkTaxCalculation],
  ['TaxTransactionRequest', REQUESTS['TaxTransactionRequest'], checkTaxTransaction],
  ['TaxRefundRequest', REQUESTS['TaxRefundRequest'], (body) => checkTaxRefund(body, NOW)],
  ['CatalogueProductRequest', REQUESTS['CatalogueProductRequest'], checkCatalogueProduct],
  ['WebhookEndpointRequest', { url: 'https://x.example/hooks', events: ['e_invoice.issued'] }, checkWebhookEndpoint],
  ['InitiateRequest', REQUESTS['InitiateRequest'] ?? { reference: 'm-1', regionIds: ['GB'] }, checkInitiate],
  ['ProductChoice', { product: 'mor' }, checkProductChoice],
  [
    'DescribeBusinessRequest',
    { businessDescription: 'Books', storeUrls: ['https://x.example'] },
    checkDescribeBusiness,
  ],
  [
    'PaymentLinkRequest',
    {
      merchantReference: 'in_1',
      amount: { amount: '29.90', currency: 'EUR' },
      jurisdiction: 'GB',
      returnUrl: 'https://x.example',
    },
    checkPaymentLink,
  ],
  [
    'ProformaRequest',
    {
      merchantReference: 'in_1',
      jurisdiction: 'GB',
      dueDate: '2026-12-22',
      currency: 'EUR',
      lineItems: [{ description: 'Plan', quantity: '1', unitPrice: '29.90' }],
    },
    checkProforma,
  ],
];

const requests: Target = {
  name: 'mor-requests',
  what: 'bodies that are passed on to the MoR: each is refused with its field named, or passed on as it was meant',
  inputs: fc.oneof(...CHECKS.map(([name, example]) => bentJson([example]).map((json) => `${name} ${json}`))),
  check(text) {
    const at = text.indexOf(' ');
    const check = CHECKS.find(([name]) => name === text.slice(0, at))?.[2];
    let body: unknown;
    try {
      body = JSON.parse(text.slice(at + 1));
    } catch {
      return;
    }
    const found = check?.(body);
    mustBeUnpolluted();
    if (found === undefined) return;
    if (!found.ok) {
      must(
        found.errors.length > 0 && found.errors.every(({ field, message }) => field !== '' && message !== ''),
        'refused without a field',
      );
      return;
    }
    const sent: unknown = JSON.parse(encodeJson(found.value));
    mustBeSame(ordered(sent), ordered(body), 'what would be sent');
  },
};

/** Without null members, and with keys in order: as it is meant. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .filter(([, member]) => member !== null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, ordered(member)]);
}

const SECRETS = ['whsec_abcdefgh12345678', 'p@ss/w+rd=&"\\', 'k'.repeat(40), 'abcdef', 'abcdef-longer'];

const censoring: Target = {
  name: 'log-censor',
  what: 'what is logged: secrets by value, by name and by shape, in any text and in any object',
  inputs: fc
    .tuple(
      fc.array(
        fc.oneof(
          fc.constantFrom(...SECRETS, ...SECRETS.map(encodeURIComponent), 'Bearer ', 'password=', '://u:'),
          oddText,
        ),
        { maxLength: 8 },
      ),
      bentJson([{ headers: { authorization: 'Bearer x', cookie: 'c' }, client_secret: 's', inner: [{ ApiKey: 'k' }] }]),
    )
    .map((parts) => JSON.stringify(parts)),
  check(text) {
    const [pieces, json] = JSON.parse(text) as [string[], string];
    const censor = textCensor(SECRETS);
    const line = censor(pieces.join(''));
    for (const secret of SECRETS) {
      for (const form of [secret, encodeURIComponent(secret)]) must(!line.includes(form), `the log shows ${secret}`);
    }
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      return;
    }
    const copy = jsonText(withoutSecrets({ value, error: new Error(pieces.join(''), { cause: value }) }) ?? null);
    must(copy.length < 20_000_000, 'a log line without end');
    orTyped(() => describeError(value));
    mustBeUnpolluted();
  },
};

export const saidTargets: readonly Target[] = [requests, censoring];

// Outgoing data: a request to the MoR keeps its meaning, and a log line contains no secret.
import { encodeJson } from '@crossbill/mor/wire.js';
import {
  catalogueProductRequest,
  type Checked,
  describeBusinessRequest,
  initiateRequest,
  paymentLinkRequest,
  productChoice,
  proformaRequest,
  taxCalculationRequest,
  taxRefundRequest,
  taxTransactionRequest,
  webhookEndpointRequest,
} from '@crossbill/mor';
import fc from 'fast-check';
import { describeError, textCensor, withoutSecrets } from '#src/shared/masks/secrets.js';
import { jsonText } from '#src/frames/store/codec.js';
import { bentJson } from '../inputs/json.js';
import { oddText } from '../inputs/texts.js';
import { mustBeUnpolluted } from '../ranges.js';
import { must, mustBeSame, orTyped, type Target } from '../target.js';

type Shape = { readonly name: string; readonly sample: object | null; check(body: unknown): Checked<object> };

const WITH_EXAMPLE: readonly Shape[] = [
  taxCalculationRequest,
  taxTransactionRequest,
  taxRefundRequest,
  catalogueProductRequest,
  webhookEndpointRequest,
  initiateRequest,
  productChoice,
  describeBusinessRequest,
];
const SHAPES: readonly (readonly [shape: Shape, example: unknown])[] = [
  ...WITH_EXAMPLE.map((shape) => [shape, shape.sample] as const),
  [
    paymentLinkRequest,
    {
      merchantReference: 'in_1',
      amount: { amount: '29.90', currency: 'EUR' },
      jurisdiction: 'GB',
      returnUrl: 'https://x.example',
    },
  ],
  [
    proformaRequest,
    {
      merchantReference: 'in_1',
      jurisdiction: 'GB',
      dueDate: '2026-12-22',
      currency: 'EUR',
      lineItems: [{ description: 'Plan', quantity: '1', unitPrice: '29.90' }],
    },
  ],
];

const requests: Target = {
  name: 'mor-requests',
  what: "bodies for the MoR: each goes out with its meaning, or gets a refusal with the field's name",
  inputs: fc.oneof(...SHAPES.map(([{ name }, example]) => bentJson([example]).map((json) => `${name} ${json}`))),
  check(text) {
    const at = text.indexOf(' ');
    const shape = SHAPES.find(([{ name }]) => name === text.slice(0, at))?.[0];
    let body: unknown;
    try {
      body = JSON.parse(text.slice(at + 1));
    } catch {
      return;
    }
    const found = shape?.check(body);
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

/** Returns the value without null members and with ordered keys. */
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
  what: 'logging: secrets by value, by name and by shape, in any text and in any object',
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

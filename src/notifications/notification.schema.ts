// The schema of each notification, as OpenAPI 3.1 has webhooks.
import { REFUSALS } from '../domain/refusal.js';
import { type Webhooks } from '../api/http/openapi.js';
import { sampleOf } from './rules/samples.js';
import { LEFT_OPEN_WHY, NOTIFICATION_TYPES, type NotificationType } from '../domain/notification.js';

export type JsonSchema = { readonly [key: string]: unknown };
type Properties = Readonly<Record<string, JsonSchema>>;

const text = (description: string): JsonSchema => ({ type: 'string', description });
const textOrNull = (description: string): JsonSchema => ({ type: ['string', 'null'], description });
const word = (words: readonly string[], description: string): JsonSchema => ({
  type: 'string',
  enum: [...words],
  description,
});
const time = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description });
const timeOrNull = (description: string): JsonSchema => ({
  type: ['string', 'null'],
  format: 'date-time',
  description,
});
const count = (description: string): JsonSchema => ({ type: 'integer', description });
const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
const amount = count('Smallest units of the currency, as Stripe counts them.');
const amountOrNull: JsonSchema = { type: ['integer', 'null'], description: 'Smallest units; null: not known.' };
const currency = text('ISO 4217, lower case.');
const currencyOrNull = textOrNull('ISO 4217, lower case; null: not known.');
const consolePath = text('Path of the page about it in the console of this daemon.');
/** Every property is always there; null says that there is none. */
const object = (properties: Properties, description?: string): JsonSchema => ({
  type: 'object',
  ...(description === undefined ? {} : { description }),
  properties,
  required: Object.keys(properties),
});

const INVOICE: Properties = {
  invoice_id: text('`in_…`'),
  customer_id: textOrNull('`cus_…`'),
  subscription_id: textOrNull('`sub_…`'),
  status: text('As in `GET /v1/invoices`.'),
  amount_due: amountOrNull,
  currency: currencyOrNull,
  console: consolePath,
};
const PAYMENT: Properties = {
  payment_id: text("The MoR's `pay_…`, or ours until it has one."),
  processor_charge_id: textOrNull('The charge at the processor.'),
  amount,
  currency,
};
const REFUND: Properties = {
  refund_id: text('Ours, permanent.'),
  mor_refund_id: textOrNull('`rfnd_…`'),
  processor_refund_id: textOrNull("The processor's."),
  payment_id: text("The MoR's `pay_…`, or ours until it has one."),
  invoice_id: text('`in_…`'),
  amount,
  currency,
  made_elsewhere: flag("True: not asked for through Crossbill, for example in the MoR's portal."),
  console: consolePath,
};
const REVIEW: Properties = {
  review_id: text('`rev_…`: `GET /v1/reviews` has what happened and what is proposed, in words.'),
  kind: text('As in `GET /v1/reviews`.'),
  invoice_id: textOrNull('`in_…`; null: it is about none.'),
  refund_id: textOrNull('Our id of the refund.'),
  due_at: timeOrNull('Until when a person must have acted; null: nobody set a time.'),
  console: consolePath,
};

type Kind = { readonly summary: string; readonly data: Properties };

const KINDS: Readonly<Record<NotificationType, Kind>> = {
  'invoice.paid': {
    summary: 'An invoice with something due is paid and shown so on Stripe',
    data: {
      ...INVOICE,
      payments: {
        type: 'array',
        description: 'What the MoR took for it; empty: it was paid in another way.',
        items: object(PAYMENT),
      },
    },
  },
  'invoice.left_open': {
    summary: 'An invoice was not paid and waits',
    data: {
      ...INVOICE,
      why: word(
        LEFT_OPEN_WHY,
        '`no_verdict`: the MoR has said nothing in time; `review`: its payment waits for a person.',
      ),
      payment_id: textOrNull('The payment that failed or waits.'),
      decline_code: textOrNull("The processor's, where the MoR gave one."),
      review_id: textOrNull('The review item, where there is one.'),
      next_try_at: timeOrNull('When Crossbill tries again by itself; null: it does not.'),
    },
  },
  'invoice.action_required': {
    summary: 'A payment of an invoice waits for its customer to authenticate it',
    data: {
      ...INVOICE,
      payment_id: text("The MoR's `pay_…`"),
      processor_payment_intent_id: textOrNull('The payment intent at the processor.'),
    },
  },
  'customer.method_needed': {
    summary: "A hard decline: the customer's payment method will not work again, and another one is needed",
    data: {
      ...INVOICE,
      payment_id: text("The MoR's `pay_…` of the try that was declined."),
      amount,
      decline_code: textOrNull("The processor's, where the MoR gave one."),
      failure_message: textOrNull('As the MoR wrote it, for the customer or your support; card numbers are masked.'),
    },
  },
  'payment_link.created': {
    summary: 'A payment link for an invoice can be sent to its customer',
    data: {
      payment_link_id: text("The MoR's id of it."),
      invoice_id: text('`in_…`'),
      customer_id: textOrNull('`cus_…`'),
      url: text('The page where the customer pays. Whoever has it can pay; give it to nobody else.'),
      amount: amountOrNull,
      currency: currencyOrNull,
      expires_at: timeOrNull('Until when it can be paid.'),
      automatic: flag('True: made by itself after a failed renewal.'),
      console: consolePath,
    },
  },
  'refund.succeeded': { summary: 'A refund has reached the customer, as the MoR says', data: REFUND },
  'refund.failed': {
    summary: 'A refund failed; its amount can be refunded again',
    data: { ...REFUND, failure_code: textOrNull("The MoR's error code, where it gave one.") },
  },
  'signup.completed': {
    summary: 'The first payment of a signup is proven',
    data: {
      signup_id: text('`sup_…`'),
      invoice_id: text('`in_…`'),
      customer_id: text('`cus_…`'),
      ...PAYMENT,
      console: consolePath,
    },
  },
  'review.opened': { summary: 'A review item waits for a person', data: REVIEW },
  'review.due_soon': { summary: 'A review item is due within a day', data: REVIEW },
  'verify.differences': {
    summary: 'A verify run found differences without an open review item',
    data: {
      run_id: text('`GET /v1/verify` has the newest one.'),
      differences: count('How many.'),
      by_kind: { type: 'object', description: 'How many of each kind.', additionalProperties: { type: 'integer' } },
      console: consolePath,
    },
  },
  'webhooks.refusing': {
    summary: 'A webhook endpoint refuses deliveries: the first one after a start at once, later ones at most hourly',
    data: {
      endpoint: word(['stripe', 'mor_payments', 'mor_events'], 'Which one.'),
      reason: word([...REFUSALS], 'The code of the newest answer.'),
      check: text('What a person checks.'),
      refused: count('How many since the last notification, by the replica that notifies.'),
      since: time('When the first of them came.'),
      console: consolePath,
    },
  },
};

function exampleOf(type: NotificationType): unknown {
  return { type, timestamp: '2026-11-22T09:00:00.000Z', data: sampleOf(type, 'example').data };
}

export function schemaOf(type: NotificationType): JsonSchema {
  return object({
    type: { const: type },
    timestamp: time('When it happened, or was found out. It is part of the body, so it is the same in each try.'),
    data: object(KINDS[type].data),
  });
}

/** `webhooks` of the OpenAPI document. */
export function notificationWebhooks(): Webhooks {
  const header = (name: string, description: string) => ({
    name,
    in: 'header' as const,
    required: true,
    description,
    schema: { type: 'string' },
  });
  return Object.fromEntries(
    NOTIFICATION_TYPES.map((type) => {
      const post = {
        operationId: `notification_${type.replace('.', '_')}`,
        summary: KINDS[type].summary,
        tags: ['Notifications'],
        security: [], // its signature is its proof
        parameters: [
          header('webhook-id', 'The same in each try and replay: one that you know needs nothing more.'),
          header('webhook-timestamp', 'When it was sent, in Unix seconds; refuse what is older than five minutes.'),
          header('webhook-signature', 'Standard Webhooks: one `v1,…` for each secret, separated by blanks.'),
        ],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(type), example: exampleOf(type) } },
        },
        responses: {
          '2XX': { description: 'Taken. Answer within 15 seconds.' },
          '410': { description: 'The receiver is gone: nothing more is sent to it.' },
          default: { description: 'Tried again: ten times in three days.' },
        },
      };
      return [type, { post }];
    }),
  );
}

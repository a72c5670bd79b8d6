// The control routes for Document 3: card outcomes, refunds in the portal, retries, and the MoR's records for checks.
import { type JsonObject, Fields, isObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type CardsBook, type Chosen, type RefundPlan, outcomes } from './cards-book.js';
import { type Charges } from './cards-charges.js';
import { type PaymentEvents } from './cards-events.js';
import { type Refunds, renderRefund } from './cards-refunds.js';
import { type MorPayment, type MorState, type Product, type SavedMethod } from './state.js';

const PLANS: readonly RefundPlan[] = ['succeed', 'pending', 'pending_fail', 'fail'];

export type CardParts = {
  readonly book: CardsBook;
  readonly charges: Charges;
  readonly refunds: Refunds;
  readonly events: PaymentEvents;
};

export function addCardControls(kernel: Kernel, mor: MorState, parts: CardParts): void {
  addMerchantControls(kernel, mor, parts);
  addMoneyControls(kernel, mor, parts);
  const { book, events } = parts;

  kernel.control(
    'GET',
    '/_sandbox/mor/payments',
    'every payment with its status: ?invoice=&customer=&status=',
    (request) => {
      const wanted = (name: string, value: string | null): boolean => (request.query.get(name) ?? value) === value;
      const found = [...mor.payments.values()].filter(
        (p) =>
          wanted('invoice', p.merchantInvoiceId) &&
          wanted('customer', p.merchantCustomerId) &&
          wanted('status', p.status),
      );
      return { status: 200, body: { data: found.map(renderPayment) } };
    },
  );
  kernel.control('GET', '/_sandbox/mor/customers', 'every customer with its saved methods, newest last', () => {
    const data = [...mor.customers.values()].map((c) => ({
      id: c.id,
      merchant_customer_id: c.merchantCustomerId,
      email: c.email,
      payment_methods: c.methods.map(renderMethod),
    }));
    return { status: 200, body: { data } };
  });
  kernel.control('GET', '/_sandbox/mor/refunds', 'every refund: ?payment=', (request) => {
    const payment = request.query.get('payment');
    const found = [...mor.refunds.values()].filter((r) => payment === null || r.paymentId === payment);
    return {
      status: 200,
      body: { data: found.map((r): JsonObject => ({ ...renderRefund(r), source: r.source, metadata: r.metadata })) },
    };
  });
  kernel.control('GET', '/_sandbox/mor/payment-events', 'every payment.* event that was posted: ?type=', (request) => {
    const type = request.query.get('type');
    return {
      status: 200,
      body: { data: events.sent.filter((e) => type === null || e.type === type).map((e) => e.body) },
    };
  });
  kernel.control(
    'POST',
    '/_sandbox/mor/payment-events',
    'post any event signed to the payment webhook: {type, data, id?, created?}, Unix seconds of virtual time',
    (request) => {
      const fields = new Fields(request.body);
      const data = fields.optionalObject('data') ?? fields.refuse('data', 'must be an object');
      const object = isObject(data['object']) ? data['object'] : data;
      const created = fields.optionalNumber('created', 0);
      return {
        status: 201,
        body: events.post(fields.string('type'), object, fields.optionalString('id'), created).body,
      };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/payment-events/again',
    'send payment.* events once more, as they were: {since_sec}, virtual time',
    (request) => {
      const sent = events.again(new Fields(request.body).number('since_sec', 0));
      return { status: 200, body: { data: sent.map((e) => e.id) } };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/account',
    'the account: {payment_method_types?} that are enabled, {setup_customer?: take|refuse|ignore} of setup intents with merchant_customer',
    (request) => {
      const fields = new Fields(request.body);
      const given = fields.value['payment_method_types'] ?? [...book.enabledTypes];
      if (!Array.isArray(given)) return fields.refuse('payment_method_types', 'must be a list');
      if (fields.has('setup_customer')) {
        book.setupCustomer = fields.oneOf('setup_customer', ['take', 'refuse', 'ignore'] as const);
      }
      book.enabledTypes.clear();
      for (const type of given) if (typeof type === 'string') book.enabledTypes.add(type);
      const { enabledTypes, setupCustomer } = book;
      return { status: 200, body: { payment_method_types: [...enabledTypes], setup_customer: setupCustomer } };
    },
  );
}

function addMerchantControls(kernel: Kernel, mor: MorState, { book, events }: CardParts): void {
  kernel.control(
    'POST',
    '/_sandbox/cards',
    `how a customer's charges go: {customer_id, outcome, for_sec?} with one of ${outcomes.join(', ')}, or a list for the coming charges; decline:lost_card names a code; for_sec: for so long only`,
    (request) => {
      const fields = new Fields(request.body);
      const customerId = fields.string('customer_id');
      const chosen = outcomesOf(fields);
      book.choose(customerId, chosen, fields.optionalNumber('for_sec', 1) ?? null);
      return { status: 200, body: { customer_id: customerId, outcome: chosen } };
    },
  );
  kernel.control('POST', '/_sandbox/payment-webhook', 'where payment.* events go: {url, secret?}', (request) => {
    const fields = new Fields(request.body);
    const url = fields.string('url');
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) fields.refuse('url', 'must be an http or https URL');
    events.sendTo(url, fields.optionalString('secret') ?? kernel.secret('payment-webhook', 'whsec_'));
    return { status: 200, body: { url } };
  });
  kernel.control(
    'POST',
    '/_sandbox/merchant',
    'the merchant: {suspended?, regions?: {country: tor|mor|null}}',
    (request) => {
      const fields = new Fields(request.body);
      mor.suspended = fields.optionalBoolean('suspended') ?? mor.suspended;
      for (const [country, product] of Object.entries(fields.optionalObject('regions') ?? {})) {
        if (product === null) mor.regions.delete(country);
        else if (product === 'tor' || product === 'mor') mor.regions.set(country, product satisfies Product);
        else fields.refuse(`regions.${country}`, 'must be tor, mor or null');
      }
      return { status: 200, body: { suspended: mor.suspended, regions: Object.fromEntries(mor.regions) } };
    },
  );
}

function addMoneyControls(kernel: Kernel, mor: MorState, { charges, book, refunds }: CardParts): void {
  kernel.control(
    'POST',
    '/_sandbox/mor/retry',
    'charge again for an invoice whose last attempt failed: {invoice_id}',
    (request) => {
      const fields = new Fields(request.body);
      const heard = charges.retry(fields.string('invoice_id'));
      if (heard === null) return fields.refuse('invoice_id', 'unknown, paid already, or a charge is under way');
      return { status: 202, body: { invoice_id: heard.id, attempts: heard.attempts.length } };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/refunds',
    'a refund made in the MoR portal: {payment_id, amount?, reason?}',
    (request) => {
      const fields = new Fields(request.body);
      const payment = mor.payments.get(fields.string('payment_id'));
      if (payment === undefined) return fields.refuse('payment_id', 'no such payment');
      const amount = fields.optionalNumber('amount', 1) ?? null;
      const reason = fields.optionalString('reason') ?? null;
      return {
        status: 201,
        body: renderRefund(refunds.create(payment, { amount, reason, metadata: null, source: 'portal' })),
      };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/refunds/:id/settle',
    'end a pending refund now: {status: succeeded|failed}',
    (request) => {
      const fields = new Fields(request.body);
      const refund = mor.refunds.get(request.params['id'] ?? '');
      const succeeded = fields.oneOf('status', ['succeeded', 'failed'] as const) === 'succeeded';
      if (refund === undefined || !refunds.settle(refund, succeeded))
        return fields.refuse('id', 'no such pending refund');
      return { status: 200, body: renderRefund(refund) };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/next-refund',
    `how the next refund goes: {outcome: ${PLANS.join('|')}, payment_id?, processor_refund_id?}`,
    (request) => {
      const fields = new Fields(request.body);
      const plan = fields.oneOf('outcome', PLANS);
      const paymentId = fields.optionalString('payment_id') ?? null;
      const processorRefundId = fields.optionalString('processor_refund_id') ?? null;
      book.refundPlans.push({ plan, paymentId, processorRefundId });
      return { status: 200, body: { outcome: plan } };
    },
  );
  kernel.control(
    'POST',
    '/_sandbox/mor/payments/:id/charge-back',
    'the payment was charged back: no refund any more',
    (request) => {
      const fields = new Fields(request.body);
      const payment = mor.payments.get(request.params['id'] ?? '');
      if (payment === undefined) return fields.refuse('id', 'no such payment');
      payment.status = 'charged_back';
      return { status: 200, body: renderPayment(payment) };
    },
  );
}

function outcomesOf(fields: Fields): Chosen | Chosen[] {
  const given = fields.value['outcome'];
  return Array.isArray(given) ? given.map((one) => outcomeOf(one, fields)) : outcomeOf(given, fields);
}

function outcomeOf(given: unknown, fields: Fields): Chosen {
  const code = typeof given === 'string' ? /^decline:([a-z_]{1,64})$/.exec(given)?.[1] : undefined;
  if (code !== undefined) return `decline:${code}`;
  return (
    outcomes.find((o) => o === given) ??
    fields.refuse('outcome', `must be one of ${outcomes.join(', ')}, decline:<code>`)
  );
}

function renderMethod({ id, type, merchantCustomerId, morCustomerId, intentId }: SavedMethod): JsonObject {
  return { id, type, merchant_customer_id: merchantCustomerId, mor_customer_id: morCustomerId, intent_id: intentId };
}

function renderPayment(payment: MorPayment): JsonObject {
  return {
    id: payment.id,
    kind: payment.kind,
    merchant_invoice_id: payment.merchantInvoiceId,
    merchant_customer_id: payment.merchantCustomerId,
    mor_customer_id: payment.morCustomerId,
    amount: payment.amount,
    currency: payment.currency,
    status: payment.status,
    method: payment.method,
    paid_with: payment.paidWith === null ? null : renderMethod(payment.paidWith),
    processor_charge_id: payment.processorChargeId,
    processor_payment_intent_id: payment.processorPaymentIntentId,
    failure_message: payment.failureMessage,
    decline_code: payment.declineCode,
    amount_refunded: payment.amountRefunded,
    amount_pending_refund: payment.amountReserved,
    tax_calculation_id: payment.taxCalculationId,
    created_at: new Date(payment.createdAtMs).toISOString(),
  };
}

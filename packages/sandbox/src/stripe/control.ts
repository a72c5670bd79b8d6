// Control routes of the Stripe side: renew, emit events, register endpoints, limit the rate, and show everything for
// checks.
import { type JsonObject, Fields, isObject } from '../kernel/json.js';
import { LONGEST_GRACE_HOURS } from './billing.js';
import { type StripeContext } from './context.js';
import { renderEndpoint } from './events.routes.js';
import { type Gate } from './idempotency.js';
import { type Invoice, type PaymentRecord, amountOverpaid, amountRefunded } from './model.js';
import { renderCreditNote, renderPaymentRecord } from './render-payments.js';
import { renderSubscription } from './render-subscription.js';

export function addStripeControls(ctx: StripeContext, gate: Gate): void {
  const { kernel, state, billing, cycles } = ctx;

  kernel.control(
    'POST',
    '/_sandbox/stripe/renew',
    'a renewal now: {subscription, amount?, billing_reason?}',
    (request) => {
      const fields = new Fields(request.body);
      const subscription = state.subscriptions.get(fields.string('subscription'));
      if (subscription === undefined) return fields.refuse('subscription', 'no such subscription');
      const amount = fields.optionalNumber('amount', 0) ?? null;
      const reason = fields.optionalString('billing_reason') ?? 'subscription_cycle';
      const invoice = state.during(subscription.customer, () => cycles.renewNow(subscription, reason, amount));
      return { status: 200, body: state.invoiceBody(invoice) };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/invoices/:id/finalization-error',
    'finalizing this draft fails: {message} or {message: null} to heal',
    (request) => {
      const fields = new Fields(request.body);
      const invoice = state.invoices.get(request.params['id'] ?? '');
      if (invoice === undefined) return fields.refuse('id', 'no such invoice');
      invoice.finalizationError = fields.optionalString('message') ?? null;
      return { status: 200, body: state.invoiceBody(invoice) };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/invoices/:id/add',
    'add to a draft, as usage would: {amount, description?}',
    (request) => {
      const fields = new Fields(request.body);
      const invoice = state.invoices.get(request.params['id'] ?? '');
      if (invoice?.status !== 'draft') return fields.refuse('id', 'no such draft invoice');
      invoice.lines.push({
        id: state.id('il'),
        amount: fields.number('amount'),
        quantity: 1,
        description: fields.optionalString('description') ?? 'Usage',
        price: null,
        subscriptionItem: null,
        invoiceItem: state.id('ii'),
        periodStart: invoice.periodStart,
        periodEnd: invoice.periodEnd,
      });
      state.emitInvoice('invoice.updated', invoice);
      return { status: 200, body: state.invoiceBody(invoice) };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/usage',
    'usage of a metered price; the draft of a renewal bills it until its finalization: {subscription, quantity}',
    (request) => {
      const fields = new Fields(request.body);
      const subscription = state.subscriptions.get(fields.string('subscription'));
      if (subscription === undefined) return fields.refuse('subscription', 'no such subscription');
      const item = cycles.reportUsage(subscription, fields.number('quantity', 0));
      if (item === null) return fields.refuse('subscription', 'has no metered price');
      return { status: 200, body: { subscription: subscription.id, item: item.id, not_yet_billed: item.usage } };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/grace-period',
    'the account: hours between a draft and its finalization, for later drafts: {hours}, 1 to 72',
    (request) => {
      const hours = new Fields(request.body).number('hours', 1, LONGEST_GRACE_HOURS);
      billing.graceSec = hours * 3600;
      return { status: 200, body: { hours } };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/events',
    'emit an event: {type, data} where data is the object',
    (request) => {
      const fields = new Fields(request.body);
      const data = fields.optionalObject('data') ?? fields.refuse('data', 'must be an object');
      const object = isObject(data['object']) ? data['object'] : data;
      const event = state.emit(fields.string('type'), object);
      return { status: 201, body: { id: event.id, type: event.type } };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/webhook-endpoints',
    'register an endpoint: {url, secret, events?}',
    (request) => {
      const fields = new Fields(request.body);
      const given = fields.value['events'];
      const events = Array.isArray(given) ? given.filter((e): e is string => typeof e === 'string') : ['*'];
      return { status: 201, body: renderEndpoint(state.addEndpoint(urlOf(fields), fields.string('secret'), events)) };
    },
  );
  kernel.control(
    'DELETE',
    '/_sandbox/stripe/webhook-endpoints/:id',
    'remove an endpoint (`all` for every one)',
    (request) => {
      const id = request.params['id'] ?? '';
      for (const endpoint of state.endpoints.values()) if (id === 'all' || endpoint.id === id) endpoint.deleted = true;
      return { status: 200, body: { id, deleted: true } };
    },
  );

  kernel.control(
    'POST',
    '/_sandbox/stripe/rate-limit',
    'answer 429 beyond this: {rps?, per_endpoint?}; {} lifts it',
    (request) => {
      const fields = new Fields(request.body);
      gate.limit.rps = fields.optionalNumber('rps', 1) ?? null;
      gate.limit.perEndpoint = fields.optionalNumber('per_endpoint', 1) ?? null;
      return { status: 200, body: gate.stats() };
    },
  );
  kernel.control('GET', '/_sandbox/stripe/stats', 'requests, refusals, the busiest second', () => ({
    status: 200,
    body: gate.stats(),
  }));

  kernel.control(
    'GET',
    '/_sandbox/stripe/state',
    'invoices with payments, payment records, credit notes: ?invoice=',
    (request) => {
      const wanted = request.query.get('invoice');
      const invoices = [...state.invoices.values()].filter((i) => wanted === null || i.id === wanted);
      return { status: 200, body: oracle(ctx, invoices, wanted) };
    },
  );
}

const EXPAND: ReadonlySet<string> = new Set(['payments', 'amount_paid_off_stripe']);

/** Shows all objects of these invoices. If `only` is null, also shows the subscriptions and the unattached records. */
function oracle(ctx: StripeContext, invoices: readonly Invoice[], only: string | null): JsonObject {
  const { state } = ctx;
  const ids = new Set(invoices.map((i) => i.id));
  const records = [...state.records.values()].filter((r) => only === null || r.attachedAs?.invoice === only);
  const notes = [...state.creditNotes.values()].filter((n) => ids.has(n.invoice));
  return {
    invoices: invoices.map((i): JsonObject => ({
      ...state.invoiceBody(i, EXPAND),
      amount_overpaid: amountOverpaid(i),
    })),
    payment_records: records.map(recordWithRefunds),
    credit_notes: notes.map(renderCreditNote),
    subscriptions: only === null ? [...state.subscriptions.values()].map((s) => renderSubscription(s, state)) : [],
  };
}

function recordWithRefunds(paymentRecord: PaymentRecord): JsonObject {
  return {
    ...renderPaymentRecord(paymentRecord),
    invoice: paymentRecord.attachedAs?.invoice ?? null,
    payment_reference: paymentRecord.reference,
    amount_refunded_value: amountRefunded(paymentRecord),
    refunds: paymentRecord.refunds.map((f) => ({
      refund_reference: f.reference,
      amount: f.amount,
      at: f.at,
      credited: f.credited,
    })),
  };
}

/** The address of a receiver. Throws BadInput unless it is http or https. */
function urlOf(fields: Fields): string {
  const text = fields.string('url');
  return /^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')
    ? text
    : fields.refuse('url', 'must be an http or https URL');
}

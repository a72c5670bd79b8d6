// Payment records: payments collected outside Stripe, their attempts, and their refunds.
import { type StripeContext } from './context.js';
import { type Params, cannot, invalidParam, missing } from './errors.js';
import { page } from './lists.js';
import { type Invoice, type InvoicePayment, type PaymentRecord, amountRefunded } from './model.js';
import { renderPaymentRecord } from './render-payments.js';

export function addPaymentRecordRoutes(ctx: StripeContext): void {
  const { state, billing } = ctx;

  ctx.route('POST', '/v1/payment_records/report_payment', (params) => {
    const record = makeRecord(ctx, params);
    state.records.set(record.id, record);
    return renderPaymentRecord(record);
  });
  ctx.route('GET', '/v1/payment_records', (params) => {
    // Stripe's list has these two filters, and no search by reference.
    const after = params.optionalInteger('created_after') ?? Number.NEGATIVE_INFINITY;
    const before = params.optionalInteger('created_before') ?? Number.POSITIVE_INFINITY;
    const found = [...state.records.values()].filter((r) => r.created >= after && r.created <= before);
    return page(found, params, '/v1/payment_records', renderPaymentRecord);
  });
  ctx.route('GET', '/v1/payment_records/:id', (_params, id) => renderPaymentRecord(ctx.record(id, 'id')));

  ctx.route('POST', '/v1/payment_records/:id/report_refund', (params, id) => {
    const record = ctx.record(id, 'id');
    reportRefund(ctx, record, params);
    return renderPaymentRecord(record);
  });
  ctx.route('POST', '/v1/payment_records/:id/report_payment_attempt', (params, id) => {
    const record = ctx.record(id, 'id');
    params.integer('initiated_at');
    if (record.state !== 'failed' && record.state !== 'canceled') {
      cannot('payment_record_attempt_in_progress', 'All earlier attempts must have failed or been canceled.');
    }
    record.attempt = state.id('par');
    move(record, outcomeOf(params));
    return renderPaymentRecord(record);
  });
  ctx.route('POST', '/v1/payment_records/:id/report_payment_attempt_guaranteed', (params, id) => {
    const record = ctx.record(id, 'id');
    params.integer('guaranteed_at');
    requireProcessing(record);
    move(record, 'guaranteed');
    const [invoice, payment] = attachedTo(ctx, record) ?? [];
    if (invoice !== undefined && payment !== undefined) billing.settlePayment(invoice, payment, record.requested);
    return renderPaymentRecord(record);
  });
  const ends = { failed: 'failed_at', canceled: 'canceled_at' } as const;
  for (const end of ['failed', 'canceled'] as const) {
    ctx.route('POST', `/v1/payment_records/:id/report_payment_attempt_${end}`, (params, id) => {
      const record = ctx.record(id, 'id');
      params.integer(ends[end]);
      requireProcessing(record);
      move(record, end);
      const [invoice, payment] = attachedTo(ctx, record) ?? [];
      if (invoice !== undefined && payment !== undefined) {
        payment.status = 'canceled';
        payment.canceledAt = state.now;
        if (end === 'failed') billing.attemptFailed(invoice);
      }
      return renderPaymentRecord(record);
    });
  }
  ctx.route('POST', '/v1/payment_records/:id/report_payment_attempt_informational', (params, id) => {
    const record = ctx.record(id, 'id');
    record.metadata = params.metadata(record.metadata);
    return renderPaymentRecord(record);
  });
}

function makeRecord(ctx: StripeContext, params: Params): PaymentRecord {
  const { state } = ctx;
  const amount = params.within('amount_requested') ?? need('amount_requested');
  const method = params.within('payment_method_details') ?? need('payment_method_details');
  const paymentMethod = method.optionalText('payment_method');
  if (paymentMethod === null && method.text('type') !== 'custom') {
    invalidParam('payment_method_details[type]', 'Only payment methods of type custom can be reported.');
  }
  if (paymentMethod !== null && !state.paymentMethods.has(paymentMethod))
    missing('payment_method', paymentMethod, 'payment_method_details');
  const custom = method.within('custom');
  const processor = params.within('processor_details');
  if (processor !== null && processor.text('type') !== 'custom')
    invalidParam('processor_details[type]', 'Must be custom.');
  const details = params.within('customer_details');
  const customerDetails: Record<string, string> = {};
  for (const name of ['customer', 'email', 'name', 'phone']) {
    if (details?.has(name) === true) customerDetails[name] = details.text(name);
  }
  if (customerDetails['customer'] !== undefined) ctx.customer(customerDetails['customer']);
  return {
    id: state.id('pr'),
    created: state.now,
    currency: amount.currency('currency'),
    requested: amount.positive('value'),
    reference: processor?.within('custom')?.optionalText('payment_reference') ?? null,
    customerDetails,
    presence: params.has('customer_presence')
      ? params.oneOf('customer_presence', ['on_session', 'off_session'] as const)
      : null,
    description: params.optionalText('description'),
    methodDetails: {
      paymentMethod,
      customType: custom?.optionalText('type') ?? null,
      displayName: custom?.optionalText('display_name') ?? null,
    },
    initiatedAt: params.integer('initiated_at'),
    attempt: state.id('par'),
    state: outcomeOf(params),
    metadata: params.metadata(),
    refunds: [],
    attachedAs: null,
  };
}

/** Reads the outcome. Each outcome needs its own timestamp. */
function outcomeOf(params: Params): PaymentRecord['state'] {
  if (!params.has('outcome')) return 'processing';
  const outcome = params.oneOf('outcome', ['guaranteed', 'failed', 'canceled'] as const);
  (params.within(outcome) ?? need(outcome)).integer(`${outcome}_at`);
  return outcome;
}

function need(param: string): never {
  return invalidParam(param, `Missing required param: ${param}.`, 'parameter_missing');
}

function move(record: PaymentRecord, state: PaymentRecord['state']): void {
  record.state = state;
}

function requireProcessing(record: PaymentRecord): void {
  if (record.state !== 'processing')
    cannot('payment_record_already_final', `The payment record is already ${record.state}.`);
}

function attachedTo(ctx: StripeContext, record: PaymentRecord): [Invoice, InvoicePayment] | null {
  const payment = record.attachedAs;
  const invoice = ctx.state.invoices.get(payment?.invoice ?? '');
  return payment === null || invoice === undefined ? null : [invoice, payment];
}

/** Reports a refund. As at Stripe, its reference is unique, and all refunds stay within the guaranteed amount. */
function reportRefund(ctx: StripeContext, record: PaymentRecord, params: Params): void {
  const { state } = ctx;
  params.oneOf('outcome', ['refunded'] as const);
  const processor = params.within('processor_details') ?? need('processor_details');
  processor.oneOf('type', ['custom'] as const);
  const reference =
    processor.within('custom')?.text('refund_reference') ?? need('processor_details[custom][refund_reference]');
  params.within('refunded')?.optionalInteger('refunded_at');
  const given = params.within('amount');
  const amount = given === null ? record.requested : given.positive('value');
  if (given !== null && given.currency('currency') !== record.currency) {
    invalidParam('amount[currency]', `The payment record is in ${record.currency}.`, 'currency_mismatch');
  }
  if (record.state !== 'guaranteed') cannot('payment_record_not_refundable', `The payment record is ${record.state}.`);
  if (state.refundReferences.has(reference)) {
    cannot(
      'resource_already_exists',
      'A refund with this refund_reference exists already.',
      'processor_details[custom][refund_reference]',
    );
  }
  if (amountRefunded(record) + amount > record.requested) {
    cannot('amount_too_large', 'The refunds would exceed the guaranteed amount.', 'amount[value]');
  }
  state.refundReferences.add(reference);
  record.refunds.push({ reference, amount, at: state.now, credited: 0 });
}

// Invoices, invoice items, and the payments attached to invoices.
import { type Collecting } from './collecting.js';
import { type StripeContext, methodIn } from './context.js';
import { type Params, cannot, invalidParam, missing } from './errors.js';
import { createdFilter, expansions, page } from './lists.js';
import { type Invoice, type InvoicePayment, type Line } from './model.js';
import { renderLine } from './render-invoice.js';
import { renderInvoicePayment } from './render-payments.js';
import { type PendingItem } from './state.js';

export function addInvoiceRoutes(ctx: StripeContext, collecting: Collecting): void {
  const { state, billing } = ctx;
  const render = (invoice: Invoice, params: Params) => state.invoiceBody(invoice, expansions(params));

  ctx.route('POST', '/v1/invoiceitems', (params) => addItem(ctx, params));

  ctx.route('POST', '/v1/invoices', (params) => {
    const customer = ctx.customer(params.text('customer'));
    const takes = params.optionalText('pending_invoice_items_behavior') === 'include';
    const items = takes ? [...state.pendingItems.values()].filter((i) => i.customer === customer.id) : [];
    for (const item of items) state.pendingItems.delete(item.id);
    const method = params.has('collection_method')
      ? params.oneOf('collection_method', ['charge_automatically', 'send_invoice'] as const)
      : 'charge_automatically';
    const invoice = billing.createInvoice({
      customer,
      currency: params.has('currency') ? params.currency('currency') : (items[0]?.currency ?? 'eur'),
      billingReason: 'manual',
      subscription: null,
      collectionMethod: method,
      daysUntilDue: params.optionalInteger('days_until_due'),
      autoAdvance: params.flag('auto_advance') ?? false,
      lines: items.map((item) => lineOf(ctx, item)),
      description: params.optionalText('description'),
      metadata: params.metadata(),
    });
    invoice.defaultPaymentMethod = methodIn(ctx, params, 'default_payment_method');
    return render(invoice, params);
  });

  ctx.route('GET', '/v1/invoices', (params) => {
    const created = createdFilter(params);
    const [customer, status, subscription, method] = ['customer', 'status', 'subscription', 'collection_method'].map(
      (n) => params.optionalText(n),
    );
    const wanted = (invoice: Invoice): boolean =>
      created(invoice) &&
      (customer === null || invoice.customer === customer) &&
      (status === null || invoice.status === status) &&
      (method === null || invoice.collectionMethod === method) &&
      (subscription === null || invoice.subscription === subscription);
    return page([...state.invoices.values()].filter(wanted), params, '/v1/invoices', (i) => render(i, params));
  });

  ctx.route('GET', '/v1/invoices/:id', (params, id) => render(ctx.invoice(id), params));
  ctx.route('GET', '/v1/invoices/:id/lines', (params, id) => {
    const invoice = ctx.invoice(id);
    const lines = invoice.lines.map((line) => ({ ...line, created: invoice.created }));
    // `page` reverses its list, so the lines come out in the order on the invoice.
    return page(lines.reverse(), params, `/v1/invoices/${id}/lines`, (line) => renderLine(line, invoice));
  });
  ctx.route('POST', '/v1/invoices/:id', (params, id) => {
    const invoice = ctx.invoice(id);
    const advance = params.flag('auto_advance');
    if (params.value['description'] !== undefined) invoice.description = params.optionalText('description');
    if (params.value['default_payment_method'] !== undefined)
      invoice.defaultPaymentMethod = methodIn(ctx, params, 'default_payment_method');
    invoice.metadata = params.metadata(invoice.metadata);
    if (advance !== null && advance !== invoice.autoAdvance) {
      invoice.autoAdvance = advance;
      if (advance) billing.planFinalizing(invoice);
      if (advance) collecting.resume(invoice);
      else invoice.nextAttempt = null;
    }
    state.emitInvoice('invoice.updated', invoice);
    return render(invoice, params);
  });
  ctx.route('DELETE', '/v1/invoices/:id', (_params, id) => {
    const invoice = ctx.invoice(id);
    if (invoice.status !== 'draft' || invoice.subscription !== null) {
      cannot('invoice_not_editable', 'You can only delete draft invoices that are not of a subscription.');
    }
    state.invoices.delete(id);
    state.emit('invoice.deleted', { ...state.invoiceBody(invoice), deleted: true });
    return { id, object: 'invoice', deleted: true };
  });

  ctx.route('POST', '/v1/invoices/:id/finalize', (params, id) => {
    const invoice = ctx.invoice(id);
    billing.finalize(invoice, params.flag('auto_advance'));
    return render(invoice, params);
  });
  ctx.route('POST', '/v1/invoices/:id/pay', (params, id) => {
    const invoice = ctx.invoice(id);
    billing.requirePayable(invoice);
    if (params.flag('paid_out_of_band') === true) billing.payOutOfBand(invoice);
    else collecting.payNow(invoice, params.optionalText('payment_method'));
    return render(invoice, params);
  });
  ctx.route('POST', '/v1/invoices/:id/void', (params, id) => {
    const invoice = ctx.invoice(id);
    billing.void(invoice);
    return render(invoice, params);
  });
  ctx.route('POST', '/v1/invoices/:id/mark_uncollectible', (params, id) => {
    const invoice = ctx.invoice(id);
    billing.markUncollectible(invoice);
    return render(invoice, params);
  });
  ctx.route('POST', '/v1/invoices/:id/attach_payment', (params, id) => {
    const invoice = ctx.invoice(id);
    attach(ctx, invoice, params);
    return render(invoice, params);
  });
  // A preview of Stripe (changelog of 2026-01-28). The `stripe` package lacks this call, but a person can detach a
  // payment in the dashboard.
  ctx.route('POST', '/v1/invoices/:id/detach_payment', (params, id) => {
    const invoice = ctx.invoice(id);
    const [intent, record] = [params.optionalText('payment_intent'), params.optionalText('payment_record')];
    const named = invoice.payments.find((p) => (record === null ? p.intent === intent : p.record === record));
    if (named === undefined)
      return missing(record === null ? 'payment_intent' : 'payment_record', record ?? intent ?? '', 'payment_intent');
    if (named.status !== 'paid') cannot('payment_not_detachable', `The payment is ${named.status}, not paid.`);
    billing.detachPayment(invoice, named);
    return render(invoice, params);
  });

  ctx.route('GET', '/v1/invoice_payments', (params) => {
    const created = createdFilter(params);
    const payment = params.within('payment');
    const [invoice, status] = [params.optionalText('invoice'), params.optionalText('status')];
    const type = payment?.optionalText('type') ?? null;
    const record = payment?.optionalText('payment_record') ?? null;
    const wanted = (payment: InvoicePayment): boolean =>
      created(payment) &&
      (invoice === null || payment.invoice === invoice) &&
      (status === null || payment.status === status) &&
      (type === null || (type === 'payment_record') === (payment.record !== null)) &&
      (record === null || payment.record === record);
    // An account may have many payments, so a request for one invoice (the usual request) looks only at the payments of
    // this invoice.
    const pool = invoice === null ? [...state.invoicePayments.values()] : (state.invoices.get(invoice)?.payments ?? []);
    return page(pool.filter(wanted), params, '/v1/invoice_payments', (p) =>
      renderInvoicePayment(currencyOf(ctx, p), p),
    );
  });
  ctx.route('GET', '/v1/invoice_payments/:id', (_params, id) => {
    const payment = state.invoicePayments.get(id) ?? missing('invoice_payment', id);
    return renderInvoicePayment(currencyOf(ctx, payment), payment);
  });
}

function currencyOf(ctx: StripeContext, payment: InvoicePayment): string {
  return ctx.state.invoices.get(payment.invoice)?.currency ?? 'eur';
}

/**
 * As at Stripe, a guaranteed record pays at once, and a record still processing becomes an open payment of the invoice.
 */
function attach(ctx: StripeContext, invoice: Invoice, params: Params): void {
  const { billing } = ctx;
  const record = ctx.record(params.text('payment_record'));
  const already = record.attachedAs;
  if (already !== null) {
    cannot(
      'resource_already_exists',
      `The payment record is already attached to invoice ${already.invoice}.`,
      'payment_record',
    );
  }
  billing.requirePayable(invoice);
  if (record.currency !== invoice.currency) {
    invalidParam(
      'payment_record',
      `The record is in ${record.currency}, the invoice in ${invoice.currency}.`,
      'currency_mismatch',
    );
  }
  const owner = record.customerDetails['customer'];
  if (owner !== undefined && owner !== invoice.customer) {
    cannot('customer_mismatch', 'The payment record belongs to another customer than the invoice.', 'payment_record');
  }
  if (record.state === 'failed' || record.state === 'canceled') {
    cannot('payment_record_not_attachable', `The payment record is ${record.state}.`, 'payment_record');
  }
  const payment = billing.addPayment(invoice, record, record.requested);
  record.attachedAs = payment;
  if (record.state === 'guaranteed') billing.settlePayment(invoice, payment, record.requested);
}

function addItem(ctx: StripeContext, params: Params): Record<string, string | number | boolean | null> {
  const { state } = ctx;
  const item: PendingItem = {
    id: state.id('ii'),
    customer: ctx.customer(params.text('customer')).id,
    amount: params.has('unit_amount')
      ? params.integer('unit_amount') * (params.optionalInteger('quantity') ?? 1)
      : params.integer('amount'),
    currency: params.currency('currency'),
    description: params.optionalText('description') ?? 'Item',
  };
  const target = params.optionalText('invoice');
  if (target === null) state.pendingItems.set(item.id, item);
  else {
    const invoice = ctx.invoice(target);
    if (invoice.status !== 'draft') cannot('invoice_not_editable', 'The invoice is no longer a draft.', 'invoice');
    if (item.currency !== invoice.currency && invoice.lines.length > 0)
      invalidParam('currency', 'Another currency than the invoice.');
    invoice.lines.push(lineOf(ctx, item));
    state.emitInvoice('invoice.updated', invoice);
  }
  const { id, customer, amount, currency, description } = item;
  return {
    id,
    object: 'invoiceitem',
    amount,
    currency,
    customer,
    description,
    invoice: target,
    livemode: false,
    date: state.now,
  };
}

function lineOf(ctx: StripeContext, item: PendingItem): Line {
  const { state } = ctx;
  return {
    id: state.id('il'),
    amount: item.amount,
    quantity: 1,
    description: item.description,
    price: null,
    subscriptionItem: null,
    invoiceItem: item.id,
    periodStart: state.now,
    periodEnd: state.now,
  };
}

// Credit notes. A credit note before the payment lowers the amount due. A credit note after the payment must say where
// the money went: a refund, the customer's balance, or out of band.
import { enter } from './balance.js';
import { type Cards } from './cards.js';
import { type StripeContext } from './context.js';
import { type Params, cannot, invalidParam, missing } from './errors.js';
import { createdFilter, page } from './lists.js';
import { type CreditNote, type Invoice, type NotedRefund, amountRemaining, invoiceTotal } from './model.js';
import { renderCreditNote } from './render-payments.js';

const REASONS = ['duplicate', 'fraudulent', 'order_change', 'product_unsatisfactory'] as const;

export function addCreditNoteRoutes(ctx: StripeContext, cards: Cards): void {
  const { state } = ctx;
  const find = (id: string): CreditNote => state.creditNotes.get(id) ?? missing('credit_note', id);

  ctx.route('POST', '/v1/credit_notes', (params) => renderCreditNote(create(ctx, cards, params)));
  ctx.route('GET', '/v1/credit_notes', (params) => {
    const [invoice, customer] = [params.optionalText('invoice'), params.optionalText('customer')];
    const created = createdFilter(params);
    const wanted = (creditNote: CreditNote): boolean =>
      created(creditNote) &&
      (invoice === null || creditNote.invoice === invoice) &&
      (customer === null || creditNote.customer === customer);
    return page([...state.creditNotes.values()].filter(wanted), params, '/v1/credit_notes', renderCreditNote);
  });
  ctx.route('GET', '/v1/credit_notes/:id', (_params, id) => renderCreditNote(find(id)));
  ctx.route('POST', '/v1/credit_notes/:id', (params, id) => {
    const note = find(id);
    note.metadata = params.metadata(note.metadata);
    return renderCreditNote(note);
  });
  ctx.route('POST', '/v1/credit_notes/:id/void', (_params, id) => {
    const note = find(id);
    const invoice = ctx.invoice(note.invoice);
    if (note.status === 'void') cannot('credit_note_void', 'This credit note is void already.');
    if (invoice.status !== 'open') cannot('invoice_not_open', 'Only credit notes of open invoices can be voided.');
    note.status = 'void';
    note.voidedAt = state.now;
    invoice.prePaymentCredit -= note.prePayment;
    state.emit('credit_note.voided', renderCreditNote(note));
    return renderCreditNote(note);
  });
}

function create(ctx: StripeContext, cards: Cards, params: Params): CreditNote {
  const { state, billing } = ctx;
  const invoice = ctx.invoice(params.text('invoice'));
  const amount = params.has('amount') ? params.positive('amount') : sumOfLines(params);
  if (params.has('email_type')) params.oneOf('email_type', ['credit_note', 'none'] as const);
  const reason = params.has('reason') ? params.oneOf('reason', REASONS) : null;
  if (invoice.status === 'draft' || invoice.status === 'void') {
    cannot('invoice_not_open', `Credit notes need a finalized invoice; this one is ${invoice.status}.`, 'invoice');
  }
  const creditable = invoiceTotal(invoice) - invoice.prePaymentCredit - invoice.postPaymentCredit;
  if (amount > creditable)
    cannot('amount_too_large', `Only ${creditable} of this invoice can still be credited.`, 'amount');

  const prePayment = Math.min(amount, invoice.status === 'paid' ? 0 : amountRemaining(invoice));
  const postPayment = amount - prePayment;
  const refunds = params.list('refunds').map((r, i) => readRefund(ctx, invoice, r, i));
  const outOfBand = params.optionalInteger('out_of_band_amount');
  const credit = params.optionalInteger('credit_amount') ?? 0;
  const toCard = params.optionalInteger('refund_amount') ?? 0;
  const parts = refunds.reduce((sum, r) => sum + r.amount, 0) + (outOfBand ?? 0) + credit + toCard;
  if (parts !== postPayment) {
    cannot(
      'credit_note_amounts_do_not_match',
      `The refunds, refund_amount, out_of_band_amount and credit_amount (${parts}) must sum to the post payment amount (${postPayment}).`,
      'amount',
    );
  }
  if (toCard > 0) refunds.push(refundCard(ctx, cards, invoice, toCard));
  const note: CreditNote = {
    id: state.id('cn'),
    created: state.now,
    number: state.nextCreditNoteNumber(),
    invoice: invoice.id,
    customer: invoice.customer,
    currency: invoice.currency,
    amount,
    prePayment,
    postPayment,
    outOfBand,
    credit,
    balanceEntry: null,
    reason,
    memo: params.optionalText('memo'),
    refunds,
    status: 'issued',
    voidedAt: null,
    metadata: params.metadata(),
  };
  state.creditNotes.set(note.id, note);
  if (credit > 0) {
    const { currency, id: creditNote } = note;
    const entry = { type: 'credit_note', amount: -credit, currency, invoice: invoice.id, creditNote } as const;
    note.balanceEntry = enter(state, invoice.owner, entry).id;
  }
  for (const r of refunds) markCredited(ctx, r);
  invoice.prePaymentCredit += prePayment;
  invoice.postPaymentCredit += postPayment;
  state.emit('credit_note.created', renderCreditNote(note));
  if (prePayment > 0 && amountRemaining(invoice) === 0 && invoice.status === 'open') billing.becomePaid(invoice);
  else state.emitInvoice('invoice.updated', invoice);
  return note;
}

function sumOfLines(params: Params): number {
  const lines = params.list('lines');
  if (lines.length === 0)
    invalidParam('amount', 'You must pass one of amount, lines or shipping_cost.', 'parameter_missing');
  return lines.reduce((sum, line) => sum + (line.optionalInteger('amount') ?? line.integer('unit_amount')), 0);
}

/** Reads a refund of a payment record or card. Throws unless it belongs to this invoice and covers the credit. */
function readRefund(ctx: StripeContext, invoice: Invoice, params: Params, index: number): NotedRefund {
  const at = `refunds[${index}]`;
  if (params.optionalText('type') !== 'payment_record_refund') return readCardRefund(ctx, invoice, params, at);
  const named =
    params.within('payment_record_refund') ??
    invalidParam(`${at}[payment_record_refund]`, 'Missing.', 'parameter_missing');
  const record = ctx.record(named.text('payment_record'));
  const group = named.text('refund_group');
  const refund =
    record.refunds.find((r) => r.reference === group) ?? missing('refund_group', group, `${at}[payment_record_refund]`);
  const amount = params.has('amount_refunded') ? params.positive('amount_refunded') : refund.amount;
  if (!invoice.payments.some((p) => p.record === record.id && p.status === 'paid')) {
    cannot(
      'payment_record_not_attached',
      'The payment record is not a payment of this invoice.',
      `${at}[payment_record_refund]`,
    );
  }
  if (refund.credited + amount > refund.amount) {
    cannot(
      'refund_already_credited',
      'The refund is credited already, or the amount is more than it.',
      `${at}[amount_refunded]`,
    );
  }
  return { amount, record: record.id, group };
}

/** Reads an earlier refund of Stripe's own charge. Throws unless it belongs to this invoice and covers the credit. */
function readCardRefund(ctx: StripeContext, invoice: Invoice, params: Params, at: string): NotedRefund {
  const id = params.optionalText('refund') ?? '';
  const refund = ctx.state.refunds.get(id) ?? missing('refund', id, `${at}[refund]`);
  const amount = params.has('amount_refunded') ? params.positive('amount_refunded') : refund.amount;
  if (ctx.state.charges.get(refund.charge)?.invoice !== invoice.id)
    cannot('refund_not_of_invoice', 'The refund is not of a payment of this invoice.', `${at}[refund]`);
  if (refund.credited + amount > refund.amount)
    cannot(
      'refund_already_credited',
      'The refund is credited already, or the amount is more than it.',
      `${at}[refund]`,
    );
  return { amount, refund: refund.id };
}

/** `refund_amount`: Stripe refunds this amount to the card it charged for the invoice. */
function refundCard(ctx: StripeContext, cards: Cards, invoice: Invoice, amount: number): NotedRefund {
  const charge = [...ctx.state.charges.values()].find(
    (c) => c.invoice === invoice.id && c.amount - c.refunded >= amount,
  );
  if (charge === undefined)
    return cannot(
      'refund_amount_too_large',
      'Stripe itself took no payment for this invoice of which that much is left.',
      'refund_amount',
    );
  return { amount, refund: cards.refund(charge, amount, null, {}).id };
}

function markCredited(ctx: StripeContext, credited: NotedRefund): void {
  const refund =
    'refund' in credited
      ? ctx.state.refunds.get(credited.refund)
      : ctx.state.records.get(credited.record)?.refunds.find((r) => r.reference === credited.group);
  if (refund !== undefined) refund.credited += credited.amount;
}

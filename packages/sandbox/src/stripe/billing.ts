// The life of an invoice: draft hour, finalizing, paying, voiding.
import { creditOverpayment, giveBalanceBack, takeBalance } from './balance.js';
import { cannot } from './errors.js';
import {
  type Customer,
  type Invoice,
  type InvoicePayment,
  type Line,
  type PaymentRecord,
  type Subscription,
  amountDue,
  amountOverpaid,
  amountPaid,
  amountRemaining,
} from './model.js';
import { renderInvoicePayment } from './render-payments.js';
import { renderSubscription } from './render-subscription.js';
import { type StripeState } from './state.js';

const HOUR = 3600;
/**
 * Stripe docs, "Status transitions": Stripe finalizes a draft an hour after every endpoint answered `invoice.created`
 * with 2xx, and after 72 hours in any case.
 */
const AFTER_REPLIES_SEC = HOUR;
const DRAFT_AT_MOST_SEC = 72 * HOUR;

/** Stripe docs, "Configure grace period": an hour between draft and finalization by default, at most this long. */
export const LONGEST_GRACE_HOURS = 72;

export type NewInvoice = {
  readonly customer: Customer;
  readonly currency: string;
  readonly billingReason: string;
  readonly subscription: Subscription | null;
  readonly collectionMethod: 'charge_automatically' | 'send_invoice';
  readonly daysUntilDue: number | null;
  readonly autoAdvance: boolean;
  readonly lines: Line[];
  readonly description?: string | null;
  readonly metadata?: Record<string, string>;
  readonly periodStart?: number;
  readonly periodEnd?: number;
};

export class Billing {
  /** Called for an open invoice that Stripe collects. collecting.ts sets this function and `attemptFailed`. */
  collect: (invoice: Invoice) => void = () => undefined;
  attemptFailed: (invoice: Invoice) => void = () => undefined;

  /** Seconds between a draft and its finalization. */
  graceSec = HOUR;

  constructor(private readonly state: StripeState) {
    state.onCreatedAnswered = (invoiceId, endpointId) =>
      state.during(state.invoices.get(invoiceId)?.customer ?? '', () => this.createdAnswered(invoiceId, endpointId));
  }

  createInvoice(input: NewInvoice): Invoice {
    const { state } = this;
    const invoice: Invoice = {
      id: state.id('in'),
      created: state.now,
      customer: input.customer.id,
      owner: input.customer,
      currency: input.currency,
      billingReason: input.billingReason,
      collectionMethod: input.collectionMethod,
      daysUntilDue: input.daysUntilDue,
      subscription: input.subscription?.id ?? null,
      periodStart: input.periodStart ?? state.now,
      periodEnd: input.periodEnd ?? state.now,
      lines: input.lines,
      status: 'draft',
      autoAdvance: input.autoAdvance,
      attemptCount: 0,
      nextAttempt: null,
      number: null,
      dueDate: null,
      description: input.description ?? null,
      defaultPaymentMethod: null,
      paidOutOfBand: 0,
      prePaymentCredit: 0,
      postPaymentCredit: 0,
      balance: null,
      metadata: input.metadata ?? {},
      finalizedAt: null,
      paidAt: null,
      voidedAt: null,
      uncollectibleAt: null,
      finalizationError: null,
      unanswered: new Set(),
      webhooksDeliveredAt: null,
      payments: [],
    };
    state.invoices.set(invoice.id, invoice);
    if (input.subscription !== null) input.subscription.latestInvoice = invoice.id;
    if (invoice.autoAdvance) state.finalizesAt.set(invoice.id, invoice.created + this.graceSec);
    state.emitInvoice('invoice.created', invoice);
    if (invoice.unanswered.size === 0) invoice.webhooksDeliveredAt = state.now;
    this.planFinalizing(invoice);
    return invoice;
  }

  /** Plans to finalize the draft after its grace period. An update with `auto_advance` on calls this function again. */
  planFinalizing(invoice: Invoice): void {
    if (!invoice.autoAdvance || invoice.status !== 'draft') return;
    const first = Math.max(invoice.created + this.graceSec, this.state.now);
    const plan = (atSec: number): void =>
      this.state.at(invoice.customer, atSec, `draft ${invoice.id}`, () => this.tryFinalizing(invoice));
    this.state.finalizesAt.set(invoice.id, first);
    plan(first);
    plan(Math.max(invoice.created + DRAFT_AT_MOST_SEC, first));
  }

  private createdAnswered(invoiceId: string, endpointId: string): void {
    const invoice = this.state.invoices.get(invoiceId);
    if (invoice === undefined || !invoice.unanswered.delete(endpointId) || invoice.unanswered.size > 0) return;
    invoice.webhooksDeliveredAt = this.state.now;
    const planned = this.finalizesAt(invoice);
    const late = this.state.now + AFTER_REPLIES_SEC;
    if (late <= planned + 60) return; // all answered within a minute of the last hour: keep the planned time
    this.state.finalizesAt.set(invoice.id, late);
    this.state.at(invoice.customer, late, `draft ${invoice.id}`, () => this.tryFinalizing(invoice));
  }

  private finalizesAt(invoice: Invoice): number {
    return this.state.finalizesAt.get(invoice.id) ?? invoice.created + this.graceSec;
  }

  private tryFinalizing(invoice: Invoice): void {
    if (invoice.status !== 'draft' || !invoice.autoAdvance || !this.state.invoices.has(invoice.id)) return;
    const now = this.state.now;
    const answered = invoice.unanswered.size === 0 && now >= this.finalizesAt(invoice);
    if (!answered && now < invoice.created + DRAFT_AT_MOST_SEC) return;
    // No request waits for this timer, so only an event reports a finalization error.
    if (invoice.finalizationError === null) this.finalize(invoice);
    else this.state.emitInvoice('invoice.finalization_failed', invoice);
  }

  /**
   * Makes a draft open, or paid if nothing is due. If a control route set a finalization error, the request gets 400,
   * Stripe sends an event, and the invoice stays a draft.
   */
  finalize(invoice: Invoice, autoAdvance: boolean | null = null): void {
    const { state } = this;
    if (invoice.status !== 'draft')
      cannot('invoice_not_editable', "This invoice is already finalized, you can't re-finalize it.");
    if (autoAdvance !== null) invoice.autoAdvance = autoAdvance;
    if (invoice.finalizationError !== null) {
      state.emitInvoice('invoice.finalization_failed', invoice);
      cannot('customer_tax_location_invalid', invoice.finalizationError);
    }
    invoice.status = 'open';
    invoice.finalizedAt = state.now;
    invoice.number = state.nextInvoiceNumber();
    invoice.owner.invoicesNumbered += 1;
    if (invoice.collectionMethod === 'send_invoice')
      invoice.dueDate = state.now + (invoice.daysUntilDue ?? 30) * 24 * HOUR;
    takeBalance(state, invoice);
    const due = amountDue(invoice);
    if (due > 0) {
      // Finalizing creates a default payment intent. Payment by a record cancels this intent.
      this.addPayment(invoice, null, due);
    }
    state.emitInvoice('invoice.finalized', invoice);
    if (due === 0) {
      this.becomePaid(invoice);
      return;
    }
    if (invoice.collectionMethod === 'send_invoice') state.emitInvoice('invoice.sent', invoice);
    else if (invoice.autoAdvance && this.chargesByItself(invoice)) this.collect(invoice);
  }

  /**
   * True if Stripe itself charges the invoice. With `payment_behavior` `default_incomplete` the first invoice of a
   * subscription waits for the customer's confirmation.
   */
  private chargesByItself(invoice: Invoice): boolean {
    if (invoice.billingReason !== 'subscription_create') return true;
    return this.state.subscriptions.get(invoice.subscription ?? '')?.chargesFirst === true;
  }

  addPayment(invoice: Invoice, record: PaymentRecord | null, requested: number): InvoicePayment {
    const { state } = this;
    const payment: InvoicePayment = {
      id: state.id('inpay'),
      created: state.now,
      invoice: invoice.id,
      record: record?.id ?? null,
      intent: record === null ? state.id('pi') : null,
      amountRequested: requested,
      amountPaid: null,
      status: 'open',
      paidAt: null,
      canceledAt: null,
    };
    invoice.payments.push(payment);
    state.invoicePayments.set(payment.id, payment);
    return payment;
  }

  /**
   * Records the money of a payment. A fully paid invoice becomes paid; any other invoice stays open. An excess goes to
   * the customer's balance.
   */
  settlePayment(invoice: Invoice, payment: InvoicePayment, amount: number): void {
    const { state } = this;
    const before = amountOverpaid(invoice);
    payment.status = 'paid';
    payment.amountPaid = amount;
    payment.paidAt = state.now;
    this.cancelIntents(invoice);
    state.emit('invoice_payment.paid', renderInvoicePayment(invoice.currency, payment));
    if (amountRemaining(invoice) === 0 && invoice.status !== 'paid') this.becomePaid(invoice);
    else state.emitInvoice('invoice.updated', invoice);
    creditOverpayment(state, invoice, before);
    if (amountOverpaid(invoice) > 0) state.emitInvoice('invoice.overpaid', invoice);
  }

  /** Detaches a payment. A paid invoice with an amount left to pay opens again, with an intent for the amount. */
  detachPayment(invoice: Invoice, payment: InvoicePayment): void {
    const { state } = this;
    const before = amountOverpaid(invoice);
    invoice.payments.splice(invoice.payments.indexOf(payment), 1);
    state.invoicePayments.delete(payment.id);
    const record = payment.record === null ? undefined : state.records.get(payment.record);
    if (record !== undefined) record.attachedAs = null;
    const missing = amountRemaining(invoice);
    if (invoice.status === 'paid' && missing > 0) {
      invoice.status = 'open';
      invoice.paidAt = null;
      this.addPayment(invoice, null, missing);
    }
    creditOverpayment(state, invoice, before);
    state.emit('invoice_payment.detached', renderInvoicePayment(invoice.currency, payment));
    state.emitInvoice('invoice.updated', invoice);
  }

  becomePaid(invoice: Invoice): void {
    const { state } = this;
    invoice.status = 'paid';
    invoice.paidAt = state.now;
    this.cancelIntents(invoice);
    state.emitInvoice('invoice.updated', invoice);
    state.emitInvoice('invoice.paid', invoice);
    this.healSubscription(invoice);
  }

  /**
   * A past due subscription becomes active when its latest invoice is paid, void or uncollectible. An incomplete
   * subscription becomes active only when an invoice is paid.
   */
  private healSubscription(invoice: Invoice): void {
    const { state } = this;
    invoice.nextAttempt = null;
    const subscription = state.subscriptions.get(invoice.subscription ?? '');
    if (subscription === undefined) return;
    const heals =
      subscription.status === 'incomplete'
        ? invoice.status === 'paid'
        : subscription.status === 'past_due' && subscription.latestInvoice === invoice.id;
    if (!heals) return;
    subscription.status = 'active';
    state.emit('customer.subscription.updated', renderSubscription(subscription, state));
  }

  payOutOfBand(invoice: Invoice): void {
    this.requirePayable(invoice);
    invoice.paidOutOfBand = amountRemaining(invoice);
    this.becomePaid(invoice);
  }

  requirePayable(invoice: Invoice): void {
    if (invoice.status === 'open' || invoice.status === 'uncollectible') return;
    if (invoice.status === 'paid') cannot('invoice_already_paid', 'Invoice is already paid');
    cannot(
      'invoice_not_open',
      `This invoice cannot be paid: its status is ${invoice.status}, not open or uncollectible.`,
    );
  }

  void(invoice: Invoice): void {
    if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
      cannot(
        'invoice_not_editable',
        `You can only void open or uncollectible invoices; this one is ${invoice.status}.`,
      );
    }
    if (amountPaid(invoice) > 0) cannot('invoice_not_editable', 'You cannot void an invoice that is partly paid.');
    invoice.status = 'void';
    invoice.voidedAt = this.state.now;
    this.cancelIntents(invoice);
    giveBalanceBack(this.state, invoice);
    this.state.emitInvoice('invoice.updated', invoice);
    this.state.emitInvoice('invoice.voided', invoice);
    this.healSubscription(invoice);
  }

  markUncollectible(invoice: Invoice): void {
    if (invoice.status !== 'open')
      cannot('invoice_not_editable', `Only open invoices can be marked uncollectible; this one is ${invoice.status}.`);
    invoice.status = 'uncollectible';
    invoice.uncollectibleAt = this.state.now;
    this.state.emitInvoice('invoice.updated', invoice);
    this.state.emitInvoice('invoice.marked_uncollectible', invoice);
    this.healSubscription(invoice);
  }

  private cancelIntents(invoice: Invoice): void {
    for (const p of invoice.payments) {
      if (p.record !== null || p.status !== 'open') continue;
      p.status = 'canceled';
      p.canceledAt = this.state.now;
    }
  }
}

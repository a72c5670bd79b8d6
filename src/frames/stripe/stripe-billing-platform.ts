// Connects the port of the billing platform to Stripe Billing: sends stored calls unchanged, parses each reply.
import {
  BillingPlatform,
  type BillingReply,
  type BillingCall,
  type BillingCallKind,
  type InvoiceFacts,
  type InvoicePaymentFacts,
  type EffectCheck,
  type ShownToRelay,
  type ShownToRetry,
  type StoredBillingCall,
} from '../../shared/domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome, type WireRequest } from '../../shared/domain/ports/call.js';
import { readReply } from './replies.js';
import { StripeEffects } from './effects.js';
import { encodeCall } from './encode.js';
import { type JsonObject, textOf } from '@crossbill/mor/read.js';
import { invoiceOf } from './parse-invoice.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

/** The constant name of each route, for the request budget and the metrics. */
const ROUTES: Record<BillingCallKind, string> = {
  finalize_invoice: 'invoices.finalize',
  report_payment: 'payment_records.report_payment',
  attach_payment: 'invoices.attach_payment',
  set_reference: 'invoices.update',
  pay_out_of_band: 'invoices.pay',
  mark_uncollectible: 'invoices.mark_uncollectible',
  cancel_subscription: 'subscriptions.cancel',
  report_refund: 'payment_records.report_refund',
  issue_credit_note: 'credit_notes.create',
};

/**
 * Stripe may refuse these calls because their effect exists already (finalized, paid, attached, refunded before).
 * Stripe does not document its refusal of a repeat. So Crossbill reads the object after a refusal.
 */
const MAY_BE_DONE: ReadonlySet<BillingCallKind> = new Set([
  'finalize_invoice',
  'attach_payment',
  'pay_out_of_band',
  'mark_uncollectible',
  'cancel_subscription',
  'report_refund',
  'issue_credit_note',
]);

/**
 * The idempotency key of each of these calls names one refund. If Stripe knows the key with other bytes, Crossbill
 * already sent this refund, before a backup was restored. The bytes may differ in two places: the time from the MoR's
 * reply or event, and the part of the refund that returns a surplus.
 */
const KEY_NAMES_IT: ReadonlySet<BillingCallKind> = new Set(['report_refund', 'issue_credit_note']);

export class StripeBillingPlatform extends BillingPlatform {
  private readonly effects: StripeEffects;

  constructor(
    private readonly client: StripeClient,
    private readonly customPaymentMethodType: string | null,
  ) {
    super();
    this.effects = new StripeEffects(client);
  }

  override encode(call: BillingCall): WireRequest {
    return encodeCall(call, this.customPaymentMethodType);
  }

  override async send({ asked, key, wire }: StoredBillingCall): Promise<CallOutcome<BillingReply>> {
    const name = ROUTES[asked.kind];
    const sent = await this.client.request(name, wire, key);
    if (sent.ok) {
      const reply = readReply(asked, sent.value);
      if (reply !== null) return { ...sent, value: reply };
      const strange = notUnderstood(name, sent);
      return MAY_BE_DONE.has(asked.kind) ? this.checked(asked, strange) : strange;
    }
    const looked = sent.code === 'idempotency_error' ? KEY_NAMES_IT : MAY_BE_DONE;
    return sent.kind === 'refused' && looked.has(asked.kind) ? this.checked(asked, sent) : sent;
  }

  override check(asked: BillingCall): Promise<CallOutcome<EffectCheck>> {
    return this.effects.check(asked);
  }

  override async readInvoice(invoiceId: string): Promise<CallOutcome<InvoiceFacts | null>> {
    const read = await this.readShown(invoiceId);
    return read.ok ? { ...read, value: read.value?.invoice ?? null } : read;
  }

  override async readToRelay(invoiceId: string): Promise<CallOutcome<ShownToRelay | null>> {
    const read = await this.readShown(invoiceId);
    if (!read.ok || read.value === null) return read.ok ? { ...read, value: null } : read;
    const { invoice, object } = read.value;
    const livemode = object['livemode'] === true;
    // JSON.stringify writes only own, enumerable members, so the additions of the `stripe` package stay out.
    const value = { invoice, object: JSON.stringify(object), apiVersion: this.client.apiVersion, livemode };
    return { ...read, value };
  }

  override async readToRetry(invoiceId: string): Promise<CallOutcome<ShownToRetry | null>> {
    const read = await this.readToRelay(invoiceId);
    if (!read.ok || read.value === null) return read.ok ? { ...read, value: null } : read;
    const shown = read.value;
    const { subscriptionId } = shown.invoice;
    if (subscriptionId === null) return { ...read, value: { ...shown, subscriptionStatus: null } };
    const path = `/v1/subscriptions/${encodeURIComponent(subscriptionId)}`;
    const subscription = await this.client.read('subscriptions.retrieve', path);
    if (!subscription.ok) return subscription;
    const status = subscription.value === null ? 'canceled' : textOf(subscription.value['status']);
    if (status === null) return notUnderstood('subscriptions.retrieve', subscription);
    return { ...read, value: { ...shown, subscriptionStatus: status } };
  }

  private async readShown(
    invoiceId: string,
  ): Promise<CallOutcome<{ readonly invoice: InvoiceFacts; readonly object: JsonObject } | null>> {
    const name = 'invoices.retrieve';
    const read = await this.client.read(name, `/v1/invoices/${encodeURIComponent(invoiceId)}`);
    if (!read.ok) return read;
    if (read.value === null || read.value['deleted'] === true) return { ...read, value: null };
    const invoice = invoiceOf(read.value);
    // A reply about another invoice must not decide about this invoice.
    if (invoice?.invoiceId !== invoiceId) return notUnderstood(name, read);
    return { ...read, value: { invoice, object: read.value } };
  }

  override listInvoicePayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>> {
    return this.effects.listPayments(invoiceId);
  }

  /**
   * Reads the object after an unclear reply or a refusal. Returns success if the effect exists, the failure if it
   * certainly does not, and `unknown` if the read fails.
   */
  private async checked(asked: BillingCall, failed: CallFailure): Promise<CallOutcome<BillingReply>> {
    const found = await this.effects.check(asked, failed);
    if (found.ok && found.value.done) {
      const { status, requestId } = found;
      return { ok: true, value: found.value.reply, status, requestId: failed.requestId ?? requestId };
    }
    if (found.ok) return failed;
    const message = `${failed.message}; Crossbill could not read whether this call took effect: ${found.message}`;
    return { ...failed, kind: 'unknown', retryAfterMs: found.retryAfterMs, message: message.slice(0, 600) };
  }
}

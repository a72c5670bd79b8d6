// Is the effect of a call there? Found out by reading, for when nobody could say.
import {
  type BillingAnswer,
  type BillingCall,
  type InvoicePaymentFacts,
  type Probe,
} from '../domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome } from '../domain/ports/call.js';
import { type InvoiceCall, isEnded, shows } from './answers.js';
import { invoiceOf, parseInvoicePayment, paymentsWithin } from './parse-invoice.js';
import { parseCreditNote, parsePaymentRecord } from './parse-objects.js';
import { isObject, partOf } from '@crossbill/mor/read.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

/** A record may bear a time of Stripe's clock a little before ours. */
const CLOCK_SLACK_SEC = 3600;

type Call<K extends BillingCall['kind']> = Extract<BillingCall, { kind: K }>;

const ABSENT: Probe = { done: false };

export class StripeEffects {
  constructor(private readonly client: StripeClient) {}

  /**
   * Reads the call's object. `failed` is Stripe's refusal of the call, or an unclear answer: for a refund only a
   * refusal may tell "exists already" from "not there".
   */
  look(asked: BillingCall, failed: CallFailure | null = null): Promise<CallOutcome<Probe>> {
    switch (asked.kind) {
      case 'report_payment':
        return this.findRecord(asked);
      case 'report_refund':
        return this.findRefund(asked, failed);
      case 'issue_credit_note':
        return this.findNote(asked);
      case 'cancel_subscription':
        return this.findCancelled(asked);
      default:
        return this.lookAtInvoice(asked, (failed?.status ?? 500) < 300);
    }
  }

  listPayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>> {
    const path = `/v1/invoice_payments?invoice=${encodeURIComponent(invoiceId)}&limit=100`;
    return this.client.all('invoice_payments.list', path, parseInvoicePayment);
  }

  private async lookAtInvoice(
    asked: InvoiceCall,
    /** The call got a 2xx that did not show the effect. */
    accepted: boolean,
  ): Promise<CallOutcome<Probe>> {
    const name = 'invoices.retrieve';
    const expand = asked.kind === 'attach_payment' || asked.kind === 'pay_out_of_band' ? '?expand[0]=payments' : '';
    const read = await this.client.read(name, `/v1/invoices/${encodeURIComponent(asked.invoiceId)}${expand}`);
    if (!read.ok) return read;
    if (read.value === null || read.value['deleted'] === true) return { ...read, value: ABSENT };
    const invoice = invoiceOf(read.value);
    if (invoice?.invoiceId !== asked.invoiceId) return notUnderstood(name, read);
    let done = shows(asked, read.value);
    let answer: BillingAnswer = { kind: asked.kind, invoice };
    if (expand !== '') {
      const within = paymentsWithin(read.value); // null: the invoice holds only the first of them, or none came
      const payments = within === null ? await this.listPayments(asked.invoiceId) : { ...read, value: within };
      // If payments have no list at all, an accepted attachment is all we can know.
      const blind = !payments.ok && payments.status === 404 && accepted;
      if (!payments.ok && !blind) return payments;
      if (asked.kind === 'attach_payment') done = !payments.ok || isAttached(asked, payments.value);
      else {
        const outOfBand = payments.ok ? outOfBandOf(invoice.amountPaid, payments.value) : 0n;
        // Paid with nothing: a person credited all of it, or a coupon did. Our money is not on it.
        const isOurs = !payments.ok || !isCollected(payments.value) || outOfBand > 0n;
        done = done && invoice.amountPaid > 0n && isOurs;
        if (outOfBand > 0n) answer = { kind: asked.kind, invoice, outOfBand };
      }
    }
    return { ...read, value: done ? { done, answer } : ABSENT };
  }

  /** There is no look-up by reference: first the invoice's own payments, then every record made since the payment. */
  private async findRecord(asked: Call<'report_payment'>): Promise<CallOutcome<Probe>> {
    const attached = await this.listPayments(asked.invoiceId);
    if (!attached.ok) return attached;
    for (const { paymentRecordId } of attached.value) {
      if (paymentRecordId === null) continue;
      const name = 'payment_records.retrieve';
      const read = await this.client.read(name, `/v1/payment_records/${encodeURIComponent(paymentRecordId)}`);
      if (!read.ok) return read;
      if (read.value !== null && mayBeOf(asked, read.value)) return notUnderstood(name, read);
      if (isRecordOf(asked, read.value)) return { ...read, value: recordFound(paymentRecordId) };
    }
    const since = Math.max(0, Math.floor(asked.initiatedAt.getTime() / 1000) - CLOCK_SLACK_SEC);
    const name = 'payment_records.list';
    const pages = await this.client.pages(name, `/v1/payment_records?created_after=${since}&limit=100`, (items) =>
      items.some((item) => isRecordOf(asked, item)),
    );
    if (!pages.ok) return pages;
    const record = parsePaymentRecord(pages.value.find((item) => isRecordOf(asked, item)));
    if (record !== null) return { ...pages, value: recordFound(record.paymentRecordId) };
    const odd = pages.value.some((item) => mayBeOf(asked, item));
    return odd ? notUnderstood(name, pages) : { ...pages, value: ABSENT };
  }

  /**
   * A record shows only its refunded sum, not the references it knows. Ours is proven by its metadata, by a rest of
   * zero, by Stripe's own refusal of the reference as taken (it is unique across all refunds), or of the key as used
   * with other bytes (it names payment and refund). Without proof the answer is "absent": sending it again under a new
   * key is then harmless, for the same reason.
   */
  private async findRefund(asked: Call<'report_refund'>, refusal: CallFailure | null): Promise<CallOutcome<Probe>> {
    const name = 'payment_records.retrieve';
    const read = await this.client.read(name, `/v1/payment_records/${encodeURIComponent(asked.paymentRecordId)}`);
    if (!read.ok) return read;
    if (read.value === null) return { ...read, value: ABSENT };
    const record = parsePaymentRecord(read.value);
    if (record?.paymentRecordId !== asked.paymentRecordId) return notUnderstood(name, read);
    const proven =
      record.lastRefundId === asked.refundId ||
      asked.amount.minor === record.amountGuaranteed ||
      (refusal !== null && (refusal.code === 'idempotency_error' || saysReferenceTaken(refusal)));
    const done = proven && record.amountRefunded >= asked.amount.minor;
    const answer = { kind: asked.kind, paymentRecordId: record.paymentRecordId };
    return { ...read, value: done ? { done, answer } : ABSENT };
  }

  /** A deleted subscription counts as cancelled. */
  private async findCancelled(asked: Call<'cancel_subscription'>): Promise<CallOutcome<Probe>> {
    const name = 'subscriptions.retrieve';
    const read = await this.client.read(name, `/v1/subscriptions/${encodeURIComponent(asked.subscriptionId)}`);
    if (!read.ok) return read;
    const done = read.value === null || isEnded(read.value['status']);
    const answer = { kind: asked.kind, subscriptionId: asked.subscriptionId };
    return { ...read, value: done ? { done, answer } : ABSENT };
  }

  private async findNote(asked: Call<'issue_credit_note'>): Promise<CallOutcome<Probe>> {
    const name = 'credit_notes.list';
    const pages = await this.client.pages(
      name,
      `/v1/credit_notes?invoice=${encodeURIComponent(asked.invoiceId)}&limit=100`,
    );
    if (!pages.ok) return pages;
    for (const item of pages.value) {
      const note = parseCreditNote(item);
      if (note === null) return notUnderstood(name, pages);
      // A note voided since by a person was issued all the same: issue no second one.
      const linked = asked.refunded !== null && note.references.includes(asked.refunded.reference);
      if (note.refundId !== asked.refundId && !linked) continue;
      const answer = { kind: asked.kind, creditNoteId: note.creditNoteId };
      return { ...pages, value: { done: true, answer } };
    }
    return { ...pages, value: ABSENT };
  }
}

function isAttached(asked: Call<'attach_payment'>, payments: readonly InvoicePaymentFacts[]): boolean {
  return payments.some(
    ({ paymentRecordId, status }) => paymentRecordId === asked.paymentRecordId && status !== 'canceled',
  );
}

/** Stripe took money for the invoice itself: then "paid" is not our mark, and a person must see it, unless it was a part. */
function isCollected(payments: readonly InvoicePaymentFacts[]): boolean {
  return payments.some(({ byPlatform, status }) => byPlatform && status === 'paid');
}

/** The part paid neither by Stripe's own charges nor by payment records; 0n if Stripe does not give their sum. */
function outOfBandOf(amountPaid: bigint, payments: readonly InvoicePaymentFacts[]): bigint {
  const named = payments.filter((p) => p.status === 'paid' && (p.byPlatform || p.paymentRecordId !== null));
  if (named.some((p) => p.amountPaid === null)) return 0n;
  return named.reduce((rest, p) => rest - (p.amountPaid ?? 0n), amountPaid);
}

/** Ours by its metadata, or made for the same charge; never one naming another invoice. */
function isRecordOf(asked: Call<'report_payment'>, object: unknown): boolean {
  const record = parsePaymentRecord(object);
  if (record === null) return false;
  if (record.invoiceId !== null && record.invoiceId !== asked.invoiceId) return false;
  if (record.amountRequested !== asked.amount.minor || record.currency !== asked.amount.currency) return false;
  return record.paymentId === asked.paymentId || record.reference === asked.reference;
}

/** An unreadable one naming our payment: as "absent", it would be reported a second time. */
function mayBeOf(asked: Call<'report_payment'>, object: unknown): boolean {
  if (!isObject(object)) return true;
  if (parsePaymentRecord(object) !== null) return false;
  const { payment_reference: reference } = partOf(partOf(object['processor_details'])['custom']);
  return partOf(object['metadata'])['payment_id'] === asked.paymentId || reference === asked.reference;
}

function recordFound(paymentRecordId: string): Probe {
  return { done: true, answer: { kind: 'report_payment', paymentRecordId } };
}

/** Stripe does not document its code for a repeated reference: the field, or the words, tell. */
function saysReferenceTaken({ code, message, errors }: CallFailure): boolean {
  const words = `${code ?? ''} ${message}`;
  const aboutReference = errors.some(({ field }) => field.includes('refund_reference')) || /reference/i.test(words);
  return aboutReference && /already|exist|duplicat|unique|taken|in use/i.test(words);
}

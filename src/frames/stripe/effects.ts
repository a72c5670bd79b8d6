// Reads from Stripe to find out if a call had its effect. Crossbill needs these reads if the call's reply is missing or
// unclear.
import {
  type BillingReply,
  type BillingCall,
  type InvoicePaymentFacts,
  type EffectCheck,
} from '../../shared/domain/ports/billing-platform.js';
import { type CallFailure, type CallOutcome } from '../../shared/domain/ports/call.js';
import { type InvoiceCall, shows } from './replies.js';
import { isEnded } from '../../shared/domain/ports/billing-reader.js';
import { invoiceOf, parseInvoicePayment, paymentsWithin } from './parse-invoice.js';
import { parseCreditNote, parsePaymentRecord } from './parse-objects.js';
import { isObject, partOf, textOf } from '@crossbill/mor/read.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

/** Stripe's clock may be a little behind ours, so a record may have an earlier time than expected. */
const CLOCK_SLACK_SEC = 3600;

type Call<K extends BillingCall['kind']> = Extract<BillingCall, { kind: K }>;

const ABSENT: EffectCheck = { done: false };

export class StripeEffects {
  constructor(private readonly client: StripeClient) {}

  /**
   * Reads the call's object from Stripe and looks for the effect. `failed` is Stripe's refusal of the call, or its
   * unclear reply. For a refund, Stripe's refusal may be the only proof that the refund exists.
   */
  check(asked: BillingCall, failed: CallFailure | null = null): Promise<CallOutcome<EffectCheck>> {
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
        return this.checkInvoice(asked, (failed?.status ?? 500) < 300);
    }
  }

  listPayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>> {
    const path = `/v1/invoice_payments?invoice=${encodeURIComponent(invoiceId)}&limit=100`;
    return this.client.all('invoice_payments.list', path, parseInvoicePayment);
  }

  private async checkInvoice(
    asked: InvoiceCall,
    /** True: the call got a 2xx, but the reply did not show the effect. */
    accepted: boolean,
  ): Promise<CallOutcome<EffectCheck>> {
    const name = 'invoices.retrieve';
    const expand = asked.kind === 'attach_payment' || asked.kind === 'pay_out_of_band' ? '?expand[0]=payments' : '';
    const read = await this.client.read(name, `/v1/invoices/${encodeURIComponent(asked.invoiceId)}${expand}`);
    if (!read.ok) return read;
    if (read.value === null || read.value['deleted'] === true) return { ...read, value: ABSENT };
    const invoice = invoiceOf(read.value);
    if (invoice?.invoiceId !== asked.invoiceId) return notUnderstood(name, read);
    let done = shows(asked, read.value);
    let reply: BillingReply = { kind: asked.kind, invoice };
    if (expand !== '') {
      const within = paymentsWithin(read.value); // null: no invoice arrived, or it shows only its first payments
      const payments = within === null ? await this.listPayments(asked.invoiceId) : { ...read, value: within };
      // If Stripe replies 404 for the list of payments, Crossbill can read nothing more. A 2xx reply to the attachment
      // is then enough.
      const blind = !payments.ok && payments.status === 404 && accepted;
      if (!payments.ok && !blind) return payments;
      if (asked.kind === 'attach_payment') done = !payments.ok || isAttached(asked, payments.value);
      else {
        const outOfBand = payments.ok ? outOfBandOf(invoice.amountPaid, payments.value) : 0n;
        // Stripe also shows an invoice as paid if a credit note or a coupon covers the whole invoice. Such an invoice
        // has no mark of ours.
        const isOurs = !payments.ok || !isCollected(payments.value) || outOfBand > 0n;
        done = done && invoice.amountPaid > 0n && isOurs;
        if (outOfBand > 0n) reply = { kind: asked.kind, invoice, outOfBand };
      }
    }
    return { ...read, value: done ? { done, reply } : ABSENT };
  }

  /**
   * Finds a payment record. Stripe has no look-up by reference, so Crossbill first reads the payments of the invoice,
   * then all records made since the payment.
   */
  private async findRecord(asked: Call<'report_payment'>): Promise<CallOutcome<EffectCheck>> {
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
   * Finds out if Stripe has a refund. A payment record shows only the refunded sum, not the references of its refunds.
   * The sum must cover the refund, and one of four facts must prove it: the record's metadata names the refund; the
   * refund has the whole amount of the payment; Stripe refused the call because the reference is used (no two refunds
   * share one); Stripe refused the call because its key was used with other bytes (the key names payment and refund).
   * Without proof Crossbill sends the refund again under a new key. This is harmless: if the refund exists after all,
   * Stripe refuses its reference.
   */
  private async findRefund(
    asked: Call<'report_refund'>,
    refusal: CallFailure | null,
  ): Promise<CallOutcome<EffectCheck>> {
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
    const reply = { kind: asked.kind, paymentRecordId: record.paymentRecordId };
    return { ...read, value: done ? { done, reply } : ABSENT };
  }

  /** Finds out if the subscription is cancelled. A deleted subscription counts as cancelled. */
  private async findCancelled(asked: Call<'cancel_subscription'>): Promise<CallOutcome<EffectCheck>> {
    const name = 'subscriptions.retrieve';
    const read = await this.client.read(name, `/v1/subscriptions/${encodeURIComponent(asked.subscriptionId)}`);
    if (!read.ok) return read;
    const done = read.value === null || isEnded(textOf(read.value['status']));
    const reply = { kind: asked.kind, subscriptionId: asked.subscriptionId };
    return { ...read, value: done ? { done, reply } : ABSENT };
  }

  private async findNote(asked: Call<'issue_credit_note'>): Promise<CallOutcome<EffectCheck>> {
    const name = 'credit_notes.list';
    const pages = await this.client.pages(
      name,
      `/v1/credit_notes?invoice=${encodeURIComponent(asked.invoiceId)}&limit=100`,
    );
    if (!pages.ok) return pages;
    for (const item of pages.value) {
      const note = parseCreditNote(item);
      if (note === null) return notUnderstood(name, pages);
      // A note counts even if a person voided it later: Crossbill must not issue a second note.
      const linked = asked.refunded !== null && note.references.includes(asked.refunded.reference);
      if (note.refundId !== asked.refundId && !linked) continue;
      const reply = { kind: asked.kind, creditNoteId: note.creditNoteId };
      return { ...pages, value: { done: true, reply } };
    }
    return { ...pages, value: ABSENT };
  }
}

function isAttached(asked: Call<'attach_payment'>, payments: readonly InvoicePaymentFacts[]): boolean {
  return payments.some(
    ({ paymentRecordId, status }) => paymentRecordId === asked.paymentRecordId && status !== 'canceled',
  );
}

/**
 * True if Stripe itself took money for the invoice. Unless another part was paid out of band, this money paid the
 * invoice, not Crossbill's mark.
 */
function isCollected(payments: readonly InvoicePaymentFacts[]): boolean {
  return payments.some(({ byPlatform, status }) => byPlatform && status === 'paid');
}

/**
 * The part of the paid amount that came neither from Stripe's own charges nor from payment records: the part marked
 * "paid out of band". 0n if Stripe does not name all amounts.
 */
function outOfBandOf(amountPaid: bigint, payments: readonly InvoicePaymentFacts[]): bigint {
  const named = payments.filter((p) => p.status === 'paid' && (p.byPlatform || p.paymentRecordId !== null));
  if (named.some((p) => p.amountPaid === null)) return 0n;
  return named.reduce((remaining, p) => remaining - (p.amountPaid ?? 0n), amountPaid);
}

/**
 * True if the record has our payment's id or reference, and the same amount and currency. A record of another invoice
 * never counts.
 */
function isRecordOf(asked: Call<'report_payment'>, object: unknown): boolean {
  const record = parsePaymentRecord(object);
  if (record === null) return false;
  if (record.invoiceId !== null && record.invoiceId !== asked.invoiceId) return false;
  if (record.amountRequested !== asked.amount.minor || record.currency !== asked.amount.currency) return false;
  return record.paymentId === asked.paymentId || record.reference === asked.reference;
}

/**
 * True for an unreadable record, if the record may belong to our payment. If Crossbill ignored the record, it would
 * report the payment twice.
 */
function mayBeOf(asked: Call<'report_payment'>, object: unknown): boolean {
  if (!isObject(object)) return true;
  if (parsePaymentRecord(object) !== null) return false;
  const { payment_reference: reference } = partOf(partOf(object['processor_details'])['custom']);
  return partOf(object['metadata'])['payment_id'] === asked.paymentId || reference === asked.reference;
}

function recordFound(paymentRecordId: string): EffectCheck {
  return { done: true, reply: { kind: 'report_payment', paymentRecordId } };
}

/**
 * True if Stripe refused the reference as already used. Stripe documents no error code for this refusal, so the refused
 * field and the words of the message decide.
 */
function saysReferenceTaken({ code, message, errors }: CallFailure): boolean {
  const words = `${code ?? ''} ${message}`;
  const aboutReference = errors.some(({ field }) => field.includes('refund_reference')) || /reference/i.test(words);
  return aboutReference && /already|exist|duplicat|unique|taken|in use/i.test(words);
}

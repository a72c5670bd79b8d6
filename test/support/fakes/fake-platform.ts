// A fake billing platform that keeps state. The tests of lanes compare with it.
import {
  type BillingReply,
  type BillingCall,
  BillingPlatform,
  type InvoiceFacts,
  type InvoicePaymentFacts,
  type EffectCheck,
  type ShownToRelay,
  type ShownToRetry,
  type StoredBillingCall,
} from '../../../src/shared/domain/ports/billing-platform.js';
import { invoiceEvent } from '../builders/events.js';
import { mayBeOneName } from '../../../src/shared/domain/payment-name.js';
import {
  type CallFailure,
  type CallOutcome,
  type FailureKind,
  type WireRequest,
} from '../../../src/shared/domain/ports/call.js';
import { type Clock } from '../../../src/shared/domain/ports/clock.js';
import { encodeCall } from '../../../src/frames/stripe/encode.js';

export const DAY_MS = 86_400_000;
export function failed(kind: FailureKind, over: Partial<CallFailure> = {}): CallFailure {
  const status = kind === 'refused' ? 400 : kind === 'retry' ? 429 : kind === 'stopped' ? 401 : null;
  const unsaid = { code: null, errors: [], retryAfterMs: null, requestId: null, replayed: false };
  return { ok: false, kind, status, message: kind, ...unsaid, ...over };
}

export function answered<T>(value: T): CallOutcome<T> {
  return { ok: true, value, status: 200, requestId: 'req_fake' };
}
export function toWire(call: object, path: string): WireRequest {
  const body = JSON.stringify(call, (_, v: unknown) => (typeof v === 'bigint' ? { minor: v.toString() } : v));
  return { method: 'POST', path, body };
}

export function fromWire<T>(wire: WireRequest): T {
  return JSON.parse(wire.body ?? 'null', (_, v: unknown) =>
    typeof v === 'object' && v !== null && Object.keys(v).length === 1 && 'minor' in v && typeof v.minor === 'string'
      ? BigInt(v.minor)
      : v,
  ) as T;
}

/**
 * How the next call of a kind goes. `lost-answer`: the platform does it, and the reply is lost. `lost-request`: the
 * request is lost. `stored-500`: the platform does nothing, and replays the failure for the lifetime of the key.
 * `key-in-use`: 409.
 */
export type Trouble = 'lost-answer' | 'lost-request' | 'stored-500' | 'refused' | 'retry' | 'stopped' | 'key-in-use';

type Record_ = {
  readonly id: string;
  readonly reference: string;
  readonly minor: bigint;
  readonly currency: string;
  readonly paymentId: string;
  readonly invoiceId: string;
  readonly refunds: { reference: string; refundId: string; minor: bigint }[];
};

type Note = { id: string; invoiceId: string; minor: bigint; refundId: string; reference: string | null };
type Kept = { body: string | null; outcome: CallOutcome<BillingReply>; at: number };

export class FakeBillingPlatform extends BillingPlatform {
  readonly invoices = new Map<string, InvoiceFacts>();
  readonly payments = new Map<string, { recordId: string | null; minor: bigint }[]>();
  readonly references = new Map<string, { paymentId: string; reference: string }>();
  readonly records: Record_[] = [];
  readonly notes: Note[] = [];
  /** Every request in order: `read in_1`, `probe report_payment`, `report_payment <key>`. */
  readonly asked: string[] = [];
  /** The number of real changes, by kind. */
  readonly effects: Record<string, number> = {};
  /** Keys used with two different bodies: always a bug of the caller. */
  readonly clashes: string[] = [];
  readonly trouble: { kind: string; what: Trouble }[] = [];
  /** The refusal that every finalization gets; null: none. */
  finalizationRefusal: string | null = null;
  readonly #kept = new Map<string, Kept>();
  #last = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  put(invoice: InvoiceFacts): void {
    this.invoices.set(invoice.invoiceId, invoice);
  }

  change(invoiceId: string, over: Partial<InvoiceFacts>): void {
    this.put({ ...this.must(invoiceId), ...over });
  }

  /** Something else pays the invoice on the platform: a card, or a person. */
  payAnotherWay(invoiceId: string): void {
    const i = this.must(invoiceId);
    this.attach(i, null, i.amountRemaining);
  }

  fail(kind: string, ...what: Trouble[]): void {
    this.trouble.push(...what.map((w) => ({ kind, what: w })));
  }

  override encode(call: BillingCall): WireRequest {
    encodeCall(call, null); // throws for a call that Crossbill could never send
    return toWire(call, `/fake/${call.kind}`);
  }

  override async readInvoice(invoiceId: string): Promise<CallOutcome<InvoiceFacts | null>> {
    this.asked.push(`read ${invoiceId}`);
    const trouble = this.take('read');
    if (trouble !== null) return failed(trouble === 'retry' ? 'retry' : 'unknown');
    return answered(this.invoices.get(invoiceId) ?? null);
  }

  /** Subscriptions that have ended, or that a person ended through Crossbill. */
  readonly ended = new Set<string>();

  override async readToRelay(invoiceId: string): Promise<CallOutcome<ShownToRelay | null>> {
    return this.show(invoiceId, 'relay');
  }

  override async readToRetry(invoiceId: string): Promise<CallOutcome<ShownToRetry | null>> {
    const read = await this.show(invoiceId, 'retry');
    if (!read.ok || read.value === null) return read.ok ? { ...read, value: null } : read;
    const { subscriptionId } = read.value.invoice;
    const subscriptionStatus = this.ended.has(subscriptionId ?? '') ? 'canceled' : 'past_due';
    return { ...read, value: { ...read.value, subscriptionStatus } };
  }

  private async show(invoiceId: string, to: 'relay' | 'retry'): Promise<CallOutcome<ShownToRelay | null>> {
    this.asked.push(`read to ${to} ${invoiceId}`);
    const trouble = this.take('read');
    if (trouble !== null) return failed(trouble === 'retry' ? 'retry' : 'unknown');
    const invoice = this.invoices.get(invoiceId);
    if (invoice === undefined) return answered(null);
    const event = JSON.parse(invoiceEvent('invoice.created', invoice).body.toString()) as { data: { object: unknown } };
    const object = JSON.stringify(event.data.object);
    return answered({ invoice, object, apiVersion: null, livemode: false });
  }

  override async listInvoicePayments(invoiceId: string): Promise<CallOutcome<readonly InvoicePaymentFacts[]>> {
    const [all, paid] = [this.payments.get(invoiceId) ?? [], { byPlatform: false, status: 'paid' }];
    return answered(all.map((p) => ({ ...paid, paymentRecordId: p.recordId, amountPaid: p.minor })));
  }

  override async send(call: StoredBillingCall): Promise<CallOutcome<BillingReply>> {
    this.asked.push(`${call.asked.kind} ${call.key}`);
    const now = this.clock.now().getTime();
    const kept = this.#kept.get(call.key);
    if (kept !== undefined && now - kept.at < DAY_MS) {
      if (kept.body !== call.wire.body) {
        const found = /refund|credit_note/.test(call.asked.kind) ? this.find(call.asked) : null; // as the adapter does
        if (found !== null) return answered(found);
        this.clashes.push(call.key);
        return failed('refused', { code: 'idempotency_error' });
      }
      return kept.outcome.ok ? kept.outcome : { ...kept.outcome, replayed: true };
    }
    const trouble = this.take(call.asked.kind);
    if (trouble === 'retry' || trouble === 'stopped') return failed(trouble);
    if (trouble === 'lost-request') return failed('unknown');
    const keep = (outcome: CallOutcome<BillingReply>): CallOutcome<BillingReply> => {
      this.#kept.set(call.key, { body: call.wire.body, outcome, at: now });
      return outcome;
    };
    if (trouble === 'stored-500') return keep(failed('unknown', { status: 500 }));
    if (trouble === 'refused') return keep(failed('refused', { code: 'scripted' }));
    const outcome = keep(this.carryOut(call.asked));
    return trouble === 'lost-answer' ? failed('unknown') : outcome;
  }

  override async check(asked: BillingCall): Promise<CallOutcome<EffectCheck>> {
    this.asked.push(`probe ${asked.kind}`);
    if (this.take('probe') !== null) return failed('unknown');
    const found = this.find(asked);
    return answered<EffectCheck>(found === null ? { done: false } : { done: true, reply: found });
  }

  private find(billingCall: BillingCall): BillingReply | null {
    const invoice = this.invoices.get(billingCall.invoiceId);
    const paid = this.payments.get(billingCall.invoiceId) ?? [];
    switch (billingCall.kind) {
      case 'finalize_invoice':
        return invoice !== undefined && invoice.status !== 'draft' ? { kind: billingCall.kind, invoice } : null;
      case 'report_payment': {
        const record = this.records.find(
          (r) => r.paymentId === billingCall.paymentId || r.reference === billingCall.reference,
        );
        return record === undefined ? null : { kind: billingCall.kind, paymentRecordId: record.id };
      }
      case 'attach_payment':
        return invoice !== undefined && paid.some((p) => p.recordId === billingCall.paymentRecordId)
          ? { kind: billingCall.kind, invoice }
          : null;
      case 'set_reference': {
        const { paymentId = '', reference } = this.references.get(billingCall.invoiceId) ?? {};
        const isOurs = mayBeOneName(paymentId, billingCall.paymentId) && reference === billingCall.reference;
        return invoice !== undefined && isOurs ? { kind: billingCall.kind, invoice } : null;
      }
      case 'mark_uncollectible':
        return invoice?.status === 'uncollectible' ? { kind: billingCall.kind, invoice } : null;
      case 'cancel_subscription':
        return this.ended.has(billingCall.subscriptionId)
          ? { kind: billingCall.kind, subscriptionId: billingCall.subscriptionId }
          : null;
      case 'pay_out_of_band': {
        const outOfBand = (invoice?.amountPaid ?? 0n) - paid.reduce((n, p) => n + p.minor, 0n);
        return invoice?.status === 'paid' && outOfBand > 0n ? { kind: billingCall.kind, invoice, outOfBand } : null;
      }
      case 'report_refund': {
        const record = this.records.find((r) => r.id === billingCall.paymentRecordId);
        const shown = record?.refunds.some((r) => r.reference === billingCall.reference) === true;
        return shown ? { kind: billingCall.kind, paymentRecordId: billingCall.paymentRecordId } : null;
      }
      case 'issue_credit_note': {
        const note = this.notes.find((n) => n.refundId === billingCall.refundId);
        return note === undefined ? null : { kind: billingCall.kind, creditNoteId: note.id };
      }
    }
  }

  private carryOut(billingCall: BillingCall): CallOutcome<BillingReply> {
    const refuse = (code: string): CallFailure => failed('refused', { code, message: code });
    const done = (reply: BillingReply): CallOutcome<BillingReply> => {
      this.effects[billingCall.kind] = (this.effects[billingCall.kind] ?? 0) + 1;
      return answered(reply);
    };
    const invoice = this.invoices.get(billingCall.invoiceId);
    if (invoice === undefined && billingCall.kind !== 'report_payment' && billingCall.kind !== 'report_refund')
      return refuse('resource_missing');
    const i = invoice ?? null;
    const payable = i?.status === 'open' || i?.status === 'uncollectible';
    switch (billingCall.kind) {
      case 'finalize_invoice':
        if (this.finalizationRefusal !== null) return refuse(this.finalizationRefusal);
        if (i?.status !== 'draft') return refuse('invoice_not_editable');
        this.change(billingCall.invoiceId, { status: 'open', finalizationError: null });
        return done({ kind: billingCall.kind, invoice: this.must(billingCall.invoiceId) });
      case 'report_payment': {
        const id = `pr_${++this.#last}`;
        const { reference, paymentId, invoiceId, amount } = billingCall;
        this.records.push({ id, reference, ...amount, paymentId, invoiceId, refunds: [] });
        return done({ kind: billingCall.kind, paymentRecordId: id });
      }
      case 'attach_payment': {
        const record = this.records.find((r) => r.id === billingCall.paymentRecordId);
        if (record === undefined) return refuse('resource_missing');
        if (i === null || !payable) return refuse('invoice_not_open');
        if (record.currency !== i.currency) return refuse('currency');
        this.attach(i, record.id, record.minor);
        return done({ kind: billingCall.kind, invoice: this.must(billingCall.invoiceId) });
      }
      case 'set_reference':
        if (i === null) return refuse('resource_missing');
        this.references.set(billingCall.invoiceId, {
          paymentId: billingCall.paymentId,
          reference: billingCall.reference,
        });
        return done({ kind: billingCall.kind, invoice: i });
      case 'mark_uncollectible':
        if (i?.status !== 'open') return refuse('invoice_not_open');
        this.change(billingCall.invoiceId, { status: 'uncollectible' });
        return done({ kind: billingCall.kind, invoice: this.must(billingCall.invoiceId) });
      case 'cancel_subscription':
        if (this.ended.has(billingCall.subscriptionId)) return refuse('resource_missing');
        this.ended.add(billingCall.subscriptionId);
        return done({ kind: billingCall.kind, subscriptionId: billingCall.subscriptionId });
      case 'pay_out_of_band':
        if (i === null || !payable) return refuse('invoice_not_open');
        this.change(billingCall.invoiceId, { status: 'paid', amountPaid: i.amountDue, amountRemaining: 0n });
        return done({ kind: billingCall.kind, invoice: this.must(billingCall.invoiceId) });
      case 'report_refund': {
        const record = this.records.find((r) => r.id === billingCall.paymentRecordId);
        if (record === undefined) return refuse('resource_missing');
        if (this.records.some((r) => r.refunds.some((x) => x.reference === billingCall.reference)))
          return refuse('reference_taken');
        const before = record.refunds.reduce((n, r) => n + r.minor, 0n);
        if (before + billingCall.amount.minor > record.minor) return refuse('too_much');
        record.refunds.push({
          reference: billingCall.reference,
          refundId: billingCall.refundId,
          minor: billingCall.amount.minor,
        });
        return done({ kind: billingCall.kind, paymentRecordId: record.id });
      }
      case 'issue_credit_note': {
        if (i?.status !== 'paid' && !payable) return refuse('invoice_not_open');
        const known = this.records.some((r) => r.refunds.some((x) => x.reference === billingCall.refunded?.reference));
        if (billingCall.refunded !== null && !known) return refuse('refund_group_unknown');
        const credited = (i.amountCredited ?? 0n) + billingCall.amount.minor;
        if (credited > i.total) return refuse('amount_too_large');
        this.change(billingCall.invoiceId, { amountCredited: credited });
        const id = `cn_${++this.#last}`;
        const reference = billingCall.refunded?.reference ?? null;
        this.notes.push({
          id,
          invoiceId: billingCall.invoiceId,
          minor: billingCall.amount.minor,
          refundId: billingCall.refundId,
          reference,
        });
        return done({ kind: billingCall.kind, creditNoteId: id });
      }
    }
  }

  private attach(invoice: InvoiceFacts, recordId: string | null, minor: bigint): void {
    this.payments.set(invoice.invoiceId, [...(this.payments.get(invoice.invoiceId) ?? []), { recordId, minor }]);
    const amountPaid = invoice.amountPaid + minor;
    const remaining = invoice.amountDue - amountPaid;
    const status = remaining <= 0n ? 'paid' : invoice.status;
    const amountOverpaid = remaining < 0n ? -remaining : 0n;
    this.put({ ...invoice, amountPaid, amountRemaining: remaining < 0n ? 0n : remaining, amountOverpaid, status });
  }

  private must(invoiceId: string): InvoiceFacts {
    const i = this.invoices.get(invoiceId);
    if (i === undefined) throw new Error(`no invoice ${invoiceId} in the fake`);
    return i;
  }

  private take(kind: string): Trouble | null {
    const at = this.trouble.findIndex((t) => t.kind === kind);
    return at < 0 ? null : (this.trouble.splice(at, 1)[0]?.what ?? null);
  }
}

// The Stripe of the day benchmark: the routes for a mark, a refund, a retry and verify. It counts effects, and sends an
// event for each change.
import { AMOUNT, dueMs, type Plan } from './plan.js';
import { eventIdOf, invoiceEvent, invoiceOf, type InvoiceEvent, type InvoiceStatus, invoiceText } from './bodies.js';
import { Listing, listOf } from './listing.js';

export type StripeSeen = {
  calls: number;
  /** Repeats of a change under the same key: no second effect. */
  repeats: number;
  /** Second effects of one change. Must be 0. */
  twice: number;
  reports: number;
  attached: number;
  uncollectible: number;
  refunds: number;
  creditNotes: number;
  unknown: number;
};

type PaymentRecord = { readonly payment: string; readonly reference: string; refunded: number; refundId: string };

export class StripeSide {
  readonly seen: StripeSeen = {
    calls: 0,
    repeats: 0,
    twice: 0,
    reports: 0,
    attached: 0,
    uncollectible: 0,
    refunds: 0,
    creditNotes: 0,
    unknown: 0,
  };
  /** The idempotency key of each effect. */
  private readonly keys = new Map<string, string>();
  private readonly records = new Map<number, PaymentRecord>();
  private readonly ended = new Map<number, InvoiceStatus>();
  private readonly lists = {
    invoices: new Listing(),
    events: new Listing(),
    records: new Listing(),
    notes: new Listing(),
  };
  private readonly notes = new Map<number, { readonly amount: number; readonly text: string }>();
  private readonly next = { created: 0, finalized: 0 };

  /** The start of the day in Unix milliseconds. Infinity: nobody has set the start yet. */
  beganMs = Infinity;

  /** @param tell reports a change to the parent process, for its event */
  constructor(
    private readonly plan: Plan,
    private readonly tell: (type: InvoiceEvent, index: number) => void,
  ) {}

  reply(method: string, target: string, key: string, body: string): string {
    this.seen.calls++;
    const [path = '', query = ''] = target.split('?');
    const [, , what = '', id = '', action] = path.split('/');
    const asked = new URLSearchParams(query);
    const form = new URLSearchParams(body);
    this.advance();
    switch (what) {
      case 'invoices':
        if (id === '') return this.lists.invoices.page(asked);
        return this.invoice(id, method === 'POST' ? (action ?? '') : '', key);
      case 'payment_records':
        if (id === 'report_payment') return this.report(form, key);
        if (action === 'report_refund') return this.refund(id, form, key);
        return id === '' ? this.lists.records.page(asked) : this.record(id);
      case 'credit_notes':
        if (method === 'POST') return this.note(form, key);
        return asked.has('invoice') ? this.notesOf(asked.get('invoice') ?? '') : this.lists.notes.page(asked);
      case 'events':
        return this.lists.events.page(asked);
      case 'subscriptions':
        return `{"id":"${id}","object":"subscription","status":"active","created":1793491200,"collection_method":"charge_automatically","default_payment_method":null,"default_source":null,"metadata":{},"customer":{"id":"${id.replace('sub_', 'cus_')}","object":"customer","invoice_settings":{"default_payment_method":null},"metadata":{}}}`;
      case 'customers':
        return id === '' || action !== undefined ? listOf([]) : `{"id":"${id}","object":"customer","name":"Ada"}`;
      case 'account':
        return '{"id":"acct_day","object":"account","country":"DE"}';
      default:
        this.seen.unknown++;
        return listOf([]);
    }
  }

  /** Adds to the lists every object that exists by now. */
  private advance(): void {
    const now = Date.now() - this.beganMs;
    const { next, plan } = this;
    for (;;) {
      const created = next.created < plan.renewals ? dueMs(plan, 'created', next.created) : Infinity;
      const finalized = next.finalized < plan.renewals ? dueMs(plan, 'finalized', next.finalized) : Infinity;
      if (Math.min(created, finalized) > now) return;
      const type = created <= finalized ? 'created' : 'finalized';
      const k = next[type]++;
      if (type === 'created')
        this.lists.invoices.add({ id: invoiceOf(k), atSec: this.createdSec(k), text: () => this.shown(k) });
      this.happened(type, k, this.sec(Math.min(created, finalized)));
    }
  }

  private happened(type: InvoiceEvent, index: number, atSec: number): void {
    const text = (): string => invoiceEvent(type, index, this.createdSec(index), atSec);
    this.lists.events.add({ id: eventIdOf(type, index), atSec, text });
  }

  private readonly sec = (dayMs: number): number => Math.floor((this.beganMs + dayMs) / 1_000);
  private readonly createdSec = (k: number): number => this.sec(dueMs(this.plan, 'created', k));
  private readonly nowSec = (): number => Math.floor(Date.now() / 1_000);

  private shown(index: number): string {
    const finalized = Date.now() - this.beganMs >= dueMs(this.plan, 'finalized', index);
    const status = this.ended.get(index) ?? (finalized ? 'open' : 'draft');
    const credited = this.notes.get(index)?.amount ?? 0;
    return invoiceText(`day${index}`, index + 1, { status, createdSec: this.createdSec(index), credited });
  }

  private invoice(id: string, action: string, key: string): string {
    const k = numberIn(id);
    if (!id.startsWith('in_day'))
      return invoiceText(id.slice(3), k, { status: 'paid', createdSec: 1_700_000_000, credited: 0 });
    if (action === 'attach_payment') this.end(k, 'paid', 'attached', key);
    if (action === 'mark_uncollectible') this.end(k, 'uncollectible', 'uncollectible', key);
    return this.shown(k);
  }

  private end(index: number, status: 'paid' | 'uncollectible', count: 'attached' | 'uncollectible', key: string): void {
    if (!this.effect(`${status} ${index}`, key)) return;
    this.seen[count]++;
    this.ended.set(index, status);
    const type = status === 'paid' ? 'paid' : 'marked_uncollectible';
    this.happened(type, index, this.nowSec());
    this.tell(type, index);
  }

  private report(form: URLSearchParams, key: string): string {
    const k = numberIn(form.get('metadata[invoice_id]') ?? '');
    if (this.effect(`report ${k}`, key)) {
      this.seen.reports++;
      const payment = form.get('metadata[payment_id]') ?? '';
      const reference = form.get('processor_details[custom][payment_reference]') ?? '';
      this.records.set(k, { payment, reference, refunded: 0, refundId: '' });
      const atSec = this.nowSec();
      this.lists.records.add({ id: recordOf(k), atSec, text: () => this.record(recordOf(k), atSec) });
    }
    return this.record(recordOf(k));
  }

  private refund(id: string, form: URLSearchParams, key: string): string {
    const k = numberIn(id);
    const record = this.records.get(k);
    if (record !== undefined && this.effect(`refund ${k}`, key)) {
      this.seen.refunds++;
      record.refunded += Number(form.get('amount[value]'));
      record.refundId = form.get('metadata[refund_id]') ?? '';
    }
    return this.record(id);
  }

  private note(form: URLSearchParams, key: string): string {
    const k = numberIn(form.get('invoice') ?? '');
    if (this.effect(`note ${k}`, key)) {
      this.seen.creditNotes++;
      const amount = Number(form.get('amount'));
      const group = form.get('refunds[0][payment_record_refund][refund_group]') ?? '';
      const refundId = form.get('metadata[refund_id]') ?? '';
      const atSec = this.nowSec();
      const text = `{"id":"cn_day${k}","object":"credit_note","amount":${amount},"post_payment_amount":${amount},"created":${atSec},"currency":"eur","invoice":"${invoiceOf(k)}","status":"issued","customer_balance_transaction":null,"metadata":{"crossbill":"1","refund_id":"${refundId}","invoice_id":"${invoiceOf(k)}"},"refunds":[{"amount_refunded":${amount},"payment_record_refund":{"payment_record":"${recordOf(k)}","refund_group":"${group}"},"refund":null,"type":"payment_record_refund"}]}`;
      this.notes.set(k, { amount, text });
      this.lists.notes.add({ id: `cn_day${k}`, atSec, text: () => text });
    }
    return this.notes.get(k)?.text ?? '{}';
  }

  private notesOf(invoiceId: string): string {
    const note = this.notes.get(numberIn(invoiceId));
    return listOf(note === undefined || !invoiceId.startsWith('in_day') ? [] : [note.text]);
  }

  /** The payment record of a renewal. For an old renewal of the filled database: a record without a refund. */
  private record(id: string, atSec = this.nowSec()): string {
    const k = numberIn(id);
    const r = id === recordOf(k) ? this.records.get(k) : undefined;
    const money = (value: number): string => `{"currency":"eur","value":${value}}`;
    return `{"id":"${id}","object":"payment_record","created":${atSec},"amount_requested":${money(AMOUNT)},"amount_guaranteed":${money(AMOUNT)},"amount_refunded":${money(r?.refunded ?? 0)},"processor_details":{"type":"custom","custom":{"payment_reference":"${r?.reference ?? ''}"}},"metadata":{"crossbill":"1","payment_id":"${r?.payment ?? ''}","invoice_id":"${id.slice(3)}","refund_id":"${r?.refundId ?? ''}"}}`;
  }

  /** Counts an effect. Returns true the first time. */
  private effect(what: string, key: string): boolean {
    const before = this.keys.get(what);
    if (before === undefined) this.keys.set(what, key);
    else if (before === key) this.seen.repeats++;
    else this.seen.twice++;
    return before === undefined;
  }
}

const recordOf = (index: number): string => `pr_in_day${index}`;

/** The digits at the end of an id. */
function numberIn(id: string): number {
  return Number(/(\d+)$/.exec(id)?.[1] ?? -1);
}

// The rows of a lane for rules: plain rows to change in place, copied when a rule first asks for them. The state behind them
// stays unchanged.
import { type InvoiceRow } from '../shared/domain/invoice-row.js';
import { type LaneState } from '../shared/domain/model.js';
import { type PaymentRow } from '../shared/domain/payment-row.js';
import { type RefundRow } from '../shared/domain/refund-row.js';
import { type Mutable } from '../shared/domain/row.js';

export type Lists = Pick<LaneState, 'payments' | 'attempts' | 'refunds' | 'objects' | 'calls' | 'reviews'>;
export type Row<K extends keyof Lists> = Lists[K][number];
type Rows<K extends keyof Lists> = Mutable<Row<K>>[];

export class LaneDraft {
  readonly lane: string;
  protected base: LaneState;
  private ownInvoice: Mutable<InvoiceRow> | null = null;
  private ownPayments: Rows<'payments'> | null = null;
  private ownAttempts: Rows<'attempts'> | null = null;
  private ownRefunds: Rows<'refunds'> | null = null;
  private ownObjects: Rows<'objects'> | null = null;
  private ownCalls: Rows<'calls'> | null = null;
  private ownReviews: Rows<'reviews'> | null = null;

  constructor(state: LaneState) {
    this.lane = state.lane;
    this.base = state;
  }

  get invoice(): Mutable<InvoiceRow> | null {
    if (this.ownInvoice === null && this.base.invoice !== null) this.ownInvoice = { ...this.base.invoice };
    return this.ownInvoice;
  }

  set invoice(row: InvoiceRow) {
    this.ownInvoice = { ...row };
  }

  get payments(): Rows<'payments'> {
    return (this.ownPayments ??= copyRows(this.base.payments));
  }

  get attempts(): Rows<'attempts'> {
    return (this.ownAttempts ??= copyRows(this.base.attempts));
  }

  get refunds(): Rows<'refunds'> {
    return (this.ownRefunds ??= copyRows(this.base.refunds));
  }

  get objects(): Rows<'objects'> {
    return (this.ownObjects ??= copyRows(this.base.objects));
  }

  /** Every stored call, with a reply or without. */
  get calls(): Rows<'calls'> {
    return (this.ownCalls ??= copyRows(this.base.calls));
  }

  get reviews(): Rows<'reviews'> {
    return (this.ownReviews ??= copyRows(this.base.reviews));
  }

  findPayment(id: string | null | undefined): Mutable<PaymentRow> | undefined {
    return this.payments.find((p) => p.id === id);
  }

  findRefunds(payment: Pick<PaymentRow, 'id'>): Mutable<RefundRow>[] {
    return this.refunds.filter((r) => r.paymentRowId === payment.id);
  }

  findObject(id: string | null | undefined): Mutable<Row<'objects'>> | undefined {
    return this.objects.find((o) => o.id === id);
  }

  /** Adds a row and returns its draft. */
  add<K extends keyof Lists>(list: K, row: Row<K>): Mutable<Row<K>> {
    const copy = { ...row };
    const rows: Rows<K> = this[list];
    rows.push(copy);
    return copy;
  }

  /**
   * Returns the lane as an immutable value. If nothing changed, this is the state behind the draft. An unchanged row
   * stays the same object.
   */
  toState(): LaneState {
    const s = this.base;
    const invoice = keepRow(s.invoice, this.ownInvoice);
    const payments = keepRows(s.payments, this.ownPayments);
    const attempts = keepRows(s.attempts, this.ownAttempts);
    const refunds = keepRows(s.refunds, this.ownRefunds);
    const objects = keepRows(s.objects, this.ownObjects);
    const calls = keepRows(s.calls, this.ownCalls);
    const reviews = keepRows(s.reviews, this.ownReviews);
    const isSame =
      invoice === s.invoice &&
      payments === s.payments &&
      attempts === s.attempts &&
      refunds === s.refunds &&
      objects === s.objects &&
      calls === s.calls &&
      reviews === s.reviews;
    if (!isSame) this.base = { ...s, invoice, payments, attempts, refunds, objects, calls, reviews };
    return this.base;
  }
}

function copyRows<T extends object>(rows: readonly T[]): Mutable<T>[] {
  return rows.map((row): Mutable<T> => ({ ...row }));
}

/** Returns `was` if the draft has the same values. If not, returns a copy: a rule may still change the draft. */
function keepRow<T extends object>(was: T | null, own: Mutable<T> | null): T | null {
  return own === null || (was !== null && isSameRow(was, own)) ? was : { ...own };
}

function keepRows<T extends object>(was: readonly T[], own: readonly Mutable<T>[] | null): readonly T[] {
  if (own === null) return was;
  let isKept = own.length === was.length;
  const rows = own.map((copy, n): T => {
    const row = was[n];
    if (row !== undefined && isSameRow(row, copy)) return row;
    isKept = false;
    return { ...copy };
  });
  return isKept ? was : rows;
}

/** Compares the members of `row` alone: a row and its draft have the same members. */
function isSameRow(row: object, copy: object): boolean {
  const [one, other] = [row as Readonly<Record<string, unknown>>, copy as Readonly<Record<string, unknown>>];
  for (const name in one) if (one[name] !== other[name] && !isSame(one[name], other[name])) return false;
  return true;
}

/** True if both are equal by value. Dates are equal by their time, and an absent member equals an undefined one. */
function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (one instanceof Date || other instanceof Date)
    return one instanceof Date && other instanceof Date && one.getTime() === other.getTime();
  return Array.isArray(one) === Array.isArray(other) && isSameRow(one, other) && isSameRow(other, one);
}

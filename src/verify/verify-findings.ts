// The differences that a verify run has found, in bounded memory however many there are.
import { type InvoiceFacts } from '../domain/ports/billing-platform.js';
import { type BillingEventFacts } from '../domain/ports/billing-reader.js';
import { type More } from './rules/run.js';
import { differenceId } from './rules/acknowledge.js';
import { type Difference } from '../domain/difference.js';

type Counts = { -readonly [K in keyof More]: number };
type Shown = Pick<InvoiceFacts, 'invoiceId' | 'status'>;

export class VerifyFindings {
  private readonly kept = new Map<string, Difference>();
  private readonly counts: Counts = {};
  /** Beyond those that are kept: found in our own books in this sitting, and shown by a peer in any. */
  private readonly beyondBooks: Counts = {};
  private readonly beyondShown: Counts;
  /** Events that never came. */
  readonly missing = new Map<string, BillingEventFacts>();
  /** What Stripe shows of invoices whose news may not have come. */
  readonly shown = new Map<string, Shown>();
  /** Invoices that differ from what a peer shows. */
  readonly again: Set<string>;

  /** `carried`, `more` and `again`: of the run that this one goes on with. */
  constructor(
    private readonly limits: { readonly kept: number; readonly bodies: number },
    carried: readonly Difference[],
    more: More,
    again: readonly string[],
  ) {
    this.beyondShown = { ...more };
    this.again = new Set(again);
    for (const d of carried) this.keep(d, this.beyondShown);
  }

  get size(): number {
    return this.kept.size;
  }

  get all(): readonly Difference[] {
    return [...this.kept.values()];
  }

  get more(): More {
    const sum: Counts = { ...this.beyondShown };
    for (const [bucket, n] of entries(this.beyondBooks)) sum[bucket] = (sum[bucket] ?? 0) + n;
    return sum;
  }

  /** Of `more`, what a peer showed: our own books are compared whole by whoever goes on. */
  get moreShown(): More {
    return { ...this.beyondShown };
  }

  /** What our own books tell by themselves. */
  addOfBooks(found: readonly Difference[]): void {
    for (const d of found) this.keep(d, this.beyondBooks);
  }

  /** What a peer shows otherwise. `facts`: the invoice as Stripe shows it. */
  addShown(found: readonly Difference[], facts: Shown | null = null): void {
    for (const d of found) {
      if (!this.keep(d, this.beyondShown) || d.invoiceId === null) continue;
      this.again.add(d.invoiceId);
      if (facts === null || d.kind !== 'event_never_delivered') continue;
      this.shown.set(facts.invoiceId, { invoiceId: facts.invoiceId, status: facts.status });
    }
  }

  /** An event of Stripe that never came. */
  addMissing(event: BillingEventFacts, d: Difference): void {
    if (this.keep(d, this.beyondShown) && this.missing.size < this.limits.bodies)
      this.missing.set(event.eventId, event);
  }

  /** Forgets what was found of this invoice, since it was looked at once more. Events that never came stand for themselves. */
  forget(invoiceId: string): void {
    this.again.delete(invoiceId);
    for (const [key, d] of this.kept) {
      if (d.invoiceId !== invoiceId || d.eventId !== null) continue;
      this.kept.delete(key);
      this.counts[bucketOf(d)] = (this.counts[bucketOf(d)] ?? 1) - 1;
    }
  }

  /** False: there are too many of its kind, and it is counted only. */
  private keep(d: Difference, beyond: Counts): boolean {
    const key = differenceId(d);
    if (this.kept.has(key)) return true; // listed twice, around a cut
    const bucket = bucketOf(d);
    const count = this.counts[bucket] ?? 0;
    const counter = count < this.limits.kept ? this.counts : beyond;
    counter[bucket] = (counter[bucket] ?? 0) + 1;
    if (counter === this.counts) this.kept.set(key, d);
    return counter === this.counts;
  }
}

const bucketOf = (d: Difference): keyof More => (d.reviewId === null ? d.kind : 'explained');

function entries(counts: Counts): [keyof More, number][] {
  return Object.entries(counts) as [keyof More, number][];
}
